"""Runs that show which tests a file of a published task has."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from harness.judging.languages.toolchain import JobLimit
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.intake import FileChange, Intake
from harness.plugins.published import seen_tests
from harness.plugins.published.arms import AgentsTree
from harness.plugins.published.parsed_log import ParsedTest
from harness.plugins.published.task import PublishedTask, read_published
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.tracks import TaskOptions
from harness.specs.variants import ArmKey
from tests.support.fake_engine import FakeEngine
from tests.support.scripted_language import ScriptedToolchain

TASK = Path(__file__).parents[1] / "fixtures" / "swe_atlas" / "aiosmtpd-debugging-handler"


async def test_their_time_is_none_of_what_arms_may_take_and_has_a_limit_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task, ran = read_published(TASK, TaskOptions()), list[str]()

    async def run_log(
        context: ArmContext, _task: PublishedTask, _tree: AgentsTree, _files: Mapping[str, bytes],
        chosen: Sequence[str], _key: ArmKey,
    ) -> list[ParsedTest]:  # fmt: skip
        ran.extend(chosen)
        context.limit.used += task.file.limits.arm_seconds
        return []

    monkeypatch.setattr(seen_tests, "run_log", run_log)
    arms = JobLimit(seconds=1, used=1)
    context = ArmContext(
        FakeEngine({}),
        Image("fake", "0", "/app", TASK),
        {},
        arms,
        slots=asyncio.Semaphore(1),
        toolchain=ScriptedToolchain(),
        options=SandboxOptions(),
    )
    changes = tuple(FileChange(f"test/{name}.uts", b"% old", b"% new") for name in "abc")
    await seen_tests.by_grammar_or_run(task, Intake(changes=changes), b"", context)
    assert ran == ["test/a.uts", "test/a.uts"]  # with the patch and without it; then their own time is over
    assert (arms.used, arms.is_stopped) == (1, False)
