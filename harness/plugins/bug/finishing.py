"""Finds by running tests what judges a bug: those that show it, and those of upstream; writes a reference."""

from dataclasses import dataclass
from pathlib import Path

from harness.authoring.task_check.subject import Subject
from harness.authoring.task_check.upstream_tests import MAX_FILES, affordable, near_files, tests_of
from harness.judging.languages.registry import language_of
from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.submission.manifest import format_manifest
from harness.judging.testing.readers import has_titles
from harness.judging.verify.arms import ArmContext, ArmRunner, Suite
from harness.judging.verify.evidence import passed
from harness.plugins.bug.hidden import UPSTREAM_TIMES, hidden_arm, plain_variant, reference_suite, withheld_files
from harness.plugins.bug.making import go_imports_in_use, removed_lines, without_empty_classes, without_empty_groups
from harness.plugins.bug.spans import FAULT_FILE, gold_spans
from harness.plugins.bug.task import BugTask, HiddenTests
from harness.plugins.bug.texts import read_bug_texts
from harness.sandbox.git_tree import GitTree, NewFile
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.test_results import TestId
from harness.specs.variants import VariantKind
from harness.specs.yaml_files import yaml_text


@dataclass(frozen=True)
class Bench:
    """A bug's task with its fixed and its buggy code, ready to run tests on."""

    context: ArmContext
    task: BugTask
    tree: GitTree
    fixed: CompiledVariant
    buggy: CompiledVariant

    @classmethod
    async def of(cls, context: ArmContext, task: BugTask) -> "Bench":
        """Compile what a repair is tested on.

        Raises:
            UserError: A patch doesn't apply, or code doesn't compile.
        """
        tree = GitTree(context.image.tree)
        texts = await read_bug_texts(task, tree)
        both = {"fixed": texts.pristine, "buggy": texts.removals[VariantKind.REMOVAL]}
        sources = [plain_variant(name, each) for name, each in both.items()]
        fixed, buggy = await context.toolchain.compile(context, sources)
        return cls(context, task, tree, fixed, buggy)

    async def passing(self, suite: Suite, variant: CompiledVariant) -> frozenset[TestId]:
        """Return the tests of a suite that pass on a variant."""
        if not suite.tests:
            return frozenset()
        key = hidden_arm(variant.variant.name)
        return frozenset(passed((await ArmRunner(self.context, self.task).run_suite(suite, [(key, variant)]))[key]))


async def find_hidden(catalog: Catalog, bench: Bench) -> HiddenTests:
    """Return the hidden tests of a bug.

    Raises:
        UserError: The reference of the base task doesn't show it, or tests that an agent sees do.
    """
    task, tree = bench.task, bench.tree
    reference = await reference_suite(task.base, tree)
    right = await bench.passing(reference, bench.fixed)
    if red := sorted(set(reference.tests) - right):
        raise UserError(f"{task.directory}: {red[0]} of the base's reference fails on the fixed tree")
    still_right = await bench.passing(reference, bench.buggy)
    showing = [test for test in reference.tests if test not in still_right]
    if not showing:
        raise UserError(f"{task.directory}: no test of the base's reference shows this bug")
    seconds = UPSTREAM_TIMES * task.file.limits.arm_seconds
    files, executable = await withheld_files(task, tree)
    discovery = language_of(task.repo).discovery
    tests = [
        TestId(path, test.name)
        for path, text in sorted(files.items())
        if discovery.is_test_file(path)
        for test in discovery.discover(text, path).tests
    ]
    withheld = Suite(tuple(dict.fromkeys(tests)), files, executable, seconds=seconds)
    existing = await _existing(catalog, bench, seconds)
    if told := sorted(set(existing) - await bench.passing(Suite(existing, {}, seconds=seconds), bench.buggy)):
        raise UserError(f"{task.directory}: {told[0]}, which an agent has, shows this bug; choose another probe")
    kept = await bench.passing(withheld, bench.fixed)
    return HiddenTests(
        withheld=_by_file([test for test in withheld.tests if test in kept]),
        existing=_by_file([test for test in existing if test.file not in files]),
        showing=_by_file(showing),
    )


async def _existing(catalog: Catalog, bench: Bench, seconds: float) -> tuple[TestId, ...]:
    """Return the tests near the code that are left in the agent's tree and pass on the fixed code."""
    subject = Subject(catalog.holding(bench.task), bench.task, bench.tree, bench.context)
    near, _ = await near_files(subject, bench.tree)
    tests = await tests_of(subject, bench.tree, near[:MAX_FILES])
    if not tests:
        return ()
    key = hidden_arm("existing")
    arms = await ArmRunner(bench.context, bench.task).run_suite(
        Suite(tests, {}, seconds=seconds), [(key, bench.fixed)]
    )
    return tuple(affordable(arms[key]))


def _by_file(tests: list[TestId]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for test in tests:
        found.setdefault(test.file, []).append(test.name)
    return {file: tuple(names) for file, names in found.items()}


async def write_reference(bench: Bench, shown_by: frozenset[TestId], scratch: Path) -> None:
    """Write a whole hand-in: the base's tests that show the bug, the fix, and its place."""
    task, tree = bench.task, bench.tree
    suite = await reference_suite(task.base, tree)
    texts = await read_bug_texts(task, tree)
    buggy, fixed = texts.removals[VariantKind.REMOVAL], texts.pristine
    spans = [{"file": span.file, "lines": [span.first, span.last]} for span in gold_spans(buggy, fixed)]
    files = {path: text for path, text in fixed.items() if text != buggy[path]}
    files |= {FAULT_FILE: yaml_text(spans).encode()}
    files |= _cut(task, suite, shown_by)
    new = [NewFile(path, "100644", _stored(scratch, path, text)) for path, text in files.items()]
    directory = task.directory / "reference"
    directory.mkdir(exist_ok=True)
    (directory / "tests.patch").write_bytes(await tree.diff(await tree.import_changes(new, ())))
    (directory / "manifest.yaml").write_text(format_manifest([test for test in suite.tests if test in shown_by]))


def _stored(scratch: Path, path: str, text: bytes) -> Path:
    place = scratch / path.replace("/", "_")
    place.write_bytes(text)
    return place


def _cut(task: BugTask, suite: Suite, shown_by: frozenset[TestId]) -> dict[str, bytes]:
    """Return the files of the reference with those of its tests alone that show the bug."""
    discovery, found = language_of(task.repo).discovery, {}
    for path, text in suite.files.items():
        mine = [test for test in suite.tests if test.file == path]
        if mine and not any(test in shown_by for test in mine):
            continue
        others = {test.name for test in mine if test not in shown_by}
        ranges = [
            (test.last_line - test.text.rstrip(b"\n").count(b"\n"), test.last_line)
            for test in discovery.discover(text, path).tests
            if test.name in others
        ]
        found[path] = _tidied(path, removed_lines(text, ranges))
    return found


def _tidied(path: str, text: bytes) -> bytes:
    """Return a file of tests without what a compiler or a runner refuses once some of its tests are gone."""
    if path.endswith(".go"):
        return go_imports_in_use(text)
    if path.endswith(".py"):
        return without_empty_classes(text)
    return without_empty_groups(text) if has_titles(path) else text
