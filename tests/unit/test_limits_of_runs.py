"""Limits of a run that are no agent's fault: free disk, disk for images, time of a trial; and the order of trials."""

import asyncio
import fcntl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.agents.protocol import AgentContext, Finish
from harness.agents.trajectory import Ending, Trajectory
from harness.runs.plan import Trial
from harness.runs.timings import keep_timing, longest_first
from harness.runs.trial_store import UsageFile
from harness.sandbox.images.disk_budget import ImagesInUse, OurImage, is_in_use, last_used, next_to_go, occupied
from harness.sandbox.images.engine_images import ListedImage
from harness.sandbox.protocol import Sandbox
from harness.specs.reasons import ReasonCode
from harness.specs.usage import NO_USAGE
from tests.support.runs_here import RunsHere, codes, runs_here
from tests.support.small_task import scaffold, small_task


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunsHere]:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    with runs_here(tmp_path) as runs:
        yield runs


async def submits(context: AgentContext, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
    return Finish(Ending.SUBMITTED)


async def hangs(context: AgentContext, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


def test_no_trial_begins_on_a_disk_with_less_room_than_the_user_wants(here):
    here.agent("quick", submits)
    run = here.run("quick", min_free_disk_gb=1e9, tries=2)
    [reason] = run.outcomes[0].reasons
    assert reason.code is ReasonCode.HARNESS_ERROR
    assert "GB are free, and a trial needs 1e+09 GB (--min-free-disk)" in reason.words
    assert not here.store("quick").directory.exists()
    assert codes(here.run("quick")) == [[ReasonCode.EMPTY_SUBMISSION]]


def test_a_trial_that_takes_longer_than_the_user_wants_is_not_scored_and_not_tried_again(here):
    here.agent("slow", hangs)
    run = here.run("slow", trial_seconds=0.5)
    [reason] = run.outcomes[0].reasons
    assert (reason.code, reason.words) == (
        ReasonCode.BUDGET_EXHAUSTED,
        "the run's --trial-seconds: 0.5 seconds are over",
    )
    assert len(here.store("slow").attempts.read()) == 1


BASE = ListedImage(("debian:bookworm-slim",), 100, ("b",), 0)
DEPENDENCIES = OurImage("testwright/x-dependencies:1", 300, ("b", "d"), used=1)
FIRST = OurImage("testwright/first-task:1", 310, ("b", "d", "1"), used=5)
SECOND = OurImage("testwright/second-task:1", 320, ("b", "d", "2"), used=3)
TOOLBOX = OurImage("testwright/agent-toolbox:1", 400, ("t",), used=0)
ALL = [DEPENDENCIES, FIRST, SECOND, TOOLBOX]


def test_layers_that_images_share_are_counted_once_and_those_of_others_not_at_all():
    assert occupied(ALL, [BASE]) == 200 + 10 + 20 + 400
    assert occupied([FIRST, SECOND], [BASE]) == 210 + 220  # nobody knows that they share one


def test_the_image_that_was_used_longest_ago_goes_first_and_never_one_that_others_need():
    def free(tag: str) -> bool:
        return tag != SECOND.tag

    assert next_to_go(ALL, lambda _: True) == SECOND
    assert next_to_go(ALL, free) == FIRST
    assert next_to_go([DEPENDENCIES, SECOND], free) is None
    assert next_to_go([DEPENDENCIES], lambda _: True) == DEPENDENCIES
    assert next_to_go([TOOLBOX], lambda _: True) is None


def test_an_image_is_in_use_until_everybody_has_let_go_of_it(tmp_path, monkeypatch):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))
    tag, one, other = "testwright/x-task:1", ImagesInUse(), ImagesInUse()
    assert not is_in_use(tag)
    assert last_used(tag) is None
    one.hold(tag)
    one.hold(tag)
    other.hold(tag)
    one.release(tag)
    other.close()
    assert is_in_use(tag)
    one.release(tag)
    assert not is_in_use(tag)
    assert last_used(tag)
    assert not is_in_use("testwright/y-task:1")
    assert last_used("testwright/y-task:1") is None, "to look is no use"


def test_an_image_is_held_also_where_somebody_is_just_looking(tmp_path, monkeypatch):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))
    tag, before, held = "testwright/x-task:1", ImagesInUse(), ImagesInUse()
    before.hold(tag)
    before.close()
    [mark] = (tmp_path / "in-use").iterdir()
    with ThreadPoolExecutor(1) as beside:
        with mark.open("rb") as looking:
            fcntl.flock(looking, fcntl.LOCK_EX)
            holding = beside.submit(held.hold, tag)
        holding.result(60)
    assert is_in_use(tag)
    held.close()


def test_the_longest_trials_begin_first(tmp_path, monkeypatch):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    task = small_task(tmp_path)
    nop, oracle, mini = (Trial(task, scaffold(name), "", 1) for name in ("nop", "oracle", "mini"))
    assert longest_first([nop, oracle, mini]) == [nop, oracle, mini]
    keep_timing(nop, UsageFile(agent=NO_USAGE, agent_seconds=1))
    keep_timing(oracle, UsageFile(agent=NO_USAGE, agent_seconds=4, verify_seconds=20))
    assert longest_first([nop, mini, oracle]) == [oracle, mini, nop]
