"""The check context: what all checks of one command share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from harness.sandbox.choice import choose_engine
from harness.sandbox.protocol import Engine
from harness.specs.task import Task
from harness.verify.arms import Bench, arm_slots


class CheckContext:
    """The engine, the slots for arms, the label of the containers."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.slots = arm_slots(engine)
        self.labels = {"testwright.run": uuid4().hex}

    async def bench(self, task: Task) -> Bench:
        """Of this task; what its arms print is kept nowhere. Raises UserError, ImageUnavailable."""
        image = await self.engine.image(task)
        return Bench(self.engine, image, self.slots, self.labels, lambda _name, _result: None)


@asynccontextmanager
async def check_context(needed: bool) -> AsyncIterator[CheckContext | None]:
    """One with the Docker engine, whose containers are gone at its end; None where it isn't `needed`.

    Raises UserError where no engine answers.
    """
    if not needed:
        yield None
        return
    shared = CheckContext(choose_engine("docker"))
    try:
        yield shared
    finally:
        await asyncio.shield(shared.engine.reap(shared.labels))
        await shared.engine.close()
