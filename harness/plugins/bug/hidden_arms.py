"""Runs the arms that judge the place of the fault and the repair."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.judging.languages.toolchain import CompiledVariant, JobLimit
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext, ArmRunner, Suite
from harness.judging.verify.compiling import compile_once
from harness.judging.verify.evidence import derived_seed, passed
from harness.judging.verify.task_texts import TaskTexts
from harness.plugins.bug.handed_in import HandedIn
from harness.plugins.bug.hidden import (
    DRAWN,
    ELSEWHERE,
    LOCATED,
    REPAIRED,
    SEED_BITS,
    UPSTREAM,
    compared,
    drawn_calls,
    first_difference,
    hidden_arm,
    plain_variant,
    reference_suite,
    shown_on_repairs,
    upstream_suite,
)
from harness.plugins.bug.spans import transplanted, widest, width
from harness.plugins.bug.task import BugTask
from harness.plugins.bug.texts import FIXED
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import SandboxLost, Starved, UserError
from harness.specs.test_results import Outcome, Quality, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind

_TRIES = 2
"""Times that the container in which a repair is compiled may be lost before that counts against the repair."""
_IN_USE = {"typescript": {"NODE_ENV": "production"}}
"""Variables by which programs know that they are in use, by language: the last arm of drawn inputs has them."""


@dataclass(frozen=True)
class HiddenArms:
    """The hidden arms of one judging. `seed` decides the inputs that are drawn."""

    context: ArmContext
    task: BugTask
    texts: TaskTexts
    handed: HandedIn
    seed: int

    @property
    def expected(self) -> frozenset[ArmKey]:
        """The arms without which the parts can't be judged, but for those of a repair that doesn't compile."""
        located = [LOCATED] if self._located() is not None else []
        repaired = [REPAIRED] if self.handed.product else []
        return frozenset(map(hidden_arm, [*located, *repaired]))

    async def run(self) -> dict[ArmKey, Arm]:
        """Run every arm that the submission gives reason to run; return them by their keys.

        Raises:
            SandboxLost: An arm was lost again and again.
            UserError: The task itself is wrong.
        """
        tree = GitTree(self.context.image.tree)
        reference = await reference_suite(self.task.base, tree)
        found: dict[ArmKey, Arm] = {}
        found |= await self.located(reference)
        if self.handed.product:
            shown = await shown_on_repairs(self.task, tree)
            found |= await self._repaired(shown, await upstream_suite(self.task, tree))
            found |= await self._elsewhere(shown)
        return found

    async def located(self, reference: Suite) -> dict[ArmKey, Arm]:
        """Return the arm of the named lines; none where they change nothing.

        Where they can't be built without the rest of the fix, all tests fail, as on a repair that can't be built.
        """
        if (texts := self._located()) is None:
            return {}
        variant = await self._compiled_repair(plain_variant(LOCATED, texts))
        if variant is None:
            return {hidden_arm(LOCATED): _uncompiled(reference)}
        return await self._run(reference, LOCATED, variant)

    def _located(self) -> dict[str, bytes] | None:
        """Return the texts with the named spans as the fixed tree has them; None where no span changes anything."""
        buggy, fixed, spans = self.buggy, self.texts.pristine, self.handed.spans
        if not spans or width(spans) > widest(buggy, fixed):
            return None
        texts = transplanted(buggy, fixed, spans)
        return texts if texts != buggy else None

    @property
    def buggy(self) -> Mapping[str, bytes]:
        """The texts of the files in question as the agent got them."""
        return self.texts.removals[VariantKind.REMOVAL]

    @property
    def fixes(self) -> tuple[Mapping[str, bytes], ...]:
        """The same texts as the fixed code and each alternative fix have them."""
        return (self.texts.pristine, *self.texts.twins.values())

    async def _repaired(self, reference: Suite, upstream: Suite) -> dict[ArmKey, Arm]:
        changed = self.handed.changed
        gone = tuple(path for path, text in changed.items() if text is None)
        written = {path: text for path, text in changed.items() if text is not None}
        texts = {**{path: text for path, text in self.buggy.items() if path not in gone}, **written}
        fixed = await self._compiled(self._fixed)
        repaired = await self._compiled_repair(plain_variant(REPAIRED, texts))
        if repaired is None:
            return {hidden_arm(REPAIRED): _uncompiled(reference)}
        found = await self._run(_without(reference, gone), REPAIRED, repaired)
        if upstream.tests:
            found |= await self._run(_without(upstream, gone), UPSTREAM, repaired)
        return found | await self._drawn(repaired, fixed)

    async def _elsewhere(self, shown: Suite) -> dict[ArmKey, Arm]:
        """Return the arm of a repair without what it changes where a known fix is; none where that is all."""
        if not (texts := self.handed.elsewhere):
            return {}
        variant = await self._compiled_repair(plain_variant(ELSEWHERE, {**self.buggy, **texts}))
        return await self._run(shown, ELSEWHERE, variant) if variant else {}

    async def _drawn(self, repaired: CompiledVariant, fixed: CompiledVariant) -> dict[ArmKey, Arm]:
        """Return an arm for each seed; its tests fail where the repair answers in another way than the fixed code."""
        mine = {hidden_arm(name): self._as_drawn(repaired, name) for name in DRAWN}
        right = {hidden_arm(f"{FIXED}-{name}"): self._as_drawn(fixed, name) for name in DRAWN}
        seeds = {key: derived_seed(self.seed, key.variant) >> (64 - SEED_BITS) for key in mine}
        of_right = {key: seeds[hidden_arm(key.variant.removeprefix(f"{FIXED}-"))] for key in right}
        context = replace(self.context, limit=JobLimit())
        arms, calls = await drawn_calls(context, self.task.base, {**mine, **right}, {**seeds, **of_right})
        if unproved := {key: mine[key] for key in mine if arms[key].status is ArmStatus.WRONG_VARIANT}:
            more, other_calls = await drawn_calls(context, self.task.base, unproved, seeds)
            arms, calls = {**arms, **more}, {**calls, **other_calls}
        found = {}
        for key in mine:
            answers = calls[hidden_arm(f"{FIXED}-{key.variant}")]
            if not answers:
                raise UserError(f"{self.task.base.directory / 'fuzz'}: writes down no call of the fixed code")
            found[key] = compared(arms[key], first_difference(answers, calls[key]))
        return found

    def _as_drawn(self, variant: CompiledVariant, name: str) -> CompiledVariant:
        """Return a variant with the environment that an arm of drawn inputs has."""
        more = _IN_USE.get(self.task.repo.language, {}) if name == DRAWN[-1] else {}
        return replace(variant, env={**variant.env, **more})

    async def _compiled_repair(self, source: VariantSource) -> CompiledVariant | None:
        return await compile_repair(self.context, source, self._fixed)

    @property
    def _fixed(self) -> VariantSource:
        return plain_variant(FIXED, self.texts.pristine)

    async def _compiled(self, source: VariantSource) -> CompiledVariant:
        return await _compiled(self.context, source)

    async def _run(self, suite: Suite, name: str, variant: CompiledVariant) -> dict[ArmKey, Arm]:
        """Run an arm, and once more where a test fails: the second run counts against chance."""
        runner = ArmRunner(replace(self.context, limit=JobLimit()), self.task)
        key = hidden_arm(name)
        found = await runner.run_suite(suite, [(key, variant)])
        if passed(found[key]).issuperset(suite.tests):
            return found
        return found | await runner.run_suite(suite, [(key.again, variant)])


async def compile_repair(context: ArmContext, source: VariantSource, fixed: VariantSource) -> CompiledVariant | None:
    """Compile code that a hand-in has a part in; return None where it can't be built.

    So it is where the compiler refuses it, and where its container is lost twice and one with the fixed code isn't.

    Raises:
        SandboxLost: The fixed code can't be built either, or the machine is too busy.
    """
    for _ in range(_TRIES):
        try:
            return await _compiled(context, source)
        except UserError:
            return None
        except Starved:
            raise
        except SandboxLost:
            continue
    await context.toolchain.compile(context, [fixed])  # anew: what was compiled before shows nothing of the machine
    return None


async def _compiled(context: ArmContext, source: VariantSource) -> CompiledVariant:
    [compiled] = await compile_once(context.toolchain, context, [source])
    return compiled


def _uncompiled(suite: Suite) -> Arm:
    """Return the arm of code that the compiler refuses."""
    results = tuple(TestResult(test=test, outcome=Outcome.FAILED, quality=Quality.COLLECTION) for test in suite.tests)
    return Arm(VariantKind.BASELINE, ArmStatus.FINISHED, 1, results, 0.0)


def _without(suite: Suite, gone: tuple[str, ...]) -> Suite:
    return replace(suite, removed=(*suite.removed, *gone))
