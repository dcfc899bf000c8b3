"""Whose containers are whose: those of the dead are removed, everybody else's are left alone."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.runs.engine_session import engine_session
from harness.runs.owners import OWNER, owner, reap_the_dead
from harness.sandbox.registry import SANDBOXES
from tests.support.fake_engine import FakeEngine

LIVES = """
import sys
from harness.runs.owners import owner
from tests.support.fake_engine import FakeEngine

with owner(FakeEngine(lambda run, test: "passes")) as label:
    print(*label.values(), flush=True)
    sys.stdin.read()
"""


class Reaped(FakeEngine):
    """Notes whose containers are to be removed."""

    def __init__(self) -> None:
        super().__init__(lambda _run, _test: "passes")
        self.asked: list[Mapping[str, str]] = []

    async def reap(self, labels: Mapping[str, str]) -> int:
        self.asked.append(labels)
        return 1


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def another(cache: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process at work, which has told its label's value."""
    yield from at_work(LIVES)


@pytest.fixture
def another_on_a_server(cache: Path) -> Iterator[subprocess.Popen[str]]:
    """The same with containers on a server that the sandbox's name names."""
    yield from at_work(LIVES.replace('"passes"))', '"passes"), "http://one.invalid")'))


def at_work(program: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ),
    )
    yield process
    process.kill()
    process.communicate()


def name_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def test_the_containers_of_a_process_at_work_are_left_alone(another):
    assert name_of(another)
    engine = Reaped()
    assert await reap_the_dead(engine) == 0
    assert engine.asked == []


async def test_the_containers_of_a_process_that_was_killed_are_removed_once(another):
    name = name_of(another)
    another.send_signal(signal.SIGKILL)
    another.wait()
    engine = Reaped()
    assert await reap_the_dead(engine) == 1
    assert engine.asked == [{OWNER: name}]
    assert await reap_the_dead(engine) == 0


async def test_a_process_that_ends_in_good_order_leaves_nothing_to_look_for(another):
    assert name_of(another)
    another.communicate("")
    engine = Reaped()
    assert await reap_the_dead(engine) == 0
    assert engine.asked == []


async def test_the_containers_of_another_engine_are_not_looked_for_here(another, monkeypatch):
    assert name_of(another)
    another.send_signal(signal.SIGKILL)
    another.wait()
    elsewhere, here = Reaped(), Reaped()
    with monkeypatch.context() as patch:
        patch.setenv("DOCKER_HOST", "tcp://elsewhere.invalid")
        assert await reap_the_dead(elsewhere) == 0
    assert await reap_the_dead(here) == 1


async def test_the_containers_on_another_server_are_not_looked_for_here(another_on_a_server):
    name = name_of(another_on_a_server)
    another_on_a_server.send_signal(signal.SIGKILL)
    another_on_a_server.wait()
    engine = Reaped()
    assert await reap_the_dead(engine, "http://two.invalid") == 0
    assert await reap_the_dead(engine) == 0
    assert await reap_the_dead(engine, "http://one.invalid") == 1
    assert engine.asked == [{OWNER: name}]


async def test_starts_that_look_for_the_dead_at_the_same_time_do_not_trip_each_other(another):
    """What one has removed, the other has found before."""
    name = name_of(another)
    another.send_signal(signal.SIGKILL)
    another.wait()

    class Slow(Reaped):
        async def reap(self, labels: Mapping[str, str]) -> int:
            await super().reap(labels)
            for path in (Path(os.environ["TESTWRIGHT_CACHE"]) / "owners").iterdir():
                path.unlink()  # as other starts do to other owners' files meanwhile
            return 1

    folder = Path(os.environ["TESTWRIGHT_CACHE"]) / "owners"
    [path] = folder.iterdir()
    for other in ("0" * 32, "f" * 32):
        (folder / f"{other}{path.suffix}").touch()
    engine = Slow()
    assert await reap_the_dead(engine) == 3
    assert {OWNER: name} in engine.asked
    assert list(folder.iterdir()) == []


async def test_a_cache_that_cannot_be_written_ends_no_work(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "file"))
    with owner(Reaped()) as label:
        assert set(label) == {OWNER}
    assert "nobody will know its containers" in caplog.text


@pytest.mark.parametrize("alone", [True, False])
async def test_a_session_removes_its_own_containers_and_those_of_its_run_only_when_it_is_alone(cache, alone):
    engine = Reaped()
    SANDBOXES.register("noted", lambda _argument, _images: engine)
    try:
        async with engine_session("noted", "the-run", alone) as session:
            assert session.labels["testwright.run"] == "the-run"
            mine = {OWNER: session.labels[OWNER]}
    finally:
        SANDBOXES.unregister("noted")
    assert engine.asked == [*([{"testwright.run": "the-run"}] if alone else []), mine]
    assert engine.closed
