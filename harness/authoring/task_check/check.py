"""Checking tasks, from their files to a full judging of everything that belongs to them."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from harness.authoring.published_check import parts as published_parts
from harness.authoring.task_check import (
    controls,
    honest_corpus,
    prompt_lint,
    reference_files,
    rubric_lint,
    task_files,
)
from harness.authoring.task_check.agent_view import view_problems
from harness.authoring.task_check.context import CheckContext, bench_of, check_context
from harness.authoring.task_check.parts import Part, Watch, failed_step, run_parts
from harness.authoring.task_check.subject import Subject, as_problem, place
from harness.authoring.task_check.trees import kept_tree
from harness.authoring.task_check.upstream_tests import upstream_problems
from harness.authoring.task_image_check import task_image_check
from harness.languages.registry import language_of
from harness.runs.engine_session import EngineSession
from harness.runs.faults import message_of
from harness.runs.interruption import run_to_end
from harness.runs.side_by_side import side_by_side
from harness.specs.catalog import Catalog
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.problem import Problem
from harness.specs.reasons import ReasonCode
from harness.specs.rubric import Importance
from harness.specs.swe_atlas.selection import SCHEME, is_published
from harness.specs.swe_atlas.task import PublishedTask
from harness.specs.task import Task
from harness.specs.task_facts import CheckedStep, Counts, Level, StepId, StepOutcome, TaskCheck
from harness.submission.manifest import ManifestError, parse_manifest

Finished = Callable[[TaskCheck], None]
_log = logging.getLogger(__name__)


async def _reference_once(subject: Subject) -> list[Problem]:
    return await controls.reference_problems(subject, times=1)


async def _image(subject: Subject) -> list[Problem]:
    return await task_image_check(subject.task)


STATIC: Mapping[StepId, Part] = {
    StepId.FILES: task_files.file_problems,
    StepId.RUBRIC: rubric_lint.rubric_problems,
    StepId.PROMPT: prompt_lint.prompt_problems,
    StepId.PATCHES: task_files.patch_problems,
    StepId.REFERENCE_FILES: reference_files.reference_problems,
    StepId.HONEST_SUITES_PRESENT: honest_corpus.corpus_problems,
}
_GATE: Mapping[StepId, Part] = {
    StepId.IMAGE: _image,
    StepId.AGENT_VIEW: view_problems,
    StepId.REFERENCE: controls.reference_problems,
    StepId.NOP: controls.nop_problems,
    StepId.WORTHLESS_SUBMISSIONS: controls.worthless_problems,
    StepId.HONEST_SUITES: honest_corpus.honest_problems,
}
DYNAMIC: Mapping[Level, Mapping[StepId, Part]] = {
    Level.QUICK: {},
    Level.BRIEF: {
        StepId.AGENT_VIEW: view_problems,
        StepId.REFERENCE_ONCE: _reference_once,
        StepId.NOP: controls.nop_problems,
    },
    Level.GATE: _GATE,
    Level.FULL: {**_GATE, StepId.UPSTREAM_TESTS: upstream_problems},
}


def check_tasks(
    catalog: Catalog, levels: Mapping[str, Level], jobs: int, watch: Watch, finished: Finished
) -> list[TaskCheck]:
    """Check these tasks, each at its level, `jobs` at a time; `finished` is told of each as it ends.

    Raises UserError where no engine is there for it.
    """
    return run_to_end(_check_tasks(catalog, levels, jobs, watch, finished))


async def _check_tasks(
    catalog: Catalog, levels: Mapping[str, Level], jobs: int, watch: Watch, finished: Finished
) -> list[TaskCheck]:
    needed = any(level is not Level.QUICK for level in levels.values())
    async with check_context(catalog, watch, needed) as context:

        async def work(name: str) -> TaskCheck:
            return await _check(context, name, levels[name])

        def failed(name: str, error: Exception) -> TaskCheck:
            _log.error("%s: the check itself has failed", name, exc_info=error)
            problem = Problem(where=_description(name), message=f"{ReasonCode.HARNESS_ERROR}: {message_of(error)}")
            return TaskCheck(task=name, level=levels[name], steps=(failed_step(StepId.CHECK, problem),))

        def ended(done: TaskCheck) -> None:
            watch(done.task, "")
            finished(done)

        # The long ones first: a short one fills what is left at the end.
        order = sorted(levels, key=lambda name: list(Level).index(levels[name]), reverse=True)
        done = dict(zip(order, await side_by_side(order, work, failed, jobs, ended), strict=True))
    return [done[name] for name in levels]


def _description(name: str) -> str:
    return name if is_published(name) else f"tasks/{name}/task.yaml"


async def _check(context: CheckContext, name: str, level: Level) -> TaskCheck:
    catalog = context.catalog
    try:
        task = catalog.task(name)
        digest = task.digest
    except (UserError, OSError) as error:
        wrong = failed_step(StepId.SCHEMA, as_problem(catalog, error, _description(name)))
        return TaskCheck(task=name, level=level, steps=(wrong,))
    subject = Subject(catalog, task)
    steps = await _static(subject, context.watch)
    check = TaskCheck(task=task.id, level=level, task_digest=digest, counts=_counts(task), steps=tuple(steps))
    published = isinstance(task, PublishedTask)
    parts = published_parts.DYNAMIC[level] if published else DYNAMIC[level]
    if context.session is None or not parts:
        return check
    # What is wrong with a published task's files is there to stay: the rest is worth knowing all the same.
    if not (check.passed or published):
        return check.model_copy(update={"steps": (*check.steps, *_not_reached(parts))})
    return await _dynamic(check, subject, parts, context.session, context.watch)


async def _static(subject: Subject, watch: Watch) -> list[CheckedStep]:
    if isinstance(subject.task, PublishedTask):
        return await run_parts(subject, published_parts.STATIC, watch)
    try:
        async with kept_tree(subject.task) as tree:
            return await run_parts(replace(subject, tree=tree), STATIC, watch)
    except UserError as error:
        broken = as_problem(subject.catalog, error, subject.at("withheld.patch"))
        steps = await run_parts(subject, STATIC, watch)
        return [*steps, failed_step(StepId.TREE, broken)]


async def _dynamic(
    check: TaskCheck, subject: Subject, parts: Mapping[StepId, Part], session: EngineSession, watch: Watch
) -> TaskCheck:
    try:
        bench = await bench_of(session, subject.task)
    except (UserError, InfrastructureError) as error:
        where = subject.at(subject.description)
        broken = failed_step(StepId.IMAGE_PRESENT, as_problem(subject.catalog, error, where))
        return check.model_copy(update={"steps": (*check.steps, broken, *_not_reached(parts))})
    found = await run_parts(replace(subject, bench=bench), parts, watch)
    if _digest_now(subject) != check.task_digest:
        where = place(subject.catalog, subject.task.directory)
        changed = Problem(where=where, message="has changed while it was checked; check it again")
        found.append(failed_step(StepId.DIGEST, changed))
    facts = {"image_digest": bench.image.digest, "isolation": session.engine.isolation}
    return check.model_copy(update={**facts, "steps": (*check.steps, *found)})


def _digest_now(subject: Subject) -> str:
    """Of the files as they lie there now; empty where they can't be loaded any more."""
    task, anew = subject.task, Catalog(subject.catalog.directory, subject.catalog.published)
    name = f"{SCHEME}{task.directory}" if isinstance(task, PublishedTask) else task.id
    try:
        return anew.task(name).digest
    except (UserError, OSError):
        return ""


def _not_reached(parts: Iterable[StepId]) -> list[CheckedStep]:
    return [CheckedStep(id=step, outcome=StepOutcome.NOT_REACHED) for step in parts]


def _counts(task: Task) -> Counts:
    must = [item for item in task.rubric.criteria if item.importance is Importance.MUST]
    try:
        tests = len(parse_manifest(task.patch("reference/manifest.yaml"), language_of(task.repo).ids).tests)
    except (ManifestError, UserError):
        tests = 0
    return Counts(
        must_haves=len(must),
        nice_to_haves=len(task.rubric.criteria) - len(must),
        probes=len(task.probes),
        reference_tests=tests,
    )
