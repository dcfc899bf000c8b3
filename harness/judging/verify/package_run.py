"""The listed tests of each package in one process, on a mutant that they notice, as Go's own command runs them.

Arms run the tests of each file by themselves, and give them time by their number. Tests of two files of one package
can leave it to one another, or ask how much time they have: in people's hands nothing is checked then.
"""

from contextlib import suppress
from dataclasses import replace

from harness.judging.languages.protocol import Language
from harness.judging.languages.toolchain import JobLimit, JobsStopped, SuiteFiles, with_suite
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.control import is_about_to_be_resolved
from harness.judging.verify.evidence import ArmLog, Evidence, UnkeptArms
from harness.judging.verify.gathering import ArmPlan, CompiledOnce
from harness.judging.verify.noticed_mutants import Order, run_on_mutants
from harness.judging.verify.whole_run import Runs
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmKey, ArmName, Role


async def package_run(
    context: ArmContext, task: Task, plan: ArmPlan, evidence: Evidence, language: Language, log: ArmLog | None = None
) -> Evidence:
    """Return the evidence with runs of the listed tests as the language's own command runs a package, on a mutant.

    On which, noticed_mutants.py says. `Language.packages` says how they run; nothing happens in other languages, nor
    where the submission isn't about to be resolved.

    Raises:
        SandboxLost: An arm was lost again and again; that says nothing of the submission.
    """
    is_held = any(key.role is Role.WHOLE_MUTANT for key in evidence.arms)
    if language.packages is None or is_held or not is_about_to_be_resolved(task, plan, evidence):
        return evidence
    command, *words = language.packages(evidence.tests)
    plain = replace(context, limit=JobLimit())
    runs = Runs(plain, task, log or UnkeptArms(), {})

    async def run(key: ArmKey, mutant: VariantSource) -> Arm:
        built, env = await _built(plain, task, plan, mutant)
        return await runs.on(mutant.kind, built, env, command).run(key, plan.suite, tuple(words))

    arms: dict[ArmName, Arm] = {}
    with suppress(JobsStopped):
        order = Order(Role.WHOLE_MUTANT, evidence.tests, least=2)
        arms = await run_on_mutants(plan.sources, evidence, order, run)
    return replace(evidence, arms={**evidence.arms, **arms})


async def _built(
    context: ArmContext, task: Task, plan: ArmPlan, mutant: VariantSource
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the files of a mutant together with the suite, and the variables by which these are found."""
    suite = SuiteFiles(plan.suite.tests, plan.suite.files, plan.suite.removed)
    compiled = await CompiledOnce(context, task).of([mutant])
    [built] = await with_suite(context.toolchain, context, compiled, suite)
    variant = built.compiled.variant
    return {**variant.source, **variant.code}, dict(built.compiled.env)
