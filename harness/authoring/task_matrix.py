"""`testwright task matrix`: the tests of the reference and of the honest suites on each removal and probe, plain."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from uuid import uuid4

from harness.authoring.task_check.context import arm_context_of
from harness.authoring.task_check.fixing import covers_text
from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_check.unasked_mutants import plain_variants, read_suite, suite_matrix
from harness.judging.languages.protocol import IdForm
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import ManifestError, format_manifest, parse_manifest
from harness.runs.concurrency import run_to_end
from harness.runs.engine_session import engine_session
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.task import Task
from harness.specs.task_facts import REFERENCE, KillMatrix, SuiteMatrix
from harness.specs.test_results import TestId


def kill_matrix(
    catalog: Catalog, name: str, fix: bool, honest: bool, tell: Callable[[str], None], twins: bool = False
) -> KillMatrix:
    """Run each suite on each variant, with `twins` also on what behaves as the code does.

    Raises UserError for a task whose reference or removal isn't written yet.
    """
    return run_to_end(_kill_matrix(catalog, catalog.task(name), fix, honest, tell, twins))


async def _kill_matrix(
    catalog: Catalog, task: Task, fix: bool, honest: bool, tell: Callable[[str], None], twins: bool
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
        sources = await plain_variants(task, tree, twins)
        compiled = await context.toolchain.compile(context, sources)
        for name, path in patches.items():
            suite = await read_suite(task, tree, path)
            tell(f"{task.id}: {len(suite.tests)} tests of {name} on {len(compiled)} variants")
            suites.append(await suite_matrix(context, task, name, suite, compiled))
            if fix:
                manifest = path.parent / "manifest.yaml"
                for words in left_out(manifest, suite.tests, language_of(task.repo).ids):
                    tell(words)
                manifest.write_text(format_manifest(suite.tests))
                written.append(manifest)
    if fix:
        written.append(_write_covers(task, suites[0]))
    return KillMatrix(task=task.id, suites=tuple(suites), written=tuple(written))


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
    """Return each test with the criteria whose probes it notices: the file says what is, so no criterion overlaps."""
    criteria = {probe.variant: probe.criterion for probe in task.probes}
    path = task.directory / "reference" / "covers.yaml"
    noticed = {
        TestId.parse(test): sorted({criteria[name] for name in criteria if test in reference.killers(name)})
        for test in reference.cells
    }
    path.write_text(covers_text(noticed, {}))
    return path
