"""`--control` as it is typed reaches the judging: which kills run again, and what the verdict says of it."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.judging.verify.control import COPIES, KILLS_DRAWN
from harness.judging.verify.verdict import VerdictRecord
from harness.runs.records import read_record
from harness.runs.store import find_trials
from harness.specs.grading import ControlRound
from harness.specs.reasons import Verdict
from tests.support.command import Done, typed
from tests.support.scenes import Scene, as_good_tests_do, scenes
from tests.support.sound_catalog import TASK

TYPED = [
    pytest.param((), ControlRound.DRAWN, id="without"),
    *(pytest.param(("--control", str(each)), each, id=str(each)) for each in ControlRound),
]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    with scenes(tmp_path, {}) as made:
        yield made()


def judged_by(scene: Scene, *words: str | Path) -> Done:
    done = typed("--catalog", scene.catalog.directory, *words, "--sandbox", scene.name, cwd=scene.output.parent)
    assert done.status == 0, done.complaint
    return done


def check(scene: Scene, record: VerdictRecord, control: ControlRound) -> None:
    """Check what the verdict says, and how many mutants have run again: each twice."""
    assert (record.verdict, record.control) == (Verdict.RESOLVED, control)
    runs = Counter(run.variant for run in scene.engine.finished if as_good_tests_do(run, run.tests[0]) == "fails")
    again = [variant for variant, times in runs.items() if times > 1]
    assert set(runs.values()) <= {1, 1 + COPIES}
    assert len(runs) > KILLS_DRAWN
    assert len(again) == {ControlRound.NONE: 0, ControlRound.DRAWN: KILLS_DRAWN, ControlRound.ALL: len(runs)}[control]


@pytest.mark.parametrize(("words", "control"), TYPED)
def test_verify_repeats_the_kills_that_it_is_asked_to(
    scene: Scene, words: tuple[str, ...], control: ControlRound
) -> None:
    reference = scene.catalog.directory / "tasks" / TASK / "reference"
    files = ("--patch", reference / "tests.patch", "--manifest", reference / "manifest.yaml")
    done = judged_by(scene, "verify", TASK, *files, "--json", *words)
    check(scene, VerdictRecord.model_validate(json.loads(done.output)), control)


@pytest.mark.parametrize(("words", "control"), TYPED)
def test_a_run_repeats_the_kills_that_it_is_asked_to(
    scene: Scene, words: tuple[str, ...], control: ControlRound
) -> None:
    judged_by(scene, "run", "-t", TASK, "-s", "oracle", "-o", scene.output, *words)
    [store] = find_trials(scene.output)
    check(scene, read_record(store.directory / "verdict.json", VerdictRecord), control)
