"""`make bench`: one budget at a time, and a status that says whether it holds."""

import asyncio
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks.__main__ import Row
from benchmarks.judging import Cost, Slowness
from harness.sandbox import machine_speed


def bench(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
    return benchmarks.main()


def test_one_row_is_measured_and_is_within_its_budget(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(monkeypatch, "--only", "trajectory") == 0
    [row] = [line for line in capsys.readouterr().out.splitlines() if "trajectory" in line]
    assert "0.2 s" in row
    assert " ok " in row


@pytest.mark.parametrize(
    ("measured", "status", "said"),
    [((1.0, 2.0), 0, ["ok", "ok"]), ((2.1, 2.0), 1, ["OVER", "ok"]), ((0.0, 9.0), 1, ["ok", "OVER"])],
)
def test_a_row_over_its_budget_says_so_and_is_the_status(
    measured: tuple[float, float], status: int, said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [Row(f"figure {number}", each, 2.0, "s") for number, each in enumerate(measured)]
    assert benchmarks.report(rows) == status
    lines = [line for line in capsys.readouterr().out.splitlines() if "figure" in line]
    assert [next(word for word in line.split() if word in ("ok", "OVER")) for line in lines] == said


def test_a_budget_in_seconds_is_held_against_what_the_reference_machine_would_have_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def cost(*_: Any) -> Cost:
        return Cost(arms=20, containers=500.0, engine=80.0, runner=20.0, slowness=2.0)

    async def image(_: Any) -> None:
        return None

    monkeypatch.setattr(benchmarks, "judging_cost", cost)
    engine = cast("Any", SimpleNamespace(image=image))
    measured = benchmarks.references_of(["e2e:ihatemoney-settling"], 400)
    [row] = asyncio.run(cast("Any", measured(engine, cast("Any", None), cast("Any", None))))
    assert (row.measured, row.budget) == (300.0, 400)
    assert "2.00 times slower" in row.scale


def test_the_machines_slowness_is_sampled_as_long_as_something_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    known = iter([2.0, 6.0, *[3.0] * 1000])
    monkeypatch.setattr(machine_speed, "slowness_now", lambda: next(known))

    async def sampled() -> Slowness:
        slowness = Slowness()
        async with slowness.sampled(pause=0):
            for _ in range(9):
                await asyncio.sleep(0)
        taken = len(slowness.samples)
        await asyncio.sleep(0)
        assert len(slowness.samples) == taken
        return slowness

    slowness = asyncio.run(sampled())
    slowness.samples = slowness.samples[:2]
    assert slowness.mean == pytest.approx(3.0)  # half of the time at a half, half at a sixth of the speed
    slowness.samples = [0.5]
    assert slowness.mean == 1


def test_an_unknown_row_is_refused_with_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        bench(monkeypatch, "--only", "speed")
    assert ended.value.code == 2
    names = (
        "commands",
        "output",
        "verification",
        "judging",
        "control",
        "stages",
        "end-to-end",
        "applications",
        "trajectory",
        "help",
        "store",
        "concurrency",
    )
    assert ", ".join(map(repr, names)) in capsys.readouterr().err
