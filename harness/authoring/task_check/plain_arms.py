"""A suite on a task's variants as their patches make them: nothing is drawn or rewritten, and nothing is judged."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.authoring.task_check.fixing import written_tests
from harness.languages.toolchain import CompiledVariant
from harness.languages.variant_source import VariantSource
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.ids import TestId
from harness.specs.kill_matrix import PLACEBO, REMOVALS, Cell, SuiteMatrix
from harness.specs.results import Outcome
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmKey, Role, VariantKind
from harness.verify.arms import ArmContext, Suite, run_arms
from harness.verify.evidence import BASELINE
from harness.verify.intake import ingest
from harness.verify.task_texts import read_texts


async def plain_variants(task: Task, tree: GitTree, with_twins: bool = False) -> list[VariantSource]:
    """The code as it is, then the removals and the probes; on request twins and the placebo too.

    Raises UserError for a patch that doesn't apply.
    """
    texts = await read_texts(task, tree)
    named = [(kind.value, kind, files, "") for kind, files in texts.removals.items()]
    criteria = {probe.variant: probe.criterion for probe in task.probes}
    named += [(name, VariantKind.PROBE, files, criteria[name]) for name, files in texts.probes.items()]
    if with_twins:
        named += [(name, VariantKind.TWIN, files, "") for name, files in texts.twins.items()]
        named += [(PLACEBO, VariantKind.PLACEBO_AUTHORED, texts.placebo, "")] if texts.placebo is not None else []
    baseline = VariantSource(BASELINE, VariantKind.BASELINE, texts.pristine, texts.pristine, family=texts.family)
    return [
        baseline,
        *(VariantSource(name, kind, files, files, criterion, texts.family) for name, kind, files, criterion in named),
    ]


async def read_suite(task: Task, tree: GitTree, path: Path) -> Suite:
    """The tests that a patch adds or changes. Raises UserError where there is none to run."""
    if not path.is_file():
        raise UserError(f"{path}: is missing; write it first: testwright task edit {task.id} reference")
    intake = await ingest(tree, task.repo, path.read_bytes())
    if intake.reasons:
        raise UserError(f"{path}: {intake.reasons[0].words}")
    tests = await written_tests(task, tree, intake.changes)
    if not tests:
        raise UserError(f"{path}: adds no test")
    executable = frozenset(change.path for change in intake.changes if change.executable)
    return Suite(tests, intake.files, executable, intake.deleted)


async def suite_matrix(
    context: ArmContext, task: Task, name: str, suite: Suite, compiled: Sequence[CompiledVariant]
) -> SuiteMatrix:
    """A suite on each variant. A variant that never ran, since the engine has stopped, has no column."""
    keys = {ArmKey(Role.LISTED, item.variant.name): item for item in compiled}
    arms = await run_arms(context, task, suite, keys.items())
    return _matrix(name, suite.tests, {key.variant: arm for key, arm in arms.items() if key.part == 0})


def _matrix(suite: str, tests: Sequence[TestId], arms: Mapping[str, Arm]) -> SuiteMatrix:
    cells: dict[str, dict[str, Cell]] = {str(test): {} for test in tests}
    for variant, arm in arms.items():
        for result in arm.results:
            cells[str(result.test)][variant] = Cell(outcome=result.outcome, quality=result.quality)
    red = tuple(test for test, row in cells.items() if _outcome(row) is not Outcome.PASSED)
    variants = [name for name in REMOVALS if name in arms]
    variants += sorted(name for name in arms if name not in (BASELINE, *REMOVALS))
    return SuiteMatrix(suite=suite, variants=tuple(variants), cells=cells, baseline=red)


def _outcome(row: Mapping[str, Cell]) -> Outcome | None:
    """At baseline; None where that never ran."""
    return row[BASELINE].outcome if BASELINE in row else None
