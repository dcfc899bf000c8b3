"""How fast and how busy this machine is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sandbox import machine_speed as machine
from tests.support.load import busy_cores


def measured(cache: Path, monkeypatch: pytest.MonkeyPatch) -> float:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(cache))
    machine.slowness.cache_clear()
    try:
        return machine.slowness()
    finally:
        machine.slowness.cache_clear()


@pytest.mark.parametrize(("times", "slowness"), [(3.0, 3.0), (0.5, 1.0), (100.0, machine.MAX_SLOWNESS)])
def test_a_speed_that_was_measured_before_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: float, slowness: float
) -> None:
    first = measured(tmp_path, monkeypatch)
    [kept] = (tmp_path / "machine").iterdir()
    assert first >= 1
    kept.write_text(json.dumps({"seconds": times * machine.REFERENCE_SECONDS}))
    assert measured(tmp_path, monkeypatch) == pytest.approx(slowness)


@pytest.mark.parametrize("damage", ["", "[]", '{"seconds": "x"}', '{"seconds": -1.0}', '{"seconds": NaN}'])
def test_a_damaged_record_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    measured(tmp_path, monkeypatch)
    [kept] = (tmp_path / "machine").iterdir()
    kept.write_text(damage)
    assert 1 <= measured(tmp_path, monkeypatch) <= machine.MAX_SLOWNESS
    assert json.loads(kept.read_text())["seconds"] > 0


def test_a_cache_that_nothing_can_be_written_to_costs_only_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    assert measured(tmp_path / "file", monkeypatch) >= 1


@pytest.mark.dear("keeps every core busy while it measures")
def test_other_processes_hardly_change_the_measured_speed() -> None:
    alone = machine.measure()
    with busy_cores(2):
        assert machine.measure() < 4 * alone


def test_the_first_round_after_a_pause_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code and data are in no cache."""
    done: list[str] = []

    def clock() -> float:
        done.append("looked at the clock")
        return 1.0

    monkeypatch.setattr(machine, "work", lambda: done.append("worked"))
    monkeypatch.setattr(machine.time, "thread_time", clock)
    machine.slowness_now()
    assert done == ["worked", "looked at the clock", "worked", "looked at the clock"]


def test_the_measurement_is_short() -> None:
    script = "from harness.sandbox.machine_speed import measure; print(measure())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, env={**os.environ})
    assert float(done.stdout) < 1
