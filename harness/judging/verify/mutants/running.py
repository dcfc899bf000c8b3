"""Running a suite on mutants: compiled in batches, an arm for each, within a time of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.judging.languages.registry import language_of
from harness.judging.languages.toolchain import CompiledVariant, JobLimit, JobsStopped
from harness.judging.languages.variant_source import VariantSource
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext, ArmObserver, ArmRunner, Suite
from harness.judging.verify.collected import by_collection
from harness.judging.verify.evidence import listed_arm, passed
from harness.judging.verify.mutants.candidates import (
    Candidates,
    Coverage,
    MutantCandidate,
    removed_code,
    removed_coverage,
)
from harness.judging.verify.mutants.records import MutantRecord, MutantsFile, MutantStatus
from harness.judging.verify.suite_reader import SuiteReader
from harness.judging.verify.verification import read_submission, suite_of
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.specs.test_results import Outcome, Quality
from harness.specs.variants import Arm, ArmStatus, VariantKind

BATCH = 8
"""Mutants that are compiled and run together."""
SECONDS = 600.0
"""All containers of one suite's mutants together, but for those that run when they are over."""
_PRISTINE = "mutants-baseline"
_SLOWER, _AT_LEAST = 4, 10.0
"""A mutant's arm may take so many times as long as the baseline's, and so many seconds more."""
_UNBUILT = "the compiler refuses it"


@dataclass(frozen=True)
class MutantOrder:
    """An order of mutants: how many, how they are drawn, and the seconds that all their containers may take.

    With `coverage` the removed lines that the suite reaches are counted as well, in one container more.
    """

    count: int
    seed: int = 0
    seconds: float = SECONDS
    coverage: bool = True


async def run_mutants(
    task: Task, submission: Submission, context: ArmContext, order: MutantOrder, reader: SuiteReader = by_collection
) -> MutantsFile:
    """Run a submission's tests that are green at baseline on mutants of the code that the removal takes out.

    Args:
        task: Whose removal.
        submission: Whose tests.
        context: Where arms run.
        order: How many mutants, of which seed.
        reader: Finds the tests.

    Raises:
        UserError: There can be no mutants of this task.
        SandboxLost: An arm was lost.
    """
    candidates = await removed_code(task, GitTree(context.image.tree))
    found = await read_submission(task, submission, context, reader)
    drawn = candidates.drawn(order.count, order.seed)
    file = MutantsFile(
        task=task.id, seed=order.seed, asked=order.count, candidates=len(candidates.mutants),
        mutants=tuple(each.record for each in drawn),
    )  # fmt: skip
    if found.is_refused:
        return file.model_copy(update={"why_none": "the submission is refused before anything of it runs"})
    return await _Run(task, context, candidates, order).all(file, suite_of(found), drawn)


