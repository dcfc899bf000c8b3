"""Checks tasks, from their files to judging all submissions that belong to them."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from harness.authoring.task_check.context import (
    CheckContext,
    CheckOrder,
    Memory,
    Part,
    Watch,
    arm_context_of,
    check_context,
    checks_of,
    failed_step,
    memory_of,
    run_parts,
)
from harness.authoring.task_check.kept_evidence import kept_folder
from harness.authoring.task_check.recorded_parts import images_alike, kept_digests, recorded_parts
from harness.authoring.task_check.rubric_lint import review
from harness.authoring.task_check.subject import Subject, as_problem, kept_tree, place
from harness.authoring.task_check.unasked_mutants import unasked_problems
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import ManifestError, listed_tests
from harness.runs.concurrency import run_to_end, side_by_side
from harness.runs.engine_session import EngineSession
from harness.runs.outcome import message_of
from harness.specs.catalog import Catalog
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.problem import Problem
from harness.specs.reasons import ReasonCode
from harness.specs.rubric import Importance
from harness.specs.task import Task
from harness.specs.task_facts import CheckedStep, Counts, Level, StepId, StepOutcome, TaskCheck
from harness.specs.tracks import address_of
from harness.specs.yaml_files import SchemaError

NEED_TREE = frozenset({StepId.PATCHES})
"""Parts that only say that there is no tree, where there is none."""
Finished = Callable[[TaskCheck], None]
_log = logging.getLogger(__name__)


def check_tasks(
    catalog: Catalog,
    levels: Mapping[str, Level],
    jobs: int,
    watch: Watch,
    finished: Finished,
    order: CheckOrder | None = None,
) -> list[TaskCheck]:
    """Check these tasks, each at its level, `jobs` at a time; `finished` is told of each as it ends.

    Raises:
        UserError: A level needs an engine, and there is none.
    """
    return run_to_end(_check_tasks(catalog, levels, jobs, watch, finished, order or CheckOrder()))


async def _check_tasks(
    catalog: Catalog,
    levels: Mapping[str, Level],
    jobs: int,
    watch: Watch,
    finished: Finished,
    asked: CheckOrder,
) -> list[TaskCheck]:
    needed = any(_starts_containers(catalog, name, level, asked) for name, level in levels.items())
    async with check_context(catalog, watch, needed, asked) as context:

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


def _starts_containers(catalog: Catalog, name: str, level: Level, order: CheckOrder) -> bool:
    """Return whether a task has a part that needs an engine; one that can't be loaded has none."""
    if level is Level.QUICK:
        return False
    try:
        dynamic = checks_of(catalog.task(name)).dynamic[level]
    except (UserError, OSError):
        return False
    return bool(order.chosen(dynamic) or order.mutants)


def _description(name: str) -> str:
    return name if address_of(name) else f"tasks/{name}/{Task.DESCRIPTION}"


async def _check(context: CheckContext, name: str, level: Level) -> TaskCheck:
    catalog = context.catalog
    try:
        task = catalog.task(name)
        digest = task.digest
    except (UserError, OSError) as error:
        each = error.each if isinstance(error, SchemaError) else (error,)
        wrong = failed_step(StepId.SCHEMA, *(as_problem(catalog, one, _description(name)) for one in each))
        return TaskCheck(task=name, level=level, steps=(wrong,))
    if task.is_public_half:
        words = "is a public half; what a check reads is in its private half, so name that catalog too"
        half = failed_step(StepId.SCHEMA, Problem(where=_description(name), message=words))
        return TaskCheck(task=name, level=level, steps=(half,))
    subject = Subject(catalog.holding(task), task)
    steps = await _static(subject, context)
    if judge := context.order.judge:
        steps += await run_parts(subject, {StepId.STATEMENTS: lambda it: review(it, judge)}, context.watch)
    of_parts = kept_digests(subject) if _keeps_parts(subject) else {}
    check = TaskCheck(
        task=task.id, level=level, task_digest=digest, part_digests=of_parts, counts=_counts(task), steps=tuple(steps)
    )
    checks = checks_of(task)
    parts = {**context.order.chosen(checks.dynamic[level]), **_on_request(context)}
    if context.session is None or not parts:
        return check
    if not (check.passed or checks.goes_on):
        return check.model_copy(update={"steps": (*check.steps, *_not_reached(parts))})
    return await _dynamic(check, subject, parts, context.session, context)


