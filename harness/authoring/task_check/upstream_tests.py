"""Upstream's remaining tests that notice a probe: an agent may copy them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from harness.authoring.task_check.subject import Subject
from harness.judging.languages.registry import language_of
from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.verify.arms import ArmContext, ArmObserver, ArmRunner, Suite
from harness.judging.verify.evidence import EXISTING_BEFORE
from harness.judging.verify.variants import plan_variants
from harness.sandbox.git_tree import GitTree
from harness.specs.first_few import first_few
from harness.specs.problem import Problem, Severity
from harness.specs.test_results import Outcome, TestId
from harness.specs.variants import Arm, ArmKey, Role, VariantKind

ARM_SECONDS = 10.0
"""Seconds of the chosen tests together at baseline: they run once per probe, and there may be a dozen of those."""
MAX_FILES = 8
_NAMED = 3


async def upstream_problems(subject: Subject) -> list[Problem]:
    """Return a warning for each of upstream's tests that notices a probe; how many were run is among the remarks.

    Raises:
        UserError: The task is wrong.
        SandboxLost: A container was lost.
    """
    context = replace(subject.containers, observer=ArmObserver())
    tree = GitTree(context.image.tree)
    near, all_files = await near_files(subject, tree)
    baseline, probes = await _variants(subject, context, tree)
    tests = await tests_of(subject, tree, near[:MAX_FILES])
    if not tests:
        words = f"the {len(near)} near the code have no test of their own" if near else "none is near the code"
        subject.remarks.append(f"of upstream's {all_files} remaining test files {words}")
        return []
    suite = Suite(tests, {}, seconds=10 * subject.task.file.limits.arm_seconds)
    runner = ArmRunner(context, subject.task)
    [before] = (await runner.run_suite(suite, [(EXISTING_BEFORE, baseline)])).values()
    chosen = tuple(affordable(before))
    found: list[Problem] = []
    if chosen:
        suite = replace(suite, tests=chosen)
        arms = await runner.run_suite(
            suite,
            [(ArmKey(Role.EXISTING_BEFORE, item.variant.name), item) for item in probes],
        )
        found = [*_noticed(subject, arms)]
    words = f"{len(chosen)} of the {len(tests)} tests of {min(len(near), MAX_FILES)} files"
    subject.remarks.append(f"each probe met {words} near the code; upstream has {all_files} test files left")
    return found


async def near_files(subject: Subject, tree: GitTree) -> tuple[list[str], int]:
    """Return test files beside the touched code or that name one of its files, nearest first, and their number."""
    discovery = language_of(subject.task.repo).discovery
    removed = await tree.apply(subject.task.patch("removal.patch"))
    touched = [PurePosixPath(change.path) for change in await tree.changes(removed)]
    stems = re.compile("|".join(rf"(?<![A-Za-z0-9]){re.escape(path.stem)}(?![A-Za-z0-9])" for path in touched))
    entries = {path: entry for path, entry in (await tree.entries()).items() if discovery.is_test_file(path)}
    contents = await tree.read_all(entries)
    ranks = {}
    for path, data in contents.items():
        named = len(stems.findall(data.decode(errors="replace"))) + 10 * len(stems.findall(path))
        if named or PurePosixPath(path).parent in [other.parent for other in touched]:
            ranks[path] = -named
    return sorted(ranks, key=lambda path: (ranks[path], path)), len(entries)


async def tests_of(subject: Subject, tree: GitTree, files: Sequence[str]) -> tuple[TestId, ...]:
    """Return the tests of some files of the tree."""
    discovery = language_of(subject.task.repo).discovery
    found = []
    for path in files:
        tests = discovery.discover(await tree.read(path), path)
        found += [TestId(path, test.name) for test in tests.tests if test.name not in tests.twice]
    return tuple(found)


async def _variants(
    subject: Subject, context: ArmContext, tree: GitTree
) -> tuple[CompiledVariant, list[CompiledVariant]]:
    toolchain = context.toolchain
    sources = await plan_variants(subject.task, tree, toolchain, 0)
    wanted = [item for item in sources if item.kind in (VariantKind.BASELINE, VariantKind.PROBE)]
    compiled = await toolchain.compile(context, wanted)
    return compiled[0], compiled[1:]


def affordable(baseline: Arm) -> Iterator[TestId]:
    """Yield as many green tests as an arm has time for, in order: the nearest files come first."""
    spent = 0.0
    for item in baseline.results:
        if item.outcome is Outcome.PASSED:
            spent += item.seconds
            if spent > ARM_SECONDS:
                return
            yield item.test


def _noticed(subject: Subject, arms: Mapping[ArmKey, Arm]) -> Iterator[Problem]:
    probes = {probe.variant: probe for probe in subject.task.probes}
    for key, arm in arms.items():
        killers = sorted(str(item.test) for item in arm.results if item.killed)
        if killers:
            words = f"upstream's remaining tests notice it too: {first_few(killers, _NAMED)}"
            where = subject.at(f"probes/{probes[key.variant].path.name}")
            yield Problem(where=where, message=words, severity=Severity.WARNING)
