"""The way from a run to an arm's container is short: the functions on it are those that ARCHITECTURE.md lists."""

import asyncio
import contextvars
import traceback
from pathlib import Path

import pytest

import harness
from tests.support.fake_engine import FakeEngine
from tests.support.scenes import scenes

CORE = str(Path(harness.__file__).parent)
LONGEST = 18
ABOVE: contextvars.ContextVar[tuple[str, ...]] = contextvars.ContextVar("ABOVE", default=())
"""The functions of this package that lie above the present task, outermost first."""


def way_here() -> tuple[str, ...]:
    """Return the package's functions that are at work, from the command to the caller, through all tasks."""
    own = [frame for frame in traceback.extract_stack() if frame.filename.startswith(CORE)]
    names = [f"{frame.filename.removeprefix(CORE)[1:]}:{frame.name}" for frame in own]
    above = ABOVE.get()
    return (*above, *(name for name in names if name not in above))


def remembering(loop, coroutine, context=None):
    """Make a task that knows what it was made from."""
    inner = context or contextvars.copy_context()
    inner.run(ABOVE.set, way_here())
    return asyncio.Task(coroutine, loop=loop, context=inner)


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Return the ways to each container that is started for a job."""
    found: list[tuple[str, ...]] = []
    make_loop, run_job = asyncio.new_event_loop, FakeEngine.run_job

    def remembering_loop() -> asyncio.AbstractEventLoop:
        loop = make_loop()
        loop.set_task_factory(remembering)
        return loop

    async def noted(self, *arguments):
        found.append(way_here())
        return await run_job(self, *arguments)

    monkeypatch.setattr(asyncio.events, "new_event_loop", remembering_loop)
    monkeypatch.setattr(FakeEngine, "run_job", noted)
    return found


def test_a_trial_goes_through_few_functions(tmp_path, monkeypatch, ways):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    with scenes(tmp_path, {}) as scene:
        scene().run()
    longest = max((way for way in ways if any("arms.py" in name for name in way)), key=len)
    assert longest[0] == "runs/command.py:execute"
    assert len(longest) <= LONGEST, "\n".join(longest)
