"""The check of a task on a stage, without containers: what it keeps of its judgings, and goes on from."""

import asyncio
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.authoring.task_check.subject import Subject
from harness.judging.submission.extraction import Submission
from harness.judging.verify.control import COPIES
from harness.judging.verify.verification import Judging
from harness.plugins.browser.check import REFERENCE_TIMES, reference_problems, suite_problems
from harness.plugins.browser.grading import KILLS, grade_staged
from harness.plugins.browser.reasons import APP_DEAD
from harness.plugins.browser.task import SUITES, TECHNIQUE, load_task, suites_of, task_directories
from harness.runs.evidence_file import ArmFile, Conditions, EvidenceFileCache
from harness.sandbox.protocol import JobResult
from harness.specs.catalog import Catalog
from harness.specs.test_results import TestId
from harness.specs.variants import Arm, ArmKey
from tests.support.fake_engine import Run
from tests.support.stages import ScriptedStages, Staged, app_tree, context

[OWN] = task_directories("client-hours", TECHNIQUE)
HONEST = ("honest-rows-read", "honest-steps")
ARMS = 14 + COPIES * (KILLS + 1)
"""Of a suite that is resolved: its own, and those of the control round."""
OF_SAME = 5


class Died(Exception):
    """The check came to its end early."""


@dataclass
class Dying(Staged):
    """An engine that dies with its container of number `last`, once an arm is kept; 0: it doesn't."""

    last: int = 0
    has_kept: asyncio.Event = field(default_factory=asyncio.Event)

    async def run_job(self, *arguments: object) -> JobResult:
        if self.containers + 1 == self.last:
            self.last = 0
            self.has_kept.clear()
            await self.has_kept.wait()
            raise Died
        return await super().run_job(*arguments)


def kept_arms(subject: Subject) -> int:
    """Arms of judgings that were cut short, a line each below one that says of what they are, and of whole ones."""
    assert subject.kept
    begun = (len(path.read_text().splitlines()) - 1 for path in subject.kept.rglob("arms.jsonl"))
    whole = (json.loads(path.read_text())["evidence"]["arms"] for path in subject.kept.rglob("evidence.json"))
    return sum(begun) + sum(map(len, whole))


def notices(run: Run, _: TestId) -> str:
    return "fails" if run.variant.startswith("probe-") else "passes"


@pytest.fixture
async def subject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Subject:
    """A task with two honest suites, of which a check keeps what their arms show."""
    place = tmp_path
    shutil.copytree(OWN, place / OWN.name)
    task = load_task(OWN, TECHNIQUE)
    for name in HONEST:
        shutil.copytree(suites_of(task) / name, place / OWN.name / SUITES / name)
    engine = Dying(notices, tree=(await app_tree(place)).directory)
    add = ArmFile.add

    def told(file: ArmFile, key: ArmKey, arm: Arm, seconds: float) -> None:
        add(file, key, arm, seconds)
        engine.has_kept.set()

    monkeypatch.setattr(ArmFile, "add", told)
    around = context(engine, ScriptedStages())
    return Subject(Catalog(), load_task(place / OWN.name, TECHNIQUE), arm_context=around, kept=place / "kept")


def engine_of(subject: Subject) -> Dying:
    engine = subject.containers.engine
    assert isinstance(engine, Dying)
    return engine


async def test_a_check_that_is_cut_short_runs_no_arm_again_that_was_kept(subject: Subject) -> None:
    engine = engine_of(subject)
    engine.last = ARMS + 1
    with pytest.raises(Died):
        await suite_problems(subject)
    left = len(HONEST) * ARMS - kept_arms(subject)
    assert 0 < left < len(HONEST) * ARMS
    engine.finished.clear()
    assert await suite_problems(subject) == []
    assert len(engine.finished) == left
    assert subject.remarks == [f"{name}: resolved, technique shown" for name in HONEST]


async def test_the_reference_runs_as_often_as_it_must_and_no_more(subject: Subject) -> None:
    engine, before = engine_of(subject), ARMS + 2 * OF_SAME
    engine.last = before + 1
    with pytest.raises(Died):
        await reference_problems(subject)
    left = ARMS + (REFERENCE_TIMES - 1) * OF_SAME - kept_arms(subject)
    assert 0 < left < 2 * OF_SAME
    engine.finished.clear()
    assert await reference_problems(subject) == []
    assert len(engine.finished) == left
    engine.finished.clear()
    assert await reference_problems(subject) == []
    assert engine.finished == []


async def test_what_came_out_wrong_is_run_again_and_what_is_right_is_not(subject: Subject) -> None:
    path = subject.task.directory / SUITES / HONEST[0] / "expect.yaml"
    sound = path.read_text()
    path.write_text(sound.replace("resolved", "failed"))
    [problem] = await suite_problems(subject)
    assert "it is resolved, technique shown" in problem.message
    path.write_text(sound)
    assert await suite_problems(subject) == []
    assert len(engine_of(subject).finished) == (len(HONEST) + 1) * ARMS


async def test_arms_that_are_read_again_still_say_that_the_application_ended(
    subject: Subject, tmp_path: Path
) -> None:
    engine_of(subject).dead = frozenset({"same-slow"})
    suite = subject.task.directory / SUITES / HONEST[0]
    submission = Submission((suite / "patch.diff").read_bytes(), (suite / "manifest.yaml").read_bytes())
    conditions = Conditions.of(subject.task, subject.containers, submission)
    judging = Judging(subject.task, subject.containers, cache=EvidenceFileCache(tmp_path / "e.json", conditions))
    first, second = [(await grade_staged(judging, submission)).record for _ in range(2)]
    assert first.reasons[0].code is APP_DEAD
    assert second == first
