"""Tests that the submission never saw, and drawn inputs, on the trees that it makes.

No result depends on what a repair writes by itself: beside the reports, which are read as those of any arm, it must
answer inputs that were drawn after it was handed in as the fixed code does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.authoring.task_check.fuzzing import FUZZ_FILE, FuzzCall, drawn_suite, read_calls
from harness.judging.languages.registry import language_of
from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.languages.variant_source import VariantSource
from harness.judging.submission.manifest import ManifestError, parse_manifest
from harness.judging.verify.arms import ArmContext, ArmObserver, ArmRunner, Suite
from harness.plugins.bug.task import BugTask
from harness.sandbox.git import GitError
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import JobResult
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.specs.test_results import Outcome, Quality, TestId
from harness.specs.variants import Arm, ArmKey, Role, VariantKind

LOCATED, REPAIRED, UPSTREAM = "located", "repaired", "repaired-upstream"
"""Arms: the reference of the base task on the fixed spans and on the repair, and upstream's tests on the repair.

On the repair the test of the reported input runs as well.
"""
ELSEWHERE = "repaired-elsewhere"
"""The arm of the same tests on what a repair changes far from every known fix."""
REPORTED = "reported"
"""The folder with the test of the reported input."""
DRAWN = ("repaired-drawn-1", "repaired-drawn-2")
"""Arms of drawn inputs on the repair, one a seed; the last one as where the code is in use."""
UPSTREAM_TIMES = 10
"""Upstream's tests may take so many times as long as an arm."""
SEED_BITS = 31


def hidden_arm(name: str) -> ArmKey:
    """Return the arm of this name."""
    return ArmKey(Role.HIDDEN, name)


async def reference_suite(task: Task, tree: GitTree, folder: str = "reference") -> Suite:
    """Return the tests that lie in a folder of a task, as they are in `tree`.

    Raises:
        UserError: Patch or manifest can't be read.
    """
    tests = _manifest_of(task, folder)
    return Suite(tests, *await _laid(tree, task.directory / folder / "tests.patch"))


async def shown_on_repairs(task: BugTask, tree: GitTree) -> Suite:
    """Return the reference of the base task and the test of the reported input as one suite.

    Raises:
        UserError: A patch or manifest can't be read.
    """
    return together(await reference_suite(task.base, tree), await reference_suite(task, tree, REPORTED))


def together(one: Suite, other: Suite) -> Suite:
    """Return two suites of different files as one: an arm costs more than the tests in it."""
    return Suite((*one.tests, *other.tests), {**one.files, **other.files}, one.executable | other.executable)


def reported_tests(task: BugTask) -> frozenset[TestId]:
    """Return the test of the reported input. Raise UserError where its manifest can't be read."""
    return frozenset(_manifest_of(task, REPORTED))


async def upstream_suite(task: BugTask, tree: GitTree) -> Suite:
    """Return the withheld tests and those left in the tree that a repair must pass.

    Raises:
        UserError: The list of hidden tests is wrong.
    """
    files, executable = await withheld_files(task, tree)
    seconds = UPSTREAM_TIMES * task.file.limits.arm_seconds
    return Suite(task.hidden.tests, files, executable, seconds=seconds)


async def withheld_files(task: BugTask, tree: GitTree) -> tuple[dict[str, bytes], frozenset[str]]:
    """Return the files that were withheld from the base task, and which of them are programs.

    Raises:
        UserError: The patch can't be read.
    """
    return await _laid(tree, task.base.path("withheld.patch"), reverse=True)


def _manifest_of(task: Task, folder: str = "reference") -> tuple[TestId, ...]:
    name = f"{folder}/manifest.yaml"
    try:
        return parse_manifest(task.patch(name), language_of(task.repo).ids).tests
    except ManifestError as error:
        raise UserError(f"{task.path(name)}: {error}") from None


async def _laid(tree: GitTree, path: Path, reverse: bool = False) -> tuple[dict[str, bytes], frozenset[str]]:
    """Return the files that a patch changes, as they are with it or with it taken back, and those that are programs.

    Raises UserError.
    """
    try:
        changes = await tree.changes(await tree.apply(path.read_bytes(), reverse=reverse))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    except GitError as error:
        raise UserError(f"{path}: does not apply to the tree with the bug: {error}") from None
    written = {change.path: change.new for change in changes if change.new}
    programs = frozenset(path for path, entry in written.items() if entry.mode == "100755")
    return await tree.read_all(written), programs


class Reports(ArmObserver):
    """An observer that keeps what fuzz files wrote in each arm, and tells another observer what it hears."""

    def __init__(self, observer: ArmObserver) -> None:
        self.written: dict[ArmKey, bytes] = {}
        self._observer = observer

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self.written[key] = result.outputs.get(FUZZ_FILE, b"")
        self._observer.printed(key, result)

    def ended(self, key: ArmKey, arm: Arm) -> None:
        self._observer.ended(key, arm)


async def drawn_calls(
    context: ArmContext, task: Task, variants: Mapping[ArmKey, CompiledVariant], seeds: Mapping[ArmKey, int]
) -> tuple[dict[ArmKey, Arm], dict[ArmKey, list[FuzzCall]]]:
    """Return the arm of the fuzz files on each variant, with the seed of its key, and the calls that it wrote down.

    Raises:
        SandboxLost: An arm was lost again and again.
    """
    reports = Reports(context.observer)
    runner = ArmRunner(replace(context, observer=reports), task)
    seeded = [
        (key, replace(item, env={**item.env, "TESTWRIGHT_FUZZ_SEED": str(seeds[key])}))
        for key, item in variants.items()
    ]
    arms = await runner.run_suite(drawn_suite(task), seeded)
    return arms, {key: read_calls(reports.written.get(key, b"")) for key in variants}


def first_difference(right: Sequence[FuzzCall], theirs: Sequence[FuzzCall]) -> str:
    """Return in words where calls were answered in another way; empty where nowhere. Pure."""
    for mine, other in zip(right, theirs, strict=False):
        if mine != other:
            return f"{mine.input[:100]!r} gives {other.result[:100]!r}, not {mine.result[:100]!r}"
    if len(right) != len(theirs):
        return f"{len(theirs)} calls are answered where the fixed code answers {len(right)}"
    return ""


def compared(arm: Arm, difference: str) -> Arm:
    """Return an arm of drawn inputs as one whose tests fail where the answers differ from the fixed code's."""
    if not difference:
        return arm
    failed = {"outcome": Outcome.FAILED, "quality": Quality.ASSERTION, "message": difference}
    results = tuple(
        item.model_copy(update=failed) if item.outcome is Outcome.PASSED else item for item in arm.results
    )
    return replace(arm, results=results)


def plain_variant(name: str, texts: Mapping[str, bytes]) -> VariantSource:
    """Return a variant whose text on disk is what runs, as it is written."""
    return VariantSource(name, VariantKind.BASELINE, texts, texts)