async def _static(subject: Subject, context: CheckContext) -> list[CheckedStep]:
    checks, watch = checks_of(subject.task), context.watch
    static = context.order.chosen(checks.static)
    if not checks.needs_tree:
        return await run_parts(subject, static, watch)
    try:
        async with kept_tree(subject.task) as tree:
            return await run_parts(replace(subject, tree=tree), static, watch)
    except UserError as error:
        # What needs the tree would only say that it isn't there.
        broken = as_problem(subject.catalog, error, subject.at("withheld.patch"))
        without = {step: part for step, part in static.items() if step not in NEED_TREE}
        return [failed_step(StepId.TREE, broken), *await run_parts(subject, without, watch)]


async def _dynamic(
    check: TaskCheck, subject: Subject, parts: Mapping[StepId, Part], session: EngineSession, context: CheckContext
) -> TaskCheck:
    try:
        arm_context = await arm_context_of(session, subject.task)
    except (UserError, InfrastructureError) as error:
        where = subject.at(subject.description)
        broken = failed_step(StepId.IMAGE_PRESENT, as_problem(subject.catalog, error, where))
        return check.model_copy(update={"steps": (*check.steps, broken, *_not_reached(parts))})
    kept = kept_folder(subject.task) if context.order.remember else None
    subject = replace(subject, arm_context=arm_context, kept=kept)
    memory = await _memory(subject, session.engine.isolation, context.order)
    found = await run_parts(subject, parts, context.watch, memory)
    if _digest_now(subject) != check.task_digest:
        where = place(subject.catalog, subject.task.directory)
        changed = Problem(where=where, message="has changed while it was checked; check it again")
        found.append(failed_step(StepId.DIGEST, changed))
    facts = {"image_digest": arm_context.image.digest, "isolation": session.engine.isolation}
    return check.model_copy(update={**facts, "steps": (*check.steps, *found)})


async def _memory(subject: Subject, isolation: str, order: CheckOrder) -> Memory | None:
    """Return the parts that needn't run."""
    if not _keeps_parts(subject):
        return None
    kept = memory_of(subject, isolation) if order.remember else Memory(Path(), {})
    if order.recorded is None:
        return kept
    images = await images_alike(order.recorded, subject.task.repo, subject.containers.image)
    return replace(kept, recorded=recorded_parts(order.recorded, subject, images, isolation))


def _keeps_parts(subject: Subject) -> bool:
    """Return whether parts are remembered: none of a task from elsewhere whose track keeps no suites beside it."""
    of_catalog = subject.task.directory.parent == subject.catalog.directory / "tasks"
    return of_catalog or checks_of(subject.task).suites is not None


def _on_request(context: CheckContext) -> Mapping[StepId, Part]:
    """Return the parts that belong to no level."""
    count = context.order.mutants
    return {StepId.MUTANTS: lambda subject: unasked_problems(subject, count)} if count else {}


def _digest_now(subject: Subject) -> str:
    """Return the digest of the files as they lie there now; empty where they can't be loaded any more."""
    anew = Catalog(subject.catalog.places, subject.catalog.options)
    try:
        return anew.task(subject.task.address).digest
    except (UserError, OSError):
        return ""


def _not_reached(parts: Iterable[StepId]) -> list[CheckedStep]:
    return [CheckedStep(id=step, outcome=StepOutcome.NOT_REACHED) for step in parts]


def _counts(task: Task) -> Counts:
    must = [item for item in task.rubric.criteria if item.importance is Importance.MUST]
    try:
        tests = len(listed_tests(task.patch("reference/manifest.yaml"), language_of(task.repo).ids).tests)
    except (ManifestError, UserError):
        tests = 0
    return Counts(
        must_haves=len(must),
        nice_to_haves=len(task.rubric.criteria) - len(must),
        probes=len(task.probes),
        twins=len(task.twins),
        reference_tests=tests,
    )
