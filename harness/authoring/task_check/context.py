"""The parts of a task's check: which there are for a track, what they share, and how they run one after another.

Where it is asked for, parts that passed are remembered by all that they depend on. A check record may hold them: each
ran on these very files, on this image, by this code, and its remarks say so.
"""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

from pydantic import ValidationError

from harness.authoring.code_digest import code_digest
from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_check.parts_read import Elsewhere, files_below, parts_read, whole_digest
from harness.authoring.task_check.subject import Subject, as_problem
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.judge.judge import Judge
from harness.runs.engine_session import EngineSession, engine_session
from harness.sandbox.host import cache_directory
from harness.sandbox.images.recipe import digest_of
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.problem import Problem, Severity
from harness.specs.registry import Registry
from harness.specs.task import Task
from harness.specs.task_facts import CheckedStep, Level, StepId, StepOutcome
from harness.specs.tracks import BEHAVIOUR

REMEMBERED = "remembered"
_RECORDED = "as recorded"


@dataclass(frozen=True)
class Memory:
    """Remembered parts of one task's check.

    A part's key has all that it depends on: files, image, isolation, this code. `recorded` are parts of the task's
    record that still hold; they come first.
    """

    directory: Path
    keys: Mapping[StepId, str]
    recorded: Mapping[StepId, CheckedStep] = field(default_factory=dict)

    def recall(self, step: StepId) -> CheckedStep | None:
        """Return a part as it passed earlier, with its warnings and seconds.

        Returns:
            None where it never passed on the very same files.
        """
        if recorded := self.recorded.get(step):
            told = dict.fromkeys((*recorded.remarks, f"{step.label}: {_RECORDED}"))
            return recorded.model_copy(update={"remarks": tuple(told)})
        path = self._path(step)
        if path is None or not path.is_file():
            return None
        try:
            found = CheckedStep.model_validate_json(path.read_bytes())
        except ValidationError:
            return None
        return found.model_copy(update={"remarks": (*found.remarks, f"{step.label}: {REMEMBERED}")})

    def keep(self, step: CheckedStep) -> None:
        """Remember a part that passed; forget one that didn't."""
        path = self._path(step.id)
        if path is None:
            return
        if step.outcome is not StepOutcome.PASSED:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(step.model_dump_json())
        new.replace(path)

    def _path(self, step: StepId) -> Path | None:
        return self.directory / f"{step.value}-{self.keys[step][:32]}.json" if step in self.keys else None


def memory_of(subject: Subject, isolation: str) -> Memory:
    """Return what is remembered of a task's check on an engine of this isolation.

    Raises:
        OSError: A file of the task can't be read.
    """
    task, around = subject.task, subject.containers
    where = json.dumps([task.address, task.repo.model_dump_json(), around.image.digest, isolation, code_digest()])
    shared = {"where": where.encode(), **_told(subject.catalog)}
    keys = {step: digest_of({**shared, "read": read.encode()}) for step, read in digests_of_parts(subject).items()}
    return Memory(cache_directory() / "checked-parts" / task.id, keys)


def digests_of_parts(subject: Subject) -> dict[StepId, str]:
    """Return a digest over all that each part reads of a task, as its track's checks say.

    A part of another track's check may read what its digest covers beside its own files, as hidden tests of a bug.

    Raises:
        OSError: A file of the task can't be read.
    """
    checks = checks_of(subject.task)
    suites = checks.suites(subject.task) if checks.suites else corpus_of(subject.catalog) / subject.task.id
    return parts_read(subject, suites, checks.elsewhere)


def _told(catalog: Catalog) -> dict[str, bytes]:
    """Return the scaffolds: what agents are told is in them."""
    folders = dict.fromkeys((default_directory(), catalog.directory))
    return {
        f"scaffolds/{number}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for number, folder in enumerate(folders)
        for path in files_below(folder / "scaffolds")
    }


Part = Callable[[Subject], Awaitable[list[Problem]]]
Watch = Callable[[str, str], None]
"""An observer that is told a task and the step of its check that begins; an empty step at its end."""


async def run_parts(
    subject: Subject, parts: Mapping[StepId, Part], watch: Watch, memory: Memory | None = None
) -> list[CheckedStep]:
    """Run each part by itself: what one finds doesn't keep the others from looking.

    Args:
        subject: The task, and where its containers run.
        parts: By their steps, in order.
        watch: Told of each step as it begins.
        memory: Parts that it has aren't run.

    Returns:
        One step for each part. An error that a part raises is a problem of its step.
    """
    steps = []
    for step, part in parts.items():
        if known := memory and memory.recall(step):
            steps.append(known)
            continue
        watch(subject.task.id, step.label)
        began = time.monotonic()
        try:
            problems: list[Problem] = await part(subject)
        except (UserError, OSError, InfrastructureError) as error:
            problems = [as_problem(subject.catalog, error, subject.at(subject.description))]
        steps.append(_step(step, time.monotonic() - began, problems, subject))
        if memory:
            memory.keep(steps[-1])
    return steps


