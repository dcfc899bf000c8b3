"""Mutants of the removed code that known tests kill and no must-have asks for: a lazy suite needn't notice them.

A must-have asks for a mutant where one of its probes changes a line of the mutant, or subsumes it: some known test
notices the probe, and each that does kills the mutant (dynamic subsumption; Ammann, Delamaro and Offutt 2014).

A suite on a task's variants as their patches make them: nothing is drawn or rewritten, and nothing is judged.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from harness.authoring.task_check.fixing import written_tests
from harness.authoring.task_check.honest_corpus import cases_of
from harness.authoring.task_check.subject import Subject
from harness.judging.languages.toolchain import CompiledVariant, JobLimit, JobsStopped
from harness.judging.languages.variant_source import VariantSource
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext, ArmObserver, ArmRunner, Suite
from harness.judging.verify.evidence import BASELINE
from harness.judging.verify.intake import ingest
from harness.judging.verify.mutants.records import MutantRecord, MutantStatus
from harness.judging.verify.mutants.running import MutantOrder, run_mutants
from harness.judging.verify.task_texts import read_texts
from harness.judging.verify.verification import read_submission, suite_of
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.first_few import first_few
from harness.specs.problem import Problem, Severity
from harness.specs.rubric import Importance
from harness.specs.task import Probe, Task
from harness.specs.task_facts import PLACEBO, REFERENCE, REMOVALS, Cell, SuiteMatrix
from harness.specs.test_results import Outcome, TestId
from harness.specs.variants import Arm, ArmKey, Role, VariantKind


async def plain_variants(task: Task, tree: GitTree, with_twins: bool = False) -> list[VariantSource]:
    """Return the code as it is, then the removals and the probes; on request twins and the placebo too.

    Raises:
        UserError: A patch doesn't apply.
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
    """Return the tests that a patch adds or changes.

    Raises:
        UserError: There is none to run.
    """
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
    """Return a suite on each variant. A variant that never ran, since the engine has stopped, has no column."""
    keys = {ArmKey(Role.LISTED, item.variant.name): item for item in compiled}
    arms = await ArmRunner(context, task).run_suite(suite, keys.items())
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
    """Return a test's outcome at the baseline; None where that never ran."""
    return row[BASELINE].outcome if BASELINE in row else None


SECONDS = 1200.0
"""All containers of all suites together, but for those that run when they are over."""
SEED = 0
_NAMED = 2


@dataclass(frozen=True)
class SuiteKills:
    """Variants that the tests of one suite notice. A probe or mutant that it didn't run on is absent."""

    suite: str
    probes: Mapping[str, frozenset[str]]
    mutants: Mapping[str, frozenset[str]]


async def unasked_problems(subject: Subject, count: int) -> list[Problem]:
    """Return a warning for each mutant that no must-have asks for, of `count` that are drawn.

    The reference and the honest suites run on them. How many there are is among the remarks.

    Raises:
        UserError: There can be no mutants of this task.
        SandboxLost: A container was lost.
    """
    task = subject.task
    context = replace(subject.containers, limit=JobLimit(SECONDS), observer=ArmObserver())
    probes = _probes_of_must_haves(task)
    tree = GitTree(context.image.tree)
    found = [each async for each in _kills(subject, context, tree, probes, count)]
    records = {record.id: record for file, _ in found for record in file}
    suites = [kills for _, kills in found]
    lines = await _lines_of(task, tree, probes)
    killed = [each for each in records.values() if _killers(each, suites)]
    unasked = [each for each in killed if not is_asked_for(each, lines, [probe.name for probe in probes], suites)]
    over = "; the time was over before each suite ran on all of them" if context.limit.ran_out_of_time else ""
    by = f"{len(suites)} {'suite' if len(suites) == 1 else 'suites'}"
    subject.remarks.append(
        f"{len(records)} mutants: {len(killed)} are killed by the tests of {by}; a must-have asks for"
        f" {len(killed) - len(unasked)} of these{over}"
    )
    return [*_problems(subject, unasked, suites)]


def is_asked_for(
    mutant: MutantRecord, lines: Mapping[str, Collection[int]], probes: Sequence[str], suites: Sequence[SuiteKills]
) -> bool:
    """Return whether a must-have asks for a mutant, by the rule above. Pure.

    `lines` are those that the must-haves' probes change, by file.
    """
    own = range(mutant.place.line, mutant.place.end_line + 1)
    if any(line in lines.get(mutant.file, ()) for line in own):
        return True
    ran = [suite for suite in suites if mutant.id in suite.mutants]
    return any(_subsumes(probe, mutant.id, ran) for probe in probes)


