"""`testwright task matrix`: the tests of the reference and of the honest suites on each removal and probe, plain."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

from harness.authoring.task_check.context import arm_context_of
from harness.authoring.task_check.fixing import covers_text, written_tests
from harness.authoring.task_check.honest_corpus import corpus_of
from harness.languages.toolchain import CompiledVariant
from harness.languages.variant_source import VariantSource
from harness.runs.engine_session import engine_session
from harness.runs.interruption import run_to_end
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.ids import TestId
from harness.specs.kill_matrix import REFERENCE, REMOVALS, Cell, KillMatrix, SuiteMatrix
from harness.specs.results import Outcome
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmKey, Role, VariantKind
from harness.submission.manifest import format_manifest
from harness.verify.arms import ArmContext, Suite, run_arms
from harness.verify.evidence import BASELINE
from harness.verify.intake import Intake, ingest
from harness.verify.task_texts import read_texts


def kill_matrix(catalog: Catalog, name: str, fix: bool, honest: bool, tell: Callable[[str], None]) -> KillMatrix:
    """Run each suite on each variant. Raises UserError for a task whose reference or removal isn't written yet."""
    return run_to_end(_kill_matrix(catalog, catalog.task(name), fix, honest, tell))


async def _kill_matrix(
    catalog: Catalog, task: Task, fix: bool, honest: bool, tell: Callable[[str], None]
) -> KillMatrix:
    patches = {REFERENCE: task.directory / "reference" / "tests.patch"}
    corpus = corpus_of(catalog) / task.id
    if honest:
        patches |= {path.parent.name: path for path in sorted(corpus.glob("*/patch.diff"))}
    suites: list[SuiteMatrix] = []
    written: list[Path] = []
    async with engine_session("docker", uuid4().hex) as session:
        context = await arm_context_of(session, task)
        tree = GitTree(context.image.tree)
        sources = await _plain(task, tree)
        compiled = await context.toolchain.compile(context.build, sources)
        for suite, path in patches.items():
            intake, tests = await _read(task, tree, path)
            tell(f"{task.id}: {len(tests)} tests of {suite} on {len(compiled)} variants")
            arms = await _arms(context, task, intake, tests, compiled)
            suites.append(_matrix(suite, tests, arms))
            if fix:
                manifest = path.parent / "manifest.yaml"
                manifest.write_text(format_manifest(tests))
                written.append(manifest)
    if fix:
        written.append(_write_covers(task, suites[0]))
    return KillMatrix(task=task.id, suites=tuple(suites), written=tuple(written))


async def _read(task: Task, tree: GitTree, path: Path) -> tuple[Intake, tuple[TestId, ...]]:
    if not path.is_file():
        raise UserError(f"{path}: is missing; write it first: testwright task edit {task.id} reference")
    intake = await ingest(tree, task.repo, path.read_bytes())
    if intake.reasons:
        raise UserError(f"{path}: {intake.reasons[0].words}")
    tests = written_tests(task, intake.changes)
    if not tests:
        raise UserError(f"{path}: adds no test")
    return intake, tests


async def _plain(task: Task, tree: GitTree) -> list[VariantSource]:
    """The variants as their patches make them: nothing is drawn or rewritten."""
    texts = await read_texts(task, tree)
    named = [(kind.value, kind, files, "") for kind, files in texts.removals.items()]
    criteria = {probe.variant: probe.criterion for probe in task.probes}
    named += [(name, VariantKind.PROBE, files, criteria[name]) for name, files in texts.probes.items()]
    baseline = VariantSource(BASELINE, VariantKind.BASELINE, texts.pristine, texts.pristine, family=texts.family)
    return [
        baseline,
        *(VariantSource(name, kind, files, files, criterion, texts.family) for name, kind, files, criterion in named),
    ]


async def _arms(
    context: ArmContext, task: Task, intake: Intake, tests: tuple[TestId, ...], compiled: Sequence[CompiledVariant]
) -> dict[str, Arm]:
    executable = frozenset(change.path for change in intake.changes if change.executable)
    suite = Suite(tests, intake.files, executable, intake.deleted)
    keys = {ArmKey(Role.LISTED, item.variant.name): item for item in compiled}
    arms = await run_arms(context, task, suite, keys.items())
    return {key.variant: arm for key, arm in arms.items() if key.part == 0}


def _matrix(suite: str, tests: Sequence[TestId], arms: Mapping[str, Arm]) -> SuiteMatrix:
    cells: dict[str, dict[str, Cell]] = {str(test): {} for test in tests}
    for variant, arm in arms.items():
        for result in arm.results:
            cells[str(result.test)][variant] = Cell(outcome=result.outcome, quality=result.quality)
    red = tuple(test for test, row in cells.items() if row[BASELINE].outcome is not Outcome.PASSED)
    variants = [name for name in REMOVALS if name in arms]
    variants += sorted(name for name in arms if name not in (BASELINE, *REMOVALS))
    return SuiteMatrix(suite=suite, variants=tuple(variants), cells=cells, baseline=red)


def _write_covers(task: Task, reference: SuiteMatrix) -> Path:
    """Each test with the criteria whose probes it notices: the file says what is, so no criterion overlaps."""
    criteria = {probe.variant: probe.criterion for probe in task.probes}
    path = task.directory / "reference" / "covers.yaml"
    noticed = {
        TestId.parse(test): sorted({criteria[name] for name in criteria if test in reference.killers(name)})
        for test in reference.cells
    }
    path.write_text(covers_text(noticed, {}))
    return path