def _step(step: StepId, seconds: float, problems: Iterable[Problem], subject: Subject) -> CheckedStep:
    found = tuple(dict.fromkeys(problems))
    failed = any(problem.severity is Severity.ERROR for problem in found)
    remarks = tuple(subject.remarks)
    subject.remarks.clear()
    outcome = StepOutcome.FAILED if failed else StepOutcome.PASSED
    return CheckedStep(id=step, outcome=outcome, seconds=round(seconds, 1), problems=found, remarks=remarks)


def failed_step(step: StepId, *problems: Problem) -> CheckedStep:
    """Return a step of the check that failed with these problems."""
    return CheckedStep(id=step, outcome=StepOutcome.FAILED, problems=problems)


@dataclass(frozen=True)
class CheckOrder:
    """The options of a check beside its level.

    `judge` is asked of each criterion whether statement and check say the same. `only` are the parts that run; none
    named, all do. With `remember` parts that passed on the very same files aren't run again. `mutants` is how many
    mutants of the removed code are tried, for those that no must-have asks for. `recorded` is the folder with records
    whose judgings are taken where nothing that they read has changed since.
    """

    judge: Judge | None = None
    only: frozenset[StepId] = frozenset()
    remember: bool = False
    mutants: int = 0
    recorded: Path | None = None

    def chosen(self, parts: Mapping[StepId, Part]) -> Mapping[StepId, Part]:
        """Return the parts that are asked for; all of them where none is named."""
        return {step: part for step, part in parts.items() if step in self.only} if self.only else parts


@dataclass(frozen=True)
class CheckContext:
    """The means of a check, shared by all of its tasks. `session` is None where no check starts a container."""

    catalog: Catalog
    watch: Watch
    order: CheckOrder
    session: EngineSession | None = None


async def arm_context_of(session: EngineSession, task: Task) -> ArmContext:
    """Return the context in which a task's arms run, with all of its twins.

    Raises:
        UserError: What the image is made from is wrong.
        ImageUnavailable: The image can't be pulled or built.
    """
    return replace(session.arm_context(task, await session.engine.image(task)), every_twin=True)


@asynccontextmanager
async def check_context(
    catalog: Catalog, watch: Watch, with_engine: bool, order: CheckOrder
) -> AsyncIterator[CheckContext]:
    """Provide what all checks of a command share.

    Args:
        catalog: Where the tasks lie.
        watch: Told of each step as it begins.
        with_engine: Whether parts that start containers run; they do on Docker.
        order: What is to be done beside the level.

    Raises:
        UserError: An engine is needed and isn't there.
    """
    if not with_engine:
        yield CheckContext(catalog, watch, order)
        return
    async with engine_session("docker", uuid4().hex) as session:
        yield CheckContext(catalog, watch, order, session)


@dataclass(frozen=True)
class TrackChecks:
    """The parts of a check of a track's tasks.

    `static` ones look at files, `dynamic` ones start containers, by level.

    `suites` says where a task's honest suites lie; a track that has it may keep check records, and remember parts, of
    tasks outside a catalog. `elsewhere` gives a digest of what a part reads beside the task's own files.

    With `needs_tree` the static ones get the task's tree. With `goes_on` the dynamic ones run even where the files
    are wrong: those of other people's tasks can't be mended here.
    """

    static: Mapping[StepId, Part] = field(default_factory=dict)
    dynamic: Mapping[Level, Mapping[StepId, Part]] = field(default_factory=lambda: {level: {} for level in Level})
    suites: Callable[[Task], Path] | None = None
    needs_tree: bool = False
    goes_on: bool = False
    elsewhere: Elsewhere = whole_digest


CHECKS: Registry[TrackChecks] = Registry(
    "check of a track",
    "testwright.checks",
    {
        BEHAVIOUR: "harness.authoring.task_check.own_parts:CHECKS",
    },
)


def checks_of(task: Task) -> TrackChecks:
    """Return the checks of the task's track. Where nobody registered any, only loading the task is checked."""
    return CHECKS.get(task.track) if task.track in CHECKS.names else TrackChecks()
