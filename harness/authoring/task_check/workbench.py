"""What all checks of one command share: the engine, the slots for arms, the label of the containers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from harness.sandbox.choice import choose_engine
from harness.sandbox.protocol import Engine
from harness.specs.task import Task
from harness.verify.arms import Bench, arm_slots


class Workbench:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.slots = arm_slots(engine)
        self.labels = {"testwright.run": uuid4().hex}

    async def bench(self, task: Task) -> Bench:
        """Of this task; what its arms print is kept nowhere. Raises UserError, ImageUnavailable."""
        image = await self.engine.image(task)
        return Bench(self.engine, image, self.slots, self.labels, lambda _name, _result: None)


@asynccontextmanager
async def workbench(needed: bool) -> AsyncIterator[Workbench | None]:
    if not needed:
        yield None
        return
    shared = Workbench(choose_engine("docker"))
    try:
        yield shared
    finally:
        await asyncio.shield(shared.engine.reap(shared.labels))
        await shared.engine.close()