def _subsumes(probe: str, mutant: str, suites: Sequence[SuiteKills]) -> bool:
    noticed = [(suite, test) for suite in suites for test in suite.probes.get(probe, ())]
    return bool(noticed) and all(test in suite.mutants[mutant] for suite, test in noticed)


def lines_changed(old: bytes, new: bytes) -> frozenset[int]:
    """Return lines of the old text, from 1, that aren't in the new one, and those around lines that are put in."""
    pair = SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    found: set[int] = set()
    for kind, first, last, _, _ in pair.get_opcodes():
        if kind != "equal":
            found |= set(range(first + 1, last + 1)) or {first, first + 1}
    return frozenset(found)


def _probes_of_must_haves(task: Task) -> list[Probe]:
    must = {item.id for item in task.rubric.criteria if item.importance is Importance.MUST}
    return [probe for probe in task.probes if probe.criterion in must]


async def _lines_of(task: Task, tree: GitTree, probes: Sequence[Probe]) -> dict[str, set[int]]:
    texts = await read_texts(task, tree)
    found: dict[str, set[int]] = defaultdict(set)
    for probe in probes:
        for path, text in texts.probes[probe.variant].items():
            found[path] |= lines_changed(texts.pristine[path], text)
    return found


async def _kills(
    subject: Subject, context: ArmContext, tree: GitTree, probes: Sequence[Probe], count: int
) -> AsyncIterator[tuple[Sequence[MutantRecord], SuiteKills]]:
    """Yield each suite's mutants and what it kills, the reference first; nothing of a suite that can't be run."""
    try:
        compiled = await _compiled(subject.task, context, tree, probes)
        for name, submission in _submissions(subject).items():
            examined = await read_submission(subject.task, submission, context)
            if examined.is_refused:
                subject.remarks.append(f"{name}: refused before anything of it runs, so it tells nothing of mutants")
                continue
            matrix = await suite_matrix(context, subject.task, name, suite_of(examined), compiled)
            ran = [probe for probe in probes if probe.variant in matrix.variants]
            noticed = {probe.name: frozenset(matrix.killers(probe.variant)) for probe in ran}
            file = await run_mutants(
                subject.task, submission, context, MutantOrder(count, SEED, SECONDS, coverage=False)
            )
            ended = [each for each in file.mutants if each.status is not MutantStatus.PENDING]
            yield file.mutants, SuiteKills(name, noticed, {each.id: frozenset(each.killed_by) for each in ended})
    except JobsStopped:  # while something was compiled or built
        return


def _submissions(subject: Subject) -> dict[str, Submission]:
    task = subject.task
    reference = Submission(task.patch("reference/tests.patch"), task.patch("reference/manifest.yaml"))
    honest = {case.name: case.submission for case in cases_of(subject) if case.submission}
    return {REFERENCE: reference, **honest}


async def _compiled(task: Task, context: ArmContext, tree: GitTree, probes: Sequence[Probe]) -> list[CompiledVariant]:
    """Return the code as it is and these probes."""
    wanted = {BASELINE, *(probe.variant for probe in probes)}
    sources = [source for source in await plain_variants(task, tree) if source.name in wanted]
    return await context.toolchain.compile(context, sources)


def _killers(mutant: MutantRecord, suites: Sequence[SuiteKills]) -> list[str]:
    return [
        test if suite.suite == REFERENCE else f"{test} of {suite.suite}"
        for suite in suites
        for test in sorted(suite.mutants.get(mutant.id, ()))
    ]


def _problems(subject: Subject, unasked: Sequence[MutantRecord], suites: Sequence[SuiteKills]) -> Iterator[Problem]:
    by_line: dict[tuple[str, int], list[MutantRecord]] = defaultdict(list)
    for each in unasked:
        by_line[each.file, each.place.line].append(each)
    for (file, line), mutants in sorted(by_line.items()):
        what = "; ".join(f"{each.description} ({each.id})" for each in mutants)
        tests = list(dict.fromkeys(test for each in mutants for test in _killers(each, suites)))
        notice = f"{first_few(tests, _NAMED)} {'notices it' if len(tests) == 1 else 'notice it'}"
        words = f"{file}:{line}: tests that meet every must-have can miss that {what}; {notice}"
        yield Problem(where=subject.at("probes"), message=words, severity=Severity.WARNING)
