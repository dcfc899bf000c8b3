"""Each file that a trial leaves is torn in mid-line, gone, or empty; what is still true then.

The files are found by listing what a real run left: two trials, one with arms, with an agent that was paid.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from harness.results.report.run_report import show_run
from harness.results.run_rows import load_rows
from harness.runs.store import spent_in
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from tests.support.command import typed
from tests.support.runs_here import TASK, RunsHere, runs_here
from tests.support.scenes import Scene, scenes

FAULT = pytest.mark.fault(
    "a file of a trial is torn, gone or empty", "the verdict is reached again; no agent is paid twice"
)


def torn(path: Path) -> None:
    """Cut in the middle of its last line; a file of one line in its middle."""
    data = path.read_bytes()
    last = data.rstrip(b"\n").rfind(b"\n") + 1
    path.write_bytes(data[: last + max(1, (len(data) - last) // 2)])


def empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES: dict[str, Callable[[Path], None]] = {"torn": torn, "gone": Path.unlink, "empty": empty}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scene, Path]]:
    """A finished run of the reference, and a copy of it as it was left."""
    place = tmp_path_factory.mktemp("run")
    before = os.environ.get("TESTWRIGHT_CACHE")
    os.environ["TESTWRIGHT_CACHE"] = str(place / "cache")
    try:
        with scenes(place, {}) as make:
            scene = make()
            [outcome] = scene.run().outcomes
            assert outcome.verdict is Verdict.RESOLVED
            yield scene, Path(shutil.copytree(scene.output, place / "kept"))
    finally:
        os.environ.pop("TESTWRIGHT_CACHE")
        if before is not None:
            os.environ["TESTWRIGHT_CACHE"] = before


def files_of(run: Path) -> list[Path]:
    """Without the arms' output but for one arm: the others have the same files."""
    arms = sorted(run.glob("trials/*/*/*/*/arms/*"))[1:]
    files = (path for path in run.rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(path.relative_to(run) for path in files if not any(path.is_relative_to(arm) for arm in arms))


@FAULT
@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_file_is_damaged_a_run_is_shown_and_its_next_start_comes_to_the_same_verdict(
    finished, damage, capsys
):
    scene, kept = finished
    files = files_of(kept)
    names = {path.name for path in files}
    assert {
        "run.yaml",
        "trial.json",
        "agent.json",
        "patch.diff",
        "manifest.yaml",
        "verdict.json",
        "usage.json",
    } <= names
    assert {"trajectory.jsonl", "evidence.json", "events.jsonl", "log.txt", "1.attempts.jsonl"} <= names
    for file in files:
        shutil.rmtree(scene.output)
        shutil.copytree(kept, scene.output)
        DAMAGES[damage](scene.output / file)
        if file.name == "run.yaml":
            is_refused(scene)
            continue
        [row] = load_rows(scene.output).trials
        assert row.verdict is Verdict.RESOLVED or row.problem, file
        assert show_run(scene.output, None, as_json=True) == 0, file
        json.loads(capsys.readouterr().out)
        assert_next_start(scene, file)


def is_refused(scene: Scene) -> None:
    """Who wrote the trials isn't known any more, so nothing is done to them."""
    with pytest.raises(UserError, match=r"run\.yaml"):
        scene.run()


def assert_next_start(scene: Scene, file: Path) -> None:
    """The oracle works in a sandbox of its own: as many as there are, as often it worked."""
    scene.sandboxes.clear()
    [outcome] = scene.run().outcomes
    if file.parent.name == "submission" and outcome.verdict is Verdict.UNSCORED:
        assert "its agent is paid again" in outcome.reasons[0].words
        return
    if file.parent.name != "submission":  # what it handed in is another thing then, and judged as such
        assert outcome.verdict is Verdict.RESOLVED, f"{file}: {outcome.reasons}"
    assert not scene.sandboxes, f"{file}: the agent was asked again"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[RunsHere]:
    with runs_here(tmp_path) as runs:
        yield runs


@pytest.mark.fault("run.yaml is damaged", "its line is named and nothing is written")
def test_a_torn_run_file_is_named_with_its_line(here):
    here.run()
    path = here.output / "run.yaml"
    path.write_bytes(path.read_bytes()[:-30] + b"\n  - {")
    before = {item: item.stat().st_mtime_ns for item in here.output.rglob("*")}
    with pytest.raises(UserError, match=r"run\.yaml:\d+: "):
        here.run(extend=False)
    assert {item: item.stat().st_mtime_ns for item in here.output.rglob("*")} == before
    assert load_rows(here.output).trials[0].task == TASK
    assert spent_in(here.output).cost_usd is not None


@FAULT
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it shows a run as somebody else")
def test_a_trial_that_somebody_else_may_not_read_is_one_row_and_the_others_are_shown() -> None:
    with TemporaryDirectory() as folder:  # pytest's own are for its user alone
        place, run = Path(folder), Path(folder) / "run"
        place.chmod(0o755)
        shutil.copytree(Path(__file__).parents[2] / "docs" / "sample-run", run)
        trials = sorted(trial for trial in run.glob("trials/*/*/*/*") if trial.name.isdigit())
        for words in ("show", "report"):
            typed(words, "run", cwd=place)  # what is imported late must not be looked for as somebody else
        trials[0].chmod(0)
        os.seteuid(65534)
        try:
            shown, reported = typed("show", "run", cwd=place), typed("report", "run", cwd=place)
        finally:
            os.seteuid(0)
    assert shown.status == reported.status == 0, shown.complaint + reported.complaint
    assert shown.output.count("trial.json can't be read") == 1
    assert f"{len(trials)} trials: " in shown.output
