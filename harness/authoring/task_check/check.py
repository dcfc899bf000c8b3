"""Checking tasks, from their files to a full judging of everything that belongs to them."""

import asyncio
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
from harness.authoring.task_check.context import CheckContext, check_context
from harness.authoring.task_check.parts import Part, Watch, failed_step, run_parts
from harness.authoring.task_check.subject import Subject, as_problem, place
from harness.authoring.task_check.trees import kept_tree
from harness.authoring.task_check.upstream_tests import upstream_problems
from harness.authoring.task_image_check import task_image_check
from harness.languages.registry import language_of
from harness.specs.catalog import Catalog
from harness.specs.errors import InfrastructureError, UserError, first_error
from harness.specs.problem import Problem
from harness.specs.rubric import Importance
from harness.specs.swe_atlas.selection import SCHEME, is_published
from harness.specs.swe_atlas.task import PublishedTask
from harness.specs.task import Task
from harness.specs.task_facts import CheckedStep, Counts, Level, StepId, StepOutcome, TaskCheck
from harness.submission.manifest import ManifestError, parse_manifest

Finished = Callable[[TaskCheck], None]


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
    return asyncio.run(_check_tasks(catalog, levels, jobs, watch, finished))


async def _check_tasks(
    catalog: Catalog, levels: Mapping[str, Level], jobs: int, watch: Watch, finished: Finished
) -> list[TaskCheck]:
    turns = asyncio.Semaphore(jobs)
    needed = any(level is not Level.QUICK for level in levels.values())
    async with check_context(needed) as shared:

        async def check(name: str, level: Level) -> TaskCheck:
            async with turns:
                done = await _check(catalog, name, level, shared, watch)
            watch(name, "")
            finished(done)
            return done

        # The long ones first: a short one fills what is left at the end.
        order = sorted(levels, key=lambda name: list(Level).index(levels[name]), reverse=True)
        with first_error():
            async with asyncio.TaskGroup() as group:
                running = {name: group.create_task(check(name, levels[name])) for name in order}
    return [running[name].result() for name in levels]


async def _check(catalog: Catalog, name: str, level: Level, shared: CheckContext | None, watch: Watch) -> TaskCheck:
    try:
        task = catalog.task(name)
        digest = task.digest
    except (UserError, OSError) as error:
        where = name if is_published(name) else f"tasks/{name}/task.yaml"
        wrong = failed_step(StepId.SCHEMA, as_problem(catalog, error, where))
        return TaskCheck(task=name, level=level, steps=(wrong,))
    subject = Subject(catalog, task)
    steps = await _static(subject, watch)
    check = TaskCheck(task=task.id, level=level, task_digest=digest, counts=_counts(task), steps=tuple(steps))
    published = isinstance(task, PublishedTask)
    parts = published_parts.DYNAMIC[level] if published else DYNAMIC[level]
    if shared is None or not parts:
        return check
    # What is wrong with a published task's files is there to stay: the rest is worth knowing all the same.
    if not (check.passed or published):
        return check.model_copy(update={"steps": (*check.steps, *_not_reached(parts))})
    return await _dynamic(check, subject, parts, shared, watch)


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
    check: TaskCheck, subject: Subject, parts: Mapping[StepId, Part], shared: CheckContext, watch: Watch
) -> TaskCheck:
    try:
        bench = await shared.bench(subject.task)
    except (UserError, InfrastructureError) as error:
        where = subject.at(subject.description)
        broken = failed_step(StepId.IMAGE_PRESENT, as_problem(subject.catalog, error, where))
        return check.model_copy(update={"steps": (*check.steps, broken, *_not_reached(parts))})
    found = await run_parts(replace(subject, bench=bench), parts, watch)
    if _digest_now(subject) != check.task_digest:
        where = place(subject.catalog, subject.task.directory)
        changed = Problem(where=where, message="has changed while it was checked; check it again")
        found.append(failed_step(StepId.DIGEST, changed))
    facts = {"image_digest": bench.image.digest, "isolation": shared.engine.isolation}
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
