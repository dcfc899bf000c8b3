"""A run of many finished trials: shown from its index, which is never trusted over the files."""

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.results.large_runs import LARGE, TrackTotal, run_total
from harness.results.report.run_report import show_run
from harness.results.scores import Who
from harness.runs.plan import RunFile
from harness.runs.trial_index import count_trials
from harness.specs.reasons import Verdict
from harness.specs.tracks import BEHAVIOUR
from harness.specs.yaml_files import load_yaml, yaml_text
from tests.support.many_trials import MODELS, many_trials

COUNT, ATTEMPTS = 2_100, 21
FIRST = Who("mini", MODELS[0])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many_trials(tmp_path_factory.mktemp("large"), COUNT, ATTEMPTS)


@pytest.fixture
def indexed(run: Path) -> Path:
    run_total(run)
    assert (run / ".index").exists()
    return run


def counts(total: dict[str, TrackTotal]) -> dict[Verdict | None, int]:
    return dict(total[BEHAVIOUR].systems[FIRST].verdicts)


def trial(run: Path, number: int = 1) -> Path:
    return (
        run
        / "trials"
        / "task-0000"
        / "mini"
        / next((run / "trials/task-0000/mini").glob("*model-0*")).name
        / str(number)
    )


def replaced(path: Path, text: str) -> None:
    """Another file at this place: the other trials' is the same one by a hard link."""
    path.unlink()
    path.write_text(text)


def test_totals_are_the_same_with_and_without_an_index(run):
    (run / ".index").unlink(missing_ok=True)
    first = run_total(run)
    again = run_total(run)
    assert count_trials(run) == COUNT
    assert counts(first) == counts(again) == {Verdict.RESOLVED: 140, Verdict.FAILED: 70}
    assert first[BEHAVIOUR].lost == again[BEHAVIOUR].lost == {"rubric:survived-removal": 700}
    assert again[BEHAVIOUR].systems[FIRST].agent_usd == pytest.approx(0.25 * 210)
    assert again[BEHAVIOUR].systems[FIRST].rate == first[BEHAVIOUR].systems[FIRST].rate


@pytest.fixture
def of_two_tracks(indexed: Path) -> Iterator[Path]:
    """The run, with one of its tasks as one of another track."""
    path = indexed / "run.yaml"
    text = path.read_text()
    path.write_text(
        yaml_text(
            load_yaml(path, RunFile).model_copy(update={"tracks": {"task-0003": "bug"}}).model_dump(mode="json")
        )
    )
    yield indexed
    path.write_text(text)


def test_tracks_are_told_apart_and_no_rate_is_over_tasks_of_two(of_two_tracks, capsys):
    total = run_total(of_two_tracks)
    assert list(total) == [BEHAVIOUR, "bug"]
    assert total["bug"].systems[FIRST].verdicts == {Verdict.RESOLVED: 14, Verdict.FAILED: 7}
    assert total[BEHAVIOUR].systems[FIRST].verdicts == {Verdict.RESOLVED: 126, Verdict.FAILED: 63}
    assert [total[track].systems[FIRST].rate.trials for track in total] == [189, 21]
    assert total["bug"].lost == {"rubric:survived-removal": 70}
    assert show_run(of_two_tracks, None, as_json=False) == 0
    [nothing, behaviour, bug] = capsys.readouterr().out.split("\nTrack ")
    assert not nothing.strip()
    assert [part.partition(":")[0] for part in (behaviour, bug)] == [BEHAVIOUR, "bug"]
    assert "lost by: survived-removal 630" in behaviour
    assert "lost by: survived-removal 70" in bug
    assert bug.count("resolve rate") == behaviour.count("resolve rate") == len(MODELS)
    assert "2,100 trials; --verdict" in bug


