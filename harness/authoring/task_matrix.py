"""`testwright task matrix`: the tests of the reference and of the honest suites on each removal and probe, plain."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from harness.authoring.matrix_memory import matrix_memory
from harness.authoring.task_check.context import arm_context_of
from harness.authoring.task_check.fixing import covers_text
from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_check.unasked_mutants import plain_variants, read_suite, suite_matrix
from harness.authoring.task_edit import check_has_patches
from harness.judging.languages.protocol import IdForm
from harness.judging.languages.registry import language_of
from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.languages.variant_source import VariantSource
from harness.judging.submission.manifest import ManifestError, format_manifest, parse_manifest
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.intake import ingest
from harness.judging.verify.suite_checks import static_answers
from harness.runs.concurrency import run_to_end
from harness.runs.engine_session import engine_session
from harness.runs.submissions import Expectation
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.rubric import GradedBy
from harness.specs.task import Task
from harness.specs.task_facts import REFERENCE, KillMatrix, SuiteMatrix
from harness.specs.test_results import TestId
from harness.specs.yaml_files import Inline, Quoted, load_yaml, yaml_text


@dataclass(frozen=True)
class MatrixOrder:
    """Options of a matrix.

    With `fix` manifests, covers.yaml and expect.yaml are written from it; with `honest` the honest suites run beside
    the reference, with `twins` all of them also on what behaves as the code does. With `remember` suites that ran on
    the very same variants aren't run again.
    """

    fix: bool = False
    honest: bool = True
    twins: bool = False
    remember: bool = False


def kill_matrix(catalog: Catalog, name: str, order: MatrixOrder, tell: Callable[[str], None]) -> KillMatrix:
    """Run each suite of a task on each of its variants.

    Args:
        catalog: Where the task lies.
        name: The task's.
        order: The suites and variants, and whether files are written from the matrix.
        tell: Told of each step.

    Raises:
        UserError: The reference or the removal isn't written yet, or the task is of a track that has none.
    """
    task = catalog.task(name)
    check_has_patches(task, "have a matrix")
    return run_to_end(_kill_matrix(catalog, task, order, tell))


async def _kill_matrix(catalog: Catalog, task: Task, order: MatrixOrder, tell: Callable[[str], None]) -> KillMatrix:
    patches = {REFERENCE: task.directory / "reference" / "tests.patch"}
    corpus = corpus_of(catalog.holding(task)) / task.id
    if order.honest:
        patches |= {path.parent.name: path for path in sorted(corpus.glob("*/patch.diff"))}
    suites: list[SuiteMatrix] = []
    written: list[Path] = []
    async with engine_session("docker", uuid4().hex) as session:
        context = await arm_context_of(session, task)
        tree = GitTree(context.image.tree)
        variants = _Variants(context, task, await plain_variants(task, tree, order.twins))
        for name, path in patches.items():
            suite = await read_suite(task, tree, path)
            suites.append(await variants.matrix(name, suite, order.remember, tell))
            if order.fix:
                manifest = path.parent / "manifest.yaml"
                for words in left_out(manifest, suite.tests, language_of(task.repo).ids):
                    tell(words)
                manifest.write_text(format_manifest(suite.tests))
                written.append(manifest)
                if name != REFERENCE:
                    unmet = await _unmet(task, tree, path, suite, suites[-1])
                    written.append(write_expectation(path.parent / "expect.yaml", task.id, unmet))
    if order.fix:
        written.append(_write_covers(task, suites[0]))
    return KillMatrix(task=task.id, suites=tuple(suites), written=tuple(written))


class _Variants:
    """A task's variants, compiled when the first suite has to run on them."""

    def __init__(self, context: ArmContext, task: Task, sources: Sequence[VariantSource]) -> None:
        self._context, self._task, self._sources = context, task, sources
        self._memory = matrix_memory(context, task)
        self._compiled: Sequence[CompiledVariant] | None = None

    async def matrix(self, name: str, suite: Suite, remember: bool, tell: Callable[[str], None]) -> SuiteMatrix:
        if remember and (known := self._memory.recall(suite, self._sources)):
            tell(f"{self._task.id}: {len(suite.tests)} tests of {name} are remembered")
            return known.model_copy(update={"suite": name})
        if self._compiled is None:
            self._compiled = await self._context.toolchain.compile(self._context, self._sources)
        tell(f"{self._task.id}: {len(suite.tests)} tests of {name} on {len(self._compiled)} variants")
        made = await suite_matrix(self._context, self._task, name, suite, self._compiled)
        if remember:
            self._memory.keep(suite, self._sources, made)
        return made


async def _unmet(task: Task, tree: GitTree, patch: Path, suite: Suite, matrix: SuiteMatrix) -> list[str]:
    """Return the must-haves that a suite leaves open, in the rubric's order."""
    changes = (await ingest(tree, task.repo, patch.read_bytes())).changes
    static = static_answers(task, suite.tests, changes, language_of(task.repo).discovery)
    unnoticed = matrix.unnoticed()
    return [
        criterion.id
        for criterion in task.rubric.must_haves
        if (criterion.id in unnoticed if GradedBy.PROBE in criterion.graded_by else not static[criterion.id].holds)
    ]


def write_expectation(path: Path, task: str, unmet: Sequence[str]) -> Path:
    """Write what an honest suite comes to, by the must-haves that it leaves open; what else the file says is kept.

    A test that passes without the behaviour isn't written down as if it were to be so: the check says it.
    """
    known = load_yaml(path, Expectation) if path.is_file() else Expectation(task=task, about="TODO")
    kept = known.model_dump(mode="json", exclude_defaults=True)
    others = [reason.value for reason in known.reasons if reason is not ReasonCode.CRITERION_UNMET]
    facts = {
        "schema_version": 1,
        "about": Quoted(kept.pop("about", "")),
        "task": kept.pop("task"),
        "verdict": (Verdict.FAILED if unmet or others else Verdict.RESOLVED).value,
    }
    reasons = [*others, *([ReasonCode.CRITERION_UNMET.value] if unmet else [])]
    if reasons:
        facts["reasons"] = Inline(reasons)
    if unmet:
        facts["criteria"] = Inline(map(Quoted, unmet))
    rest = {
        name: value
        for name, value in kept.items()
        if name not in ("schema_version", "verdict", "reasons", "criteria")
    }
    path.write_text(yaml_text({**facts, **rest}))
    return path


def left_out(manifest: Path, tests: Sequence[TestId], ids: IdForm) -> Iterator[str]:
    """Yield a line for each test that a manifest lists and that isn't among these: it goes from the manifest."""
    try:
        listed = parse_manifest(manifest.read_bytes(), ids).tests
    except (OSError, ManifestError):  # there is none yet, or none that can be read
        return
    for test in listed:
        if test not in tests:
            yield f"{manifest}: {test} is taken out: the patch beside it has no such test (an inherited one, perhaps)"


def _write_covers(task: Task, reference: SuiteMatrix) -> Path:
    """Write covers.yaml: each test with the criteria whose probes it notices, so that no criterion overlaps."""
    criteria = {probe.variant: probe.criterion for probe in task.probes}
    path = task.directory / "reference" / "covers.yaml"
    noticed = {
        TestId.parse(test): sorted({criteria[name] for name in criteria if test in reference.killers(name)})
        for test in reference.cells
    }
    path.write_text(covers_text(noticed, {}))
    return path
