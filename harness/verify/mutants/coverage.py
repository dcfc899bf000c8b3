"""What a suite reaches of the removed lines, on the code as it is: beside a mutation score, and no part of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.sandbox.git_tree import GitTree
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import LimitReached
from harness.specs.errors import SandboxLost, UserError
from harness.specs.task import Task
from harness.testing.reaching.measuring import (
    MEASURED,
    Found,
    Laid,
    Reached,
    has_branches,
    reach_job,
    read_reached,
)
from harness.verify.arms import ArmContext, Suite
from harness.verify.mutants.candidates import Candidates
from harness.verify.mutants.records import MutantRecord, MutantStatus, RemovedCoverage

_DIGITS = 10
_BUILDING, _SLOWER = 60.0, 10.0
"""Seconds for what is built anew, and how much longer than an arm tests may take where lines are counted."""


@dataclass(frozen=True)
class Coverage:
    """`summary` is None where nothing could be counted, and `why_none` says why. `files` are by path."""

    summary: RemovedCoverage | None = None
    why_none: str = ""
    files: Mapping[str, Reached] = field(default_factory=dict)
    seconds: float = 0.0

    def of(self, mutant: MutantRecord) -> MutantRecord:
        """A mutant that survived where no test runs a line of it isn't covered. A killed one stays killed."""
        if mutant.status is not MutantStatus.SURVIVED or mutant.file not in self.files:
            return mutant
        file, place = self.files[mutant.file], mutant.place
        own = file.lines.intersection(range(place.line, place.end_line + 1))
        if not own or own & file.ran:
            return mutant
        return mutant.model_copy(update={"status": MutantStatus.NO_COVERAGE, "reason": "no test runs this line"})


async def removed_coverage(task: Task, context: ArmContext, suite: Suite, candidates: Candidates) -> Coverage:
    """One run of a suite's green tests where lines and branches are counted.

    Raises EngineStopped. What else goes wrong is told in the result.
    """
    language = task.repo.language
    if language not in MEASURED:
        return Coverage(why_none=f"nothing counts the lines of {language}")
    if not context.engine.capabilities.separate_user:
        return Coverage(why_none=f"the sandbox {context.engine.name!r} has no place for the tools that count lines")
    chosen = [path for path in candidates.removed if path in candidates.texts]
    laid = Laid(suite.files, suite.executable, suite.removed)
    seconds = _BUILDING + _SLOWER * (suite.seconds or task.file.limits.arm_seconds)
    job = reach_job(task.repo, context.image, "suite", suite.tests, chosen, laid, seconds)
    try:
        async with context.slots:
            result = await context.engine.run_job(context.image, job, repo_options(task.repo), context.labels)
        if result.timed_out:
            return Coverage(why_none="the tests took too long where lines are counted", seconds=result.seconds)
        found = await read_reached(language, GitTree(context.image.tree), result)
    except (SandboxLost, LimitReached, UserError) as error:
        return Coverage(why_none=str(error))
    files = {path: found[path] for path in chosen if path in found}
    if not files:
        return Coverage(why_none="the tests left no word of the lines that they reach", seconds=result.seconds)
    return Coverage(summary(candidates.removed, files, has_branches(language)), "", files, result.seconds)


def summary(removed: Mapping[str, frozenset[int]], files: Found, branched: bool) -> RemovedCoverage:
    """Counts of the removed lines alone. Pure."""
    lines = {(path, line) for path, each in files.items() for line in each.lines & removed[path]}
    ran = {(path, line) for path, each in files.items() for line in each.ran & each.lines & removed[path]}
    branches = {
        (path, name) for path, each in files.items() for name in each.branches if _line(name) in removed[path]
    }
    taken = {(path, name) for path, name in branches if name in files[path].taken}
    missed = tuple(f"{path}:{line}" for path, line in sorted(lines - ran))
    return RemovedCoverage(
        lines=len(lines),
        reached=len(ran),
        branches=len(branches) if branched else None,
        taken=len(taken) if branched else None,
        missed=missed,
    )


def _line(branch: str) -> int:
    """Of a branch's name, which begins with it; 0 for a name that doesn't."""
    number = branch.partition(":")[0].partition(",")[0]
    return int(number) if number.isdecimal() and len(number) < _DIGITS else 0
