"""The table of docs/reading.md: what opens where. Each line with the released package, where it is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.results.run_rows import load_rows
from tests.support.command import typed

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "docs" / "sample-run"
TRIALS = len(load_rows(SAMPLE).trials)


OUTPUTS = {
    "trials.json": "show RUN --json",
    "trials.csv": "show RUN --csv trials",
    "rows": "report RUN --export rows",
    "logs": "report RUN --export logs --format inspect",
    "runs": "report RUN --export runs --format atif",
}
"""By what a command writes, which the table says too."""


def write(name: str, place: Path) -> Path:
    """The file or folder that a command of the table writes of the sample run."""
    done = typed(*OUTPUTS[name].replace("RUN", str(SAMPLE)).split(), cwd=place)
    assert done.status == 0, done.complaint
    if "." in name:
        (place / name).write_text(done.output)
    return place / name


def test_the_table_has_the_commands_that_are_tried_here():
    table = (ROOT / "docs" / "reading.md").read_text().split("## What opens where")[1].split("\n## ")[0]
    assert all(f"`testwright {command}" in table for command in OUTPUTS.values())


def test_pandas_opens_json_csv_and_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    frames = [
        pandas.read_json(write("trials.json", tmp_path)),
        pandas.read_csv(write("trials.csv", tmp_path)),
        pandas.read_parquet(write("rows", tmp_path) / "trials.parquet"),
    ]
    assert [len(frame) for frame in frames] == [TRIALS] * 3
    assert len({tuple(frame.groupby("verdict").size().items()) for frame in frames}) == 1
    assert all(frame["agent_seconds"].dtype == float for frame in frames)


def test_duckdb_opens_csv_and_parquet(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    asked = "select verdict, count(*), sum(attempt) from '{}' where verdict is not null group by all order by all"
    rows = write("rows", tmp_path)
    of_parquet = duckdb.sql(asked.format(rows / "trials.parquet")).fetchall()
    of_csv = duckdb.sql(asked.format(write("trials.csv", tmp_path))).fetchall()
    assert of_parquet == of_csv
    assert sum(count for _, count, _ in of_parquet) == TRIALS
    [(killed,)] = duckdb.sql(f"select count(*) from '{rows}/tests.parquet' where killed").fetchall()
    assert killed > 0


def test_a_spreadsheet_opens_csv_and_shows_what_was_written(tmp_path):
    """Gnumeric's converter reads the file as its window does."""
    program = shutil.which("ssconvert")
    if program is None:
        pytest.skip("apt-get install gnumeric")
    given, again = write("trials.csv", tmp_path), tmp_path / "again.csv"
    subprocess.run([program, given, again], check=True, capture_output=True)
    text, again = given.read_text(), again.read_text()
    first = [line.split(",")[0].strip('"') for line in text.splitlines()]
    assert [line.split(",")[0].strip('"') for line in again.splitlines()] == first
    assert len(first) == TRIALS + 1


def test_inspect_opens_logs_and_makes_frames_of_them(tmp_path):
    pytest.importorskip("inspect_ai", reason="pip install inspect-ai")
    pytest.importorskip("pandas")
    from inspect_ai.analysis import evals_df, samples_df

    logs = str(write("logs", tmp_path))
    samples = samples_df(logs, quiet=True)
    assert len(samples) == TRIALS
    assert set(evals_df(logs, quiet=True)["task_name"]) == set(samples["id"])


def test_harbor_opens_trajectories(tmp_path):
    pytest.importorskip("harbor", reason="pip install harbor, which needs Python 3.12")
    from harbor.models.trajectories import Trajectory

    files = [*write("runs", tmp_path).rglob("*.json")]
    read = [Trajectory.model_validate_json(path.read_text()) for path in files]
    assert read
    assert {each.schema_version for each in read} == {"ATIF-v1.7"}
    assert all(each.steps and each.final_metrics for each in read)
