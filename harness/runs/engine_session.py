"""An engine while one command works with it: labels for its containers, slots for arms, nothing left at the end.

The gateway of a run: one server, at a socket that sandboxes can be shown.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from harness.judging.verify.arms import ArmContext, ArmObserver, arm_slots
from harness.runs.owners import owner, reap_the_dead
from harness.sandbox.options import ContainerRole
from harness.sandbox.protocol import Engine, Image
from harness.sandbox.registry import split
from harness.specs.task import Task
from harness.tracks.registry import choose_engine, track_of


@dataclass(frozen=True)
class EngineSession:
    """An engine, and what all containers of one command share."""

    engine: Engine
    labels: Mapping[str, str]
    arm_slots: asyncio.Semaphore

    def arm_context(
        self,
        task: Task,
        image: Image,
        observer: ArmObserver | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> ArmContext:
        """Return the context in which a task's arms run.

        Args:
            task: Its track says what makes its variants, and what arms may use.
            image: Where they start from.
            observer: Told of each arm.
            labels: Added to the session's.
        """
        track = track_of(task)
        return ArmContext(
            self.engine,
            image,
            {**self.labels, **(labels or {})},
            slots=self.arm_slots,
            toolchain=track.toolchain(task),
            options=track.options(task, ContainerRole.ARM),
            observer=observer or ArmObserver(),
        )


@asynccontextmanager
async def engine_session(sandbox: str, run_id: str, alone: bool = False) -> AsyncIterator[EngineSession]:
    """Provide an engine whose containers carry the labels `testwright.run=RUN_ID` and this process's.

    What dead processes of this machine have left on the engine is removed at the beginning. However this ends (also
    by cancellation), no container of this session is left.

    Args:
        sandbox: The engine's name, with its argument.
        run_id: The run's.
        alone: Nobody else works for this run: all that carries its id is removed at the beginning, too.

    Raises:
        UserError: The engine isn't there.
    """
    engine, (_, argument) = choose_engine(sandbox), split(sandbox)
    run = {"testwright.run": run_id}
    try:
        await reap_the_dead(engine, argument)
        if alone:
            await engine.reap(run)
        with owner(engine, argument) as mine:
            try:
                yield EngineSession(engine, {**run, **mine}, arm_slots(engine))
            finally:
                await asyncio.shield(engine.reap(mine))
    finally:
        await engine.close()
