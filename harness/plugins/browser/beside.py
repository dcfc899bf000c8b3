"""Arms beside the others: the tests in reverse and alone, and on an application one of whose labels has changed.

Structure is measured by running: where a label changes, a suite that is mended in one place has one literal with
which, changed by machine, all tests pass again that failed for it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext, ArmRunner, Scheduled, Suite
from harness.judging.verify.compiling import compile_once
from harness.judging.verify.evidence import Evidence, derived_seed, listed_arm, passed
from harness.judging.verify.examination import Examination
from harness.judging.verify.mutation import is_over
from harness.judging.verify.verification import Judging, suite_of
from harness.plugins.browser.arms_file import ArmsFile, SameArm, StageArm, Structure
from harness.plugins.browser.literals import Mended, mended_texts
from harness.plugins.browser.reasons import ORDER_DEPENDENT, RETRIES, TECHNIQUE_NOT_SHOWN
from harness.plugins.browser.stage import START_SECONDS, stage_sources
from harness.plugins.browser.task import StagedTask, staged_task
from harness.sandbox.git_tree import GitTree
from harness.sandbox.machine_speed import slowness
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.test_results import Quality, TestId
from harness.specs.variants import Arm, ArmKey, ArmStatus, Role, VariantKind

MOST_PLACES = 6
"""Literals of a suite that are tried, one an arm."""
REVERSED, ALONE, RENAMED, MENDED, BOTH = "reversed", "alone", "renamed", "mended", "renamed-and-wrong"
STRUCTURE = "structure"


@dataclass(frozen=True)
class StagedJudging(Judging):
    """A judging whose evidence has the arms beside, where some test is green."""

    async def evidence(self, found: Examination) -> Evidence:
        """Return what the arms show, with those beside; read from `cache`, or run now."""
        evidence = await super().evidence(found)
        green = tuple(test for test in evidence.tests if evidence.passes_baseline(test))
        known = any(key.role is Role.BESIDE for key in evidence.arms)
        if known or not green or is_over(evidence):
            return evidence
        task = staged_task(self.task)
        seed = evidence.draw.code_seed if evidence.draw else 0
        beside = _Beside(self.context, task, replace(suite_of(found), tests=green), seed)
        await beside.run_alone_in_time(evidence)
        if task.arms.alone:
            await beside.run_in_other_orders(task.arms.alone)
        if task.arms.structure:
            await beside.run_with_another_label(task.arms.structure, evidence)
        whole = replace(evidence, arms={**evidence.arms, **beside.arms})
        if self.cache:
            self.cache.keep(whole)
        return whole


class _Beside:
    """The arms beside those of one judging, while they grow."""

    def __init__(self, context: ArmContext, task: StagedTask, suite: Suite, seed: int) -> None:
        self.arms: dict[ArmKey, Arm] = {}
        self._context, self._task, self._suite, self._seed = context, task, suite, seed

    async def run_in_other_orders(self, alone: int) -> None:
        """Run the tests in reverse, and some of them alone; once more what fails."""
        tests, chance = self._suite.tests, Random(derived_seed(self._seed, ALONE))
        suites = {ArmKey(Role.BESIDE, REVERSED): tuple(reversed(tests))}
        for number in sorted(chance.sample(range(len(tests)), min(alone, len(tests)))):
            suites[ArmKey(Role.BESIDE, ALONE, part=number + 1)] = (tests[number],)
        names = (REVERSED, ALONE)
        compiled = await self._compiled({name: StageArm() for name in names})
        await self._run((key, compiled[key.variant], tests) for key, tests in suites.items())
        red = [(key, tests) for key, tests in suites.items() if passed(self.arms[key]) != set(tests)]
        await self._run((key.again, compiled[key.variant], tests) for key, tests in red)

    async def run_alone_in_time(self, evidence: Evidence) -> None:
        """Run each test alone in an arm where tests may take so long, if the arm leaves open which of them took it.

        What fails runs once more. The engine counts what a test takes alone.
        """
        for arm in self._task.arms.same:
            if arm.own_seconds is None:
                continue
            ran, tests = evidence.arms[listed_arm(arm.variant)], self._suite.tests
            most = arm.own_seconds + len({test.file for test in tests}) * START_SECONDS
            if len(tests) == 1 or ran.seconds <= most * slowness() or passed(ran) != set(tests):
                continue
            compiled = (await self._compiled({arm.variant: arm}))[arm.variant]
            keys = {ArmKey(Role.BESIDE, arm.variant, part=number): test for number, test in enumerate(tests, start=1)}
            await self._run((key, compiled, [test]) for key, test in keys.items())
            red = [(key, test) for key, test in keys.items() if not passed(self.arms[key])]
            await self._run((key.again, compiled, [test]) for key, test in red)

    async def run_with_another_label(self, structure: Structure, evidence: Evidence) -> None:
        """Run the tests where a label has changed, then mended in one place, until that mends some of them.

        Those that pass there, and notice a mutant elsewhere, run once more with both changes.
        """
        label = Random(derived_seed(self._seed, RENAMED)).choice(structure.becomes)
        renamed = structure.arm(label)
        mutant = self._task.arms.mutant(structure.probe)
        both = structure.with_mutant(label, mutant)
        compiled = (await self._compiled({RENAMED: renamed}))[RENAMED]
        key = ArmKey(Role.BESIDE, RENAMED)
        await self._run([(key, compiled, self._suite.tests)])
        green = passed(self.arms[key])
        noticing = [test for test in sorted(green) if evidence.kills(listed_arm(mutant.variant), test)]
        if noticing:
            wrong = (await self._compiled({BOTH: both}, VariantKind.PROBE))[BOTH]
            await self._run([(ArmKey(Role.BESIDE, BOTH), wrong, noticing)])
        await self._mend(structure, label, compiled, [test for test in self._suite.tests if test not in green])

    async def _mend(self, structure: Structure, label: str, compiled: CompiledVariant, red: Sequence[TestId]) -> None:
        for number, mended in enumerate(self._places(structure, label) if red else (), start=1):
            key = ArmKey(Role.BESIDE, MENDED, part=number)
            suite = replace(self._suite, files={**self._suite.files, mended.path: mended.text})
            await self._run([(key, compiled, red)], suite)
            if passed(self.arms[key]):
                if passed(self.arms[key]) != set(red):
                    await self._run([(key.again, compiled, red)], suite)
                return

    def _places(self, structure: Structure, label: str) -> Iterator[Mended]:
        return islice(mended_texts(self._suite.files, structure.label, label), MOST_PLACES)

    async def _compiled(
        self, arms: dict[str, StageArm], kind: VariantKind = VariantKind.TWIN
    ) -> dict[str, CompiledVariant]:
        tree = GitTree(self._context.image.tree)
        planned = [(name, kind, "", arm) for name, arm in arms.items()]
        sources: list[VariantSource] = await stage_sources(self._task, tree, planned, self._seed)
        compiled = await compile_once(self._context.toolchain, self._context, sources)
        return dict(zip(arms, compiled, strict=True))

    async def _run(
        self, arms: Iterable[tuple[ArmKey, CompiledVariant, Sequence[TestId]]], suite: Suite | None = None
    ) -> None:
        scheduled = [
            Scheduled(key, compiled, replace(suite or self._suite, tests=tuple(tests)))
            for key, compiled, tests in arms
        ]
        self._context.observer.planned(len(scheduled))
        ran = await ArmRunner(self._context, self._task).run(scheduled)
        self.arms |= {key: _waited(key, arm) for key, arm in ran.items()}


def _waited(key: ArmKey, arm: Arm) -> Arm:
    """Return an arm in which tests may have waited too long for what has another name there: that is no fault."""
    is_late = arm.status is ArmStatus.TIMED_OUT and key.variant in (RENAMED, MENDED, BOTH)
    return replace(arm, status=ArmStatus.FINISHED) if is_late else arm


def beside_reasons(evidence: Evidence, arms: ArmsFile) -> Iterator[Reason]:
    """Yield why the arms beside don't show what they must: no test depends on others, one place mends all."""
    timed = {arm.variant: arm for arm in arms.same if arm.own_seconds is not None}
    beside = [key for key in sorted(evidence.arms) if key.role is Role.BESIDE]
    for test in evidence.tests:
        failing = [key for key in beside if _fails(evidence, key, test)]
        twice = [key for key in failing if key.again in failing]
        if orders := [key for key in twice if key.variant in (REVERSED, ALONE)]:
            words = "it fails in another order than the manifest's, or alone, on the application as it is"
            yield Reason(code=_code(evidence, orders[0], test), stage=Stage.MUTATION, subject=str(test), words=words)
        for key in twice:
            if arm := timed.get(key.variant):
                yield _alone_in_time(evidence, key, arm, test)
    if arms.structure and (words := structure_words(evidence, arms.structure)):
        yield Reason(code=TECHNIQUE_NOT_SHOWN, stage=Stage.MUTATION, subject=STRUCTURE, words=words)


