"""Arms with other markup, page by page: to a screen reader each must be what the application's own is.

That is a filter and no proof: a script may still look for an element that is made in another way now.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import ndiff

from harness.authoring.task_check.subject import Subject, place
from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.testing.arm_job import TestRun, test_job
from harness.judging.verify.compiling import compile_once
from harness.judging.verify.evidence import BASELINE
from harness.plugins.browser.arms_file import StageArm
from harness.plugins.browser.reasons import MARKUP_DEPENDENT
from harness.plugins.browser.stage import program, stage_sources
from harness.plugins.browser.task import ARMS, PAGES, staged_task, walk_of
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import JobResult
from harness.specs.problem import Problem, Severity
from harness.specs.test_results import TestId
from harness.specs.variants import VariantKind

WALK = TestId("tests/test_pages.py", "test_pages")
"""The test that goes through a task's pages, and looks at each."""
_LOOKING, _SEEN = "looking.py", "pages.json"
_SEED = 1


@dataclass(frozen=True)
class Walk:
    """The pages that a walk saw: name and tree of each, as roles, names and texts; or why it came to no end."""

    pages: Sequence[tuple[str, str]] = ()
    failure: str = ""


async def page_problems(subject: Subject) -> list[Problem]:
    """Return the arms with other markup that have a page which a screen reader tells from the application's."""
    task = staged_task(subject.task)
    arms: dict[str, StageArm] = {arm.name: arm for arm in task.arms.same if arm.code == MARKUP_DEPENDENT}
    if not arms:
        return []
    path = walk_of(task)
    if not path.is_file():
        words = f"no {PAGES}: nothing says that arms with other markup are the same to a screen reader"
        return [Problem(where=subject.at(ARMS), message=words, severity=Severity.WARNING)]
    walks = await _walks(subject, path.read_bytes(), {BASELINE: StageArm(), **arms})
    where = place(subject.catalog, path)
    found = differences(walks.pop(BASELINE), walks)
    return [Problem(where=where, message=message) for message in found]


def differences(plain: Walk, others: dict[str, Walk]) -> Iterator[str]:
    """Yield what is wrong with walks: one that fails, sees nothing, or sees another page than the plain one."""
    if plain.failure or not plain.pages:
        yield f"on the application as it is: {plain.failure or 'no page is looked at'}"
        return
    for arm, walk in others.items():
        if walk.failure:
            yield f"in the arm {arm}: {walk.failure}"
        elif walk.pages != plain.pages:
            yield f"in the arm {arm} {_first_difference(plain, walk)}"


def _first_difference(plain: Walk, other: Walk) -> str:
    for (name, was), (also, now) in zip(plain.pages, other.pages, strict=False):
        if name != also:
            return f"the walk comes to the page {also!r} in place of {name!r}"
        if was != now:
            lines = [line for line in ndiff(was.splitlines(), now.splitlines()) if line[:2] in ("- ", "+ ")]
            told = [f"{'has' if line[0] == '+' else 'lacks'} {line[2:].strip()!r}" for line in lines[:2]]
            return f"the page {name!r} isn't the same to a screen reader: it {' and '.join(told)}"
    return f"the walk looks at {len(other.pages)} pages in place of {len(plain.pages)}"


async def _walks(subject: Subject, walk: bytes, arms: dict[str, StageArm]) -> dict[str, Walk]:
    context, task = subject.containers, staged_task(subject.task)
    planned = [(name, VariantKind.TWIN, "", arm) for name, arm in arms.items()]
    sources = await stage_sources(task, GitTree(context.image.tree), planned, _SEED)
    compiled = await compile_once(context.toolchain, context, sources)
    results = await asyncio.gather(*(_walked(subject, walk, item) for item in compiled))
    return dict(zip(arms, map(read_walk, results), strict=True))


async def _walked(subject: Subject, walk: bytes, compiled: CompiledVariant) -> JobResult:
    context, task = subject.containers, subject.task
    run = TestRun(
        tests=(WALK,),
        files={WALK.file: walk, "tests/conftest.py": program(_LOOKING)},
        executable=frozenset(),
        removed=(),
        prove=(),
        seconds=task.file.limits.arm_seconds,
        env=compiled.env,
    )
    job = test_job(task.repo, context.image, run)
    companion = compiled.stage.companion if compiled.stage else None
    return await context.run_arm(replace(job, companion=companion), compiled.stage)


def read_walk(result: JobResult) -> Walk:
    """Return what a walk's job left."""
    if result.exit_status or _SEEN not in result.outputs:
        lines = [line for line in result.log.decode(errors="replace").splitlines() if line.startswith("E ")]
        return Walk(failure=f"{PAGES} fails: {lines[0][2:].strip() if lines else f'status {result.exit_status}'}")
    return Walk([(name, tree) for name, tree in json.loads(result.outputs[_SEEN])])
