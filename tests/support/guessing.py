"""A judging with so few arms that a suite can guess them."""

import asyncio
from collections.abc import Sequence

from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.chance_failures import EXCUSABLE
from harness.judging.verify.evidence import Draw
from harness.judging.verify.gathering import ArmPlan, gather_evidence
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.mutation import judge_mutation, some_test_stands
from harness.judging.verify.rubric_check import grade, judge_rubric
from harness.judging.verify.verdict import decide
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import VariantKind
from tests.support.fake_engine import FakeEngine
from tests.support.scripted_language import ScriptedToolchain
from tests.support.scripted_plan import sources

FEW = {
    "baseline": VariantKind.BASELINE,
    "rewritten-1": VariantKind.REWRITTEN,
    "twin-1.1": VariantKind.TWIN,
    "removal-1": VariantKind.REMOVAL,
    "removal-2": VariantKind.REMOVAL,
    "garbage-1": VariantKind.GARBAGE,
    "garbage-2": VariantKind.GARBAGE,
    "probe-1.1": VariantKind.PROBE,
}
TEST = TestId("tests/test_sums.py", "test_a")


async def judged_by_guess(task: Task, engine: FakeEngine, order: int) -> Verdict:
    """The verdict of the verifier's own schedule and rules on a suite of one test."""
    image = Image("fake", "0", "/app", task.directory)
    context = ArmContext(
        engine, image, {}, slots=asyncio.Semaphore(3), toolchain=ScriptedToolchain(), options=SandboxOptions()
    )
    suite, check = Suite((TEST,), {TEST.file: b"..."}), ManifestCheck((TEST,))
    evidence = await gather_evidence(context, task, ArmPlan(sources(FEW), suite, check, Draw(0, order)))
    rubric = judge_rubric(grade(task, evidence, {}), task) if some_test_stands(evidence) else ()
    return decide([*judge_mutation(evidence), *rubric])


def removal_and_probes_are_noticed(arms: Sequence[VariantKind], failing: set[int]) -> float:
    """How likely failing in just these arms ends well: one arm may fail by chance, one rewriting may look wrong.

    These are looked at again, and then a removal of each kind runs again as well, twice: see guessing.py.
    """
    wrong = [arms[number] for number in failing if arms[number].behaves_like_baseline]
    if len(wrong) > 2 or (len(wrong) == 2 and not EXCUSABLE.intersection(wrong)):
        return 0.0
    fail = {kind: [n for n, other in enumerate(arms) if other is kind] for kind in set(arms)}
    whole = [failing.issuperset(numbers) for kind, numbers in fail.items() if kind.removes]
    noticed = any(whole) and failing.issuperset(fail.get(VariantKind.PROBE, []))
    return float(noticed) * (0.25 if wrong else 1.0)
