"""When a job has used up its time."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Container
from types import SimpleNamespace

import pytest

from harness.judging.verify.arms import check_not_kept_waiting
from harness.sandbox import deadline
from harness.sandbox.deadline import BUSY_RATE, OwnTime, TimeLimit, Use, ends_before, expire, seconds_per_test
from harness.sandbox.machine_speed import slowness
from harness.sandbox.protocol import JobResult
from harness.specs.errors import EndedFromOutside, SandboxLost, Starved

LIMIT = TimeLimit(least=0.1, cpu=0.2, waiting=0.3)


def uses(*uses: Use) -> tuple[list[float], Callable[[], Awaitable[Use]]]:
    """What a job answers when it is asked, the last again and again; when it was asked."""
    asked: list[float] = []

    async def ask() -> Use:
        asked.append(time.monotonic())
        return uses[min(len(asked), len(uses)) - 1]

    return asked, ask


async def seconds_until_expiry(limit: TimeLimit, ask: Callable[[], Awaitable[Use]]) -> float:
    began = time.monotonic()
    await asyncio.wait_for(expire(limit, ask), 60)
    return time.monotonic() - began


async def test_what_waits_without_end_is_ended() -> None:
    asked, ask = uses(Use(0.0, wants_core=False))
    assert await seconds_until_expiry(LIMIT, ask) >= 0.3
    assert len(asked) > 1


async def test_what_computes_without_end_is_ended_by_its_cpu_time() -> None:
    asked, ask = uses(Use(0.1, wants_core=True), Use(0.19, wants_core=True), Use(0.21, wants_core=True))
    await seconds_until_expiry(LIMIT, ask)
    assert len(asked) == 3


async def test_what_gets_no_core_from_a_busy_machine_is_never_out_of_time_but_lost_after_very_long() -> None:
    _, ask = uses(Use(0.0, wants_core=True))
    began = time.monotonic()
    with pytest.raises(Starved, match="only 0 s of CPU"):
        await seconds_until_expiry(LIMIT, ask)
    assert time.monotonic() - began >= 0.1 + 0.2 / BUSY_RATE


async def test_what_waits_for_a_disk_is_hardly_charged_for_that_and_yet_is_out_of_time_in_the_end() -> None:
    """A process can bring itself into this state (`vfork`), so that it mustn't lead to another try."""
    _, ask = uses(Use.of(0.0, {"S", "D"}))
    assert await seconds_until_expiry(LIMIT, ask) >= 0.1 + 0.2 / BUSY_RATE


def test_states_of_processes_tell_what_could_run_from_what_waits() -> None:
    assert Use.of(1.0, {"S", "D", "R"}) == Use(1.0, wants_core=True)
    assert Use.of(1.0, {"S", "D"}) == Use(1.0, wants_core=True, only_disk=True)
    assert Use.of(1.0, {"S", "T"}) == Use(1.0, wants_core=False)


async def test_nobody_is_asked_before_anything_can_be_used_up() -> None:
    asked, ask = uses(Use(1.0, wants_core=True))
    began = time.monotonic()
    await expire(LIMIT, ask)
    assert asked[0] - began >= 0.1


class Failing:
    """Can't tell what a job uses, at the times that are named."""

    def __init__(self, error: SandboxLost, times: Container[int]) -> None:
        self._error = error
        self._times = times
        self.asked = 0

    async def __call__(self) -> Use:
        self.asked += 1
        if self.asked in self._times:
            raise self._error
        return Use(0.0, wants_core=True)


async def test_an_engine_that_answers_no_more_is_lost_before_the_job_has_used_up_its_time() -> None:
    failing = Failing(SandboxLost("no answer"), range(1, 1000))
    with pytest.raises(SandboxLost, match="no answer"):
        await expire(TimeLimit(least=0.1, cpu=1000, waiting=1000), failing)
    assert failing.asked == 3


