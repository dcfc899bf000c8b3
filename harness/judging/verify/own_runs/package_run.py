"""The listed tests of each package in one process, on mutants that they notice, as Go's own command runs them.

Arms run the tests of each file by themselves, and give them time by their number. Tests of two files of one package
can leave it to one another, or ask how much time they have: in people's hands nothing is checked then.
"""

from dataclasses import replace

from harness.judging.languages.protocol import Language
from harness.judging.languages.toolchain import JobLimit, SuiteFiles, with_suite
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.control import is_about_to_be_resolved
from harness.judging.verify.evidence import ArmLog, Evidence, UnkeptArms
from harness.judging.verify.gathering import ArmPlan, CompiledOnce
from harness.judging.verify.own_runs.command import Runs
from harness.judging.verify.own_runs.noticed_mutants import Order, files_held, run_on_mutants
from harness.specs.task import Task
from harness.specs.variants import Role


async def package_run(
    context: ArmContext, task: Task, plan: ArmPlan, evidence: Evidence, language: Language, log: ArmLog | None = None
) -> Evidence:
    """Return the evidence with runs of the listed tests as the language's own command runs a package, on mutants.

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
    runs, compiled = Runs(plain, task, log or UnkeptArms(), {}), CompiledOnce(plain, task)
    suite = SuiteFiles(plan.suite.tests, plan.suite.files, plan.suite.removed)

    async def runs_on(mutant: VariantSource, _order: Order) -> Runs:
        [built] = await with_suite(plain.toolchain, plain, await compiled.of([mutant]), suite)
        variant, env = built.compiled.variant, dict(built.compiled.env)
        return runs.on(mutant.kind, {**variant.source, **variant.code}, env, command)

    held = enumerate(files_held(evidence))
    orders = [Order(Role.WHOLE_MUTANT, part, file, tuple(words)) for part, file in held]
    arms = await run_on_mutants(plan, evidence, orders, runs_on)
    return replace(evidence, arms={**evidence.arms, **arms})