def _alone_in_time(evidence: Evidence, key: ArmKey, arm: SameArm, test: TestId) -> Reason:
    [result] = evidence.arms[key.again].results
    is_late = result.quality is Quality.TIMEOUT
    words = result.message if is_late else f"it fails alone in {arm.name}, where it passes among others"
    code = arm.code if is_late else _code(evidence, key, test)
    return Reason(code=code, stage=Stage.MUTATION, subject=str(test), words=words)


def _fails(evidence: Evidence, key: ArmKey, test: TestId) -> bool:
    results = [item for item in evidence.arms[key].results if item.test == test]
    return bool(results) and test not in passed(evidence.arms[key])


def _code(evidence: Evidence, key: ArmKey, test: TestId) -> ReasonCode:
    qualities = [item.quality for item in evidence.arms[key].results if item.test == test]
    return RETRIES if Quality.RETRIED in qualities else ORDER_DEPENDENT


def structure_words(evidence: Evidence, structure: Structure) -> str:
    """Say why the suite isn't one that is mended in one place; empty where it is, or where nothing was measured."""
    renamed = evidence.arms.get(ArmKey(Role.BESIDE, RENAMED))
    if renamed is None:
        return ""
    if len(evidence.tests) < structure.tests:
        return f"it has fewer than {structure.tests} tests, so that nothing shows in how many places it is mended"
    both = evidence.arms.get(ArmKey(Role.BESIDE, BOTH))
    if both and (blind := sorted(map(str, passed(both)))):
        return f"where the label {structure.label!r} changes, {blind[0]} passes and doesn't notice what it is for"
    red = {item.test for item in renamed.results} - passed(renamed)
    mended: dict[int, set[TestId]] = {}
    for key, arm in evidence.arms.items():
        if key.role is Role.BESIDE and key.variant == MENDED:
            mended[key.part] = mended.get(key.part, set()) | passed(arm)
    if not red or any(tests >= red for tests in mended.values()):
        return ""
    return f"where the label {structure.label!r} changes, no single place of it mends every test that fails for that"
