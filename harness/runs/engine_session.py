"""An engine while one command works with it: labels for its containers, slots for arms, nothing left at the end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from harness.sandbox.protocol import Engine, Image, JobResult
from harness.specs.task import Task
from harness.specs.variants import ArmKey
from harness.tracks.engines import choose_engine
from harness.tracks.registry import track_of
from harness.verify.arms import Bench, arm_slots


@dataclass(frozen=True)
class EngineSession:
    """What all containers of one command share."""

    engine: Engine
    labels: Mapping[str, str]
    arm_slots: asyncio.Semaphore

    def bench(
        self,
        task: Task,
        image: Image,
        keep: Callable[[ArmKey, JobResult], None],
        labels: Mapping[str, str] | None = None,
    ) -> Bench:
        """Where a task's arms run on its image; `labels` are added to the session's."""
        toolchain = track_of(task).toolchain(task)
        return Bench(self.engine, image, self.arm_slots, {**self.labels, **(labels or {})}, keep, toolchain)


@asynccontextmanager
async def engine_session(sandbox: str, run_id: str) -> AsyncIterator[EngineSession]:
    """An engine whose containers carry the label `testwright.run=RUN_ID`.

    What an earlier start has left under this label is removed at the beginning. However this ends (also by
    cancellation), no container with the label is left. Raises UserError where the engine isn't there.
    """
    engine = choose_engine(sandbox)
    labels = {"testwright.run": run_id}
    try:
        await engine.reap(labels)
        yield EngineSession(engine, labels, arm_slots(engine))
    finally:
        await asyncio.shield(engine.reap(labels))
        await engine.close()