class _Run:
    """One suite's mutants. What stops the engine leaves the rest pending."""

    def __init__(self, task: Task, context: ArmContext, candidates: Candidates, order: MutantOrder) -> None:
        self._task, self._candidates, self._seconds = task, candidates, order.seconds
        self._is_counted = order.coverage
        self._context = replace(context, limit=JobLimit(order.seconds), observer=ArmObserver())
        self._pristine: CompiledVariant | None = None

    async def all(self, file: MutantsFile, suite: Suite, drawn: Sequence[MutantCandidate]) -> MutantsFile:
        spent, records = 0.0, {record.id: record for record in file.mutants}
        found = Coverage(why_none="the time was over")
        tests: tuple[str, ...] = ()
        try:
            self._pristine = (await self._compiled([self._source(_PRISTINE, self._candidates.texts)]))[_PRISTINE]
            baseline = (await self._arms(suite, [self._pristine])).get(_PRISTINE)
            if baseline is None:
                return file
            green = tuple(test for test in suite.tests if test in passed(baseline))
            tests, spent = tuple(map(str, green)), baseline.seconds
            if not green:
                return file.model_copy(
                    update={"why_none": "no test is green at baseline", "seconds": round(spent, 3)}
                )
            seconds = _AT_LEAST + _SLOWER * baseline.seconds
            limit = min(seconds, float(self._task.file.limits.arm_seconds))
            only = replace(suite, tests=green, seconds=limit)
            for first in range(0, len(drawn), BATCH):
                ended = await self._batch(only, drawn[first : first + BATCH])
                records |= {record.id: record for record, _ in ended}
                spent += sum(seconds for _, seconds in ended)
            found = Coverage()
            if self._is_counted:
                found = await removed_coverage(self._task, self._context, only, self._candidates)
            spent += found.seconds
        except JobsStopped:  # while something was built
            pass
        mutants = tuple(found.of(records[record.id]) for record in file.mutants)
        facts = {"mutants": mutants, "tests": tests, "seconds": round(spent, 3)}
        return file.model_copy(update={**facts, "coverage": found.summary, "why_no_coverage": found.why_none})

    async def _batch(self, suite: Suite, batch: Sequence[MutantCandidate]) -> list[tuple[MutantRecord, float]]:
        ignored = {each.id: why for each in batch if (why := self._same_text(each))}
        todo = [each for each in batch if each.id not in ignored]
        made = await self._compiled_leniently(todo)
        refused = {name: words for name, words in made.items() if isinstance(words, str)}
        ready = {name: item for name, item in made.items() if isinstance(item, CompiledVariant)}
        ignored |= {name: why for name, item in ready.items() if (why := self._same_code(item))}
        arms = await self._arms(suite, [item for name, item in ready.items() if name not in ignored])
        ended: list[tuple[MutantRecord, float]] = []
        for each in batch:
            if each.id in ignored:
                ended.append((_as(each, MutantStatus.IGNORED, ignored[each.id]), 0.0))
            elif each.id in refused:
                ended.append((_as(each, MutantStatus.COMPILE_ERROR, refused[each.id]), 0.0))
            elif arm := arms.get(each.id):
                ended.append((self._judged(each, arm), arm.seconds))
        return ended

    def _same_text(self, candidate: MutantCandidate) -> str:
        operators = language_of(self._task.repo).mutation
        mutated = candidate.mutation.of(candidate.text)
        is_same = operators is not None and operators.is_same_code(candidate.text, mutated)
        return "equivalent: it compiles to the same bytecode" if is_same else ""

    def _same_code(self, compiled: CompiledVariant) -> str:
        """Return why a mutant is equivalent: code that is compiled before the suite is the same. Else empty."""
        code, pristine = compiled.variant.code, self._pristine
        if not code or pristine is None or self._task.repo.language == "python":  # a .pyc has lines and columns in it
            return ""
        same = all(pristine.variant.code.get(path) == data for path, data in code.items())
        return "equivalent: what it compiles to is the same, byte for byte" if same else ""

    async def _compiled_leniently(self, batch: Sequence[MutantCandidate]) -> dict[str, CompiledVariant | str]:
        """Return each, or what the compiler says of it.

        What it names is left out, and the others are compiled again.
        """
        refused: dict[str, CompiledVariant | str] = {}
        left = list(batch)
        while left:
            try:
                made = await self._compiled([self._source(each.id, self._candidates.of(each)) for each in left])
                return {**refused, **made}
            except UserError as error:
                named = next((each for each in left if each.id in str(error)), left[0])
                refused[named.id] = f"{_UNBUILT}: {str(error).rpartition(' error: ')[2]}"
                left.remove(named)
        return refused

    async def _compiled(self, sources: Sequence[VariantSource]) -> dict[str, CompiledVariant]:
        made = await self._context.toolchain.compile(self._context, sources)
        return {source.name: item for source, item in zip(sources, made, strict=True)}

    def _source(self, name: str, running: Mapping[str, bytes]) -> VariantSource:
        disk = self._candidates.texts if self._context.toolchain.separates else running
        return VariantSource(name, VariantKind.PROBE, disk, running)

    async def _arms(self, suite: Suite, compiled: Sequence[CompiledVariant]) -> dict[str, Arm]:
        arms = [(listed_arm(item.variant.name), item) for item in compiled]
        return {
            key.variant: arm
            for key, arm in (await ArmRunner(self._context, self._task).run_suite(suite, arms)).items()
        }

    def _judged(self, candidate: MutantCandidate, arm: Arm) -> MutantRecord:
        killers = [item for item in arm.results if item.killed]
        names = tuple(str(item.test) for item in killers)
        if killers:
            by_time = all(item.quality is Quality.TIMEOUT for item in killers)
            return _as(candidate, MutantStatus.TIMEOUT if by_time else MutantStatus.KILLED, "", names)
        if arm.status is ArmStatus.TIMED_OUT:
            return _as(candidate, MutantStatus.TIMEOUT, "the tests took too long")
        if all(item.quality is Quality.COLLECTION or item.outcome is Outcome.MISSING for item in arm.results):
            if arm.seconds == 0.0 and self._context.toolchain.suites is not None:
                return _as(candidate, MutantStatus.COMPILE_ERROR, _UNBUILT)
            return _as(candidate, MutantStatus.RUNTIME_ERROR, "no test could be run")
        if arm.status is not ArmStatus.FINISHED:
            return _as(candidate, MutantStatus.RUNTIME_ERROR, f"its arm ended as {arm.status}")
        return _as(candidate, MutantStatus.SURVIVED)


def _as(candidate: MutantCandidate, status: MutantStatus, reason: str = "", by: tuple[str, ...] = ()) -> MutantRecord:
    return candidate.record.model_copy(update={"status": status, "reason": reason, "killed_by": by})
