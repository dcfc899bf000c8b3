"""The check context: what all checks of one command share."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

from harness.authoring.task_check.parts import Part, Watch
from harness.runs.engine_session import EngineSession, engine_session
from harness.sandbox.protocol import JobResult
from harness.specs.catalog import Catalog
from harness.specs.task import Task
from harness.specs.task_facts import StepId
from harness.specs.variants import ArmKey
from harness.verify.arms import ArmContext
from harness.verify.judge.judge import Judge


@dataclass(frozen=True)
class CheckContext:
    """`session` is None where no check starts a container, `judge` where nobody is to review the rubrics.

    With `remember` parts that passed on the very same files aren't run again. With `mutants` so many mutants are
    tried, for those that no must-have asks for.
    """

    catalog: Catalog
    watch: Watch
    session: EngineSession | None = None
    judge: Judge | None = None
    only: frozenset[StepId] = frozenset()
    remember: bool = False
    mutants: int = 0

    def chosen(self, parts: Mapping[StepId, Part]) -> Mapping[StepId, Part]:
        """Those of the parts that are asked for; all of them where none is named."""
        return {step: part for step, part in parts.items() if step in self.only} if self.only else parts


async def arm_context_of(session: EngineSession, task: Task) -> ArmContext:
    """Of this task, with all of its twins; what arms print is kept nowhere. Raises UserError, ImageUnavailable."""
    return replace(session.arm_context(task, await session.engine.image(task), _nowhere), every_twin=True)


def _nowhere(_key: ArmKey, _result: JobResult) -> None:
    """Keeps nothing."""


@asynccontextmanager
async def check_context(
    catalog: Catalog,
    watch: Watch,
    with_engine: bool,
    judge: Judge | None = None,
    only: frozenset[StepId] = frozenset(),
    remember: bool = False,
    mutants: int = 0,
) -> AsyncIterator[CheckContext]:
    """Raises UserError where an engine is needed and isn't there."""
    if not with_engine:
        yield CheckContext(catalog, watch, judge=judge, only=only)
        return
    async with engine_session("docker", uuid4().hex) as session:
        yield CheckContext(catalog, watch, session, judge, only, remember, mutants)