async def test_single_failures_to_say_what_a_job_uses_end_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        """Let the test's own time pass: on a busy machine what fails counts as waiting for long."""
        nonlocal now
        now += seconds

    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(deadline, "asyncio", SimpleNamespace(sleep=sleep))
    failing = Failing(SandboxLost("no answer"), {1, 2, 4, 5})
    with pytest.raises(Starved):
        await expire(LIMIT, failing)
    assert failing.asked > 5


async def test_an_end_from_outside_ends_the_wait_at_once() -> None:
    with pytest.raises(EndedFromOutside):
        await expire(LIMIT, Failing(EndedFromOutside("frozen"), {1}))


async def test_who_ends_first_is_told_and_the_other_is_cancelled() -> None:
    endless = asyncio.Event()

    async def wait() -> None:
        await endless.wait()

    async def end() -> None:
        return None

    async def fail() -> None:
        raise SandboxLost("gone")

    assert await ends_before(end(), wait())
    assert not await ends_before(wait(), end())
    with pytest.raises(SandboxLost):
        await ends_before(fail(), wait())


def test_limits_grow_with_the_cores_of_a_job_and_are_never_tighter_than_wall_seconds_were() -> None:
    limit = TimeLimit.of(120, 2)
    assert limit.least == pytest.approx(120 * slowness())
    assert limit.cpu == pytest.approx(2 * limit.least)
    assert limit.waiting > limit.least
    assert seconds_per_test(60) >= 60


def own_seconds(*looks: tuple[float, float, bool], end: float) -> float:
    """Of a job that is looked at: when, the CPU time up to then, and whether it wants a core; ended at `end`."""
    now = [0.0]
    own = OwnTime(clock=lambda: now[0])
    for at, cpu, wants_core in looks:
        now[0] = at
        own.look(Use(cpu, wants_core))
    now[0] = end
    return own.seconds()


def test_of_a_job_its_own_time_counts_however_long_a_busy_machine_lets_it_wait() -> None:
    idle = own_seconds((2, 1.9, True), (4, 3.8, True), end=5)
    busy = own_seconds(*((2.0 * n, 0.1 * n, True) for n in range(1, 41)), end=81)
    assert idle == pytest.approx(4.8)
    assert busy == pytest.approx(5.0)


def test_a_job_that_sleeps_takes_the_time_that_passes_and_one_that_uses_two_cores_what_both_do() -> None:
    assert own_seconds((2, 0.1, False), (4, 0.1, False), end=6) == pytest.approx(6)
    assert own_seconds((2, 4.0, True), (4, 8.0, False), end=4) == pytest.approx(8)


def test_a_job_that_ends_before_it_is_looked_at_took_what_passed_and_no_more_than_two_looks() -> None:
    assert own_seconds(end=1.5) == 1.5
    assert own_seconds(end=100) == 4.0


def ended(seconds: float, own_seconds: float) -> JobResult:
    return JobResult(1, False, False, b"", {}, True, seconds, own_seconds)


def test_a_tests_own_clock_says_nothing_where_others_kept_it_waiting() -> None:
    with pytest.raises(Starved, match="took 20 s of their own in 125 s"):
        check_not_kept_waiting(ended(125, 20), limit=120)


@pytest.mark.parametrize("own_seconds", [125, 70], ids=["it sleeps or computes", "now and then in the queue"])
def test_a_test_that_hangs_by_itself_is_no_fault_of_the_machine(own_seconds: float) -> None:
    check_not_kept_waiting(ended(125, own_seconds), limit=120)


def test_a_suites_own_short_time_out_is_its_own_affair_on_every_machine() -> None:
    check_not_kept_waiting(ended(30, 2), limit=120)


async def test_a_long_job_is_looked_at_before_it_can_have_used_anything_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline.random, "uniform", lambda _least, most: most)
    own, (asked, ask) = OwnTime(), uses(Use(0.5, wants_core=True))
    running = asyncio.create_task(expire(TimeLimit(least=3600, cpu=1, waiting=1), ask, own))
    await asyncio.sleep(2.5)
    running.cancel()
    assert len(asked) == 1
    assert own.seconds() < 2.0