CHANGES: dict[str, tuple[Callable[[Path], None], dict[Verdict | None, int]]] = {
    "a verdict is another one": (
        lambda place: replaced(
            place / "verdict.json",
            (place / "verdict.json").read_text().replace('"verdict": "resolved"', '"verdict": "invalid"'),
        ),
        {Verdict.RESOLVED: 139, Verdict.FAILED: 70, Verdict.INVALID: 1},
    ),
    "a verdict is torn": (
        lambda place: replaced(place / "verdict.json", "{"),
        {Verdict.RESOLVED: 139, Verdict.FAILED: 70, None: 1},
    ),
    "a verdict is gone": (
        lambda place: (place / "verdict.json").unlink(),
        {Verdict.RESOLVED: 139, Verdict.FAILED: 70, None: 1},
    ),
    "a trial is set aside": (
        lambda place: place.rename(place.with_name("1.other-1")) and None,
        {Verdict.RESOLVED: 139, Verdict.FAILED: 70, None: 1},
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_in_the_files_counts_and_not_what_the_index_knew(indexed, change):
    alter, expected = CHANGES[change]
    place = trial(indexed)
    kept = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    try:
        alter(place)
        found = counts(run_total(indexed))
        assert found == expected
    finally:
        aside = place.with_name("1.other-1")
        if aside.exists():
            aside.rename(place)
        for name, data in kept.items():
            (place / name).unlink(missing_ok=True)
            (place / name).write_bytes(data)
    assert counts(run_total(indexed)) == {Verdict.RESOLVED: 140, Verdict.FAILED: 70}


@pytest.mark.parametrize("damage", ["torn", "empty", "other bytes", "another version"])
def test_a_damaged_index_is_made_anew_and_the_log_says_so(indexed, caplog, damage):
    path = indexed / ".index"
    good = path.read_bytes()
    bad = {
        "torn": good[: len(good) // 2],
        "empty": b"",
        "other bytes": good.replace(b'"resolved"', b'"invalid"', 1),
        "another version": b"testwright index 0" + good[18:],
    }
    path.write_bytes(bad[damage])
    with caplog.at_level(logging.INFO):
        assert counts(run_total(indexed)) == {Verdict.RESOLVED: 140, Verdict.FAILED: 70}
    assert "it is made anew" in caplog.text
    assert path.read_bytes() == good


@pytest.mark.long
def test_a_large_run_is_shown_by_its_totals_and_a_filter_lists_trials(indexed, capsys):
    assert COUNT > LARGE
    assert show_run(indexed, None, as_json=False) == 0
    told = capsys.readouterr().out
    assert "2,100 trials; --verdict" in told
    assert "lost by: survived-removal 700" in told
    assert "mini openai/model-0: resolve rate 67%" in told
    assert len(told.splitlines()) < 40
    show_run(indexed, f"task-0000/mini/{trial(run=indexed).parent.name}", as_json=False)
    assert "21 trials: 14 resolved, 7 failed" in capsys.readouterr().out


def test_a_run_that_cannot_be_written_is_shown_without_an_index(run):
    (run / ".index").unlink(missing_ok=True)
    if os.geteuid() == 0:
        (run / ".index").mkdir()  # root may write anywhere, but not a file over a directory
    else:
        run.chmod(0o555)
    try:
        assert counts(run_total(run)) == {Verdict.RESOLVED: 140, Verdict.FAILED: 70}
    finally:
        run.chmod(0o755)
        if (run / ".index").is_dir():
            (run / ".index").rmdir()


def test_with_an_index_a_trial_costs_at_most_60_microseconds_of_cpu(indexed):
    """100,000 in 2 s are 20; a busy machine gets three times that."""
    began = time.process_time()
    run_total(indexed)
    assert (time.process_time() - began) / COUNT < 60e-6


@pytest.mark.long
def test_json_is_streamed_and_takes_no_more_memory_for_more_trials(run):
    def peak(directory: Path, *more: str) -> int:
        """KB of `show --json`; its output is one list."""
        code = (
            "import sys, resource; from pathlib import Path; from harness.results.report.run_report import show_run;"
            "show_run(Path(sys.argv[1]), sys.argv[2] or None, True);"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        words = [sys.executable, "-c", code, str(directory), *more]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        sizes.append(len(json.loads(done.stdout)))
        return int(done.stderr)

    sizes: list[int] = []
    few = peak(run, "task-0000/mini/" + trial(run).parent.name + "/1")
    many = peak(run, "task-0000")
    assert sizes == [1, 10 * ATTEMPTS]
    assert many - few < 4_000, "KB: the rows of 210 trials are more than that"
