"""The check of a task with a bug: what its files say, and what its fixes, its reference and drawn inputs do."""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from harness.authoring.task_check.context import Part as CheckPart
from harness.authoring.task_check.context import TrackChecks
from harness.authoring.task_check.controls import hand_in
from harness.authoring.task_check.fuzzing import FuzzCall
from harness.authoring.task_check.subject import Subject
from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext, ArmObserver, ArmRunner, Suite
from harness.judging.verify.evidence import passed
from harness.judging.verify.task_texts import Files, TaskTexts
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.plugins.bug.grading import grade
from harness.plugins.bug.hidden import (
    REPORTED,
    SEED_BITS,
    drawn_calls,
    first_difference,
    hidden_arm,
    plain_variant,
    reference_suite,
    together,
    upstream_suite,
)
from harness.plugins.bug.parts import shows_a_fault
from harness.plugins.bug.spans import SpanError, gold_spans
from harness.plugins.bug.task import FIX, HIDDEN, NO_WRONG_FIX, PLAIN, PLAIN_BUG, WRONG, WRONG_FIX, BugTask, bug_task
from harness.plugins.bug.texts import read_bug_texts
from harness.sandbox.git_tree import GitTree
from harness.specs.problem import Problem, Severity
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.task_facts import Level, StepId
from harness.specs.test_results import TestId
from harness.specs.variants import VariantKind

FEWEST_PARTIAL, FEWEST_ALTERNATIVES = 2, 1
SEEDS, MOST_SEEDS = 2, 8
"""Numbers that every variant's inputs are drawn with, and how many until a bug must have shown."""
_BUGGY, _FIXED = "buggy", "fixed"
_PLAIN, _PLAIN_BUG = "plain", "plain-bug"
_NEEDED = ("report.md", HIDDEN, FIX, "reference/tests.patch", "reference/manifest.yaml", "reported/tests.patch")


async def file_problems(subject: Subject) -> list[Problem]:
    """Return what is missing of the task's files, and what its report gives away."""
    task = bug_task(subject.task)
    missing = [name for name in _NEEDED if not task.path(name).is_file()]
    found = [
        Problem(where=subject.at(name), message="is missing; testwright task bug says how it is made")
        for name in missing
    ]
    for folder, there, fewest in (
        ("partial", len(task.probes), FEWEST_PARTIAL),
        ("alternatives", len(task.twins), FEWEST_ALTERNATIVES),
    ):
        if there < fewest:
            found.append(Problem(where=subject.at(folder), message=f"has {there} patches; a bug needs {fewest}"))
    if missing:
        return found
    if not task.hidden.showing:
        found.append(Problem(where=subject.at(HIDDEN), message="showing: no hidden test shows the bug"))
    return [*found, *_given_away(subject, task)]


def _given_away(subject: Subject, task: BugTask) -> Iterator[Problem]:
    """Yield the files of the fix that the report names."""
    for line in task.patch(FIX).decode(errors="replace").splitlines():
        path = line.removeprefix("+++ b/") if line.startswith("+++ b/") else ""
        if path and (path in task.objective or path.rpartition("/")[2] in task.objective):
            words = f"names {path}, where the fault is; say what was seen, not where it comes from"
            yield Problem(where=subject.at("report.md", path), message=words)


async def patch_problems(subject: Subject) -> list[Problem]:
    """Return what is wrong with the patches upon the agent's tree."""
    if subject.tree is None:
        return []
    task = bug_task(subject.task)
    texts = await read_bug_texts(task, subject.tree)
    buggy, fixed = _buggy(texts), texts.pristine
    found: list[Problem] = []
    try:
        gold_spans(buggy, fixed)
    except SpanError as error:
        found.append(Problem(where=subject.at(FIX), message=str(error)))
    if WRONG_FIX.variant not in texts.probes:
        found.append(Problem(where=subject.at(WRONG), message=NO_WRONG_FIX))
    for name, text in {**texts.twins, **texts.probes}.items():
        if text in (fixed, buggy):
            words = f"is the {'fix' if text == fixed else 'buggy code'} itself, text for text"
            found.append(Problem(where=_at(subject, task, name), message=words))
    return found


def _buggy(texts: TaskTexts) -> Files:
    return texts.removals[VariantKind.REMOVAL]


def _at(subject: Subject, task: BugTask, variant: str) -> str:
    files = {probe.variant: f"partial/{probe.path.name}" for probe in task.probes}
    files |= {twin.variant: f"alternatives/{twin.path.name}" for twin in task.twins}
    files |= {_FIXED: FIX, _BUGGY: "withheld.patch", WRONG_FIX.variant: WRONG, _PLAIN: PLAIN, _PLAIN_BUG: PLAIN_BUG}
    return subject.at(files.get(variant, BugTask.DESCRIPTION))


@dataclass(frozen=True)
class _Bench:
    """The task's code in each of its forms, compiled, and where tests run on it."""

    context: ArmContext
    task: BugTask
    tree: GitTree
    compiled: Mapping[str, CompiledVariant]

    @classmethod
    async def of(cls, subject: Subject, in_upstreams_text: bool = False) -> "_Bench":
        """Compile the fix, the bug and all other fixes; where asked for, fix and bug in upstream's text as well."""
        task, context = bug_task(subject.task), replace(subject.containers, observer=ArmObserver())
        tree = GitTree(context.image.tree)
        texts = await read_bug_texts(task, tree)
        forms = {_FIXED: texts.pristine, _BUGGY: _buggy(texts), **texts.twins, **texts.probes}
        forms.pop(WRONG_FIX.variant, None)  # has a part of the check for itself
        if in_upstreams_text:
            plain = {_PLAIN: texts.placebo, _PLAIN_BUG: texts.removals.get(VariantKind.GARBAGE)}
            forms |= {name: each for name, each in plain.items() if each is not None}
        sources = [plain_variant(name, each) for name, each in forms.items()]
        made = await context.toolchain.compile(context, sources)
        return cls(context, task, tree, {item.variant.name: item for item in made})

    async def failing(self, suite: Suite, names: Iterable[str]) -> dict[str, frozenset[TestId]]:
        """Return the tests of a suite that don't pass, by variant."""
        arms = [(hidden_arm(name), self.compiled[name]) for name in names]
        shown = await ArmRunner(self.context, self.task).run_suite(suite, arms)
        return {key.variant: frozenset(suite.tests) - passed(arm) for key, arm in shown.items()}

    async def calls(self, names: Iterable[str], seed: int) -> dict[str, list[FuzzCall]]:
        """Return the calls of the fuzz files, by variant."""
        keys = {hidden_arm(name): self.compiled[name] for name in names}
        _, calls = await drawn_calls(self.context, self.task.base, keys, dict.fromkeys(keys, seed))
        return {key.variant: found for key, found in calls.items()}


async def fix_problems(subject: Subject) -> list[Problem]:
    """Return partial fixes that aren't partial, alternatives that are, and what tests that agents have notice."""
    bench = await _Bench.of(subject)
    task = bench.task
    partial, alternatives = [probe.variant for probe in task.probes], [twin.variant for twin in task.twins]
    found: list[Problem] = []

    def wrong(name: str, words: str) -> None:
        found.append(Problem(where=_at(subject, task, name), message=words))

    reported, of_base = (
        await reference_suite(task, bench.tree, REPORTED),
        await reference_suite(task.base, bench.tree),
    )
    if reported.files.keys() & of_base.files.keys():
        words = "write this test in a file that the base's reference hasn't"
        return [Problem(where=subject.at("reported/tests.patch"), message=words)]
    failing = await bench.failing(together(reported, of_base), bench.compiled)
    for name, failed in failing.items():
        if (name == _BUGGY) != bool(failed.intersection(reported.tests)):
            wrong(name, f"the test of the reported input {'passes' if name == _BUGGY else 'fails'} on it")
    hidden = {name: failed.difference(reported.tests) for name, failed in failing.items()}
    whole = await bench.failing(await reference_suite(task, bench.tree), bench.compiled)
    for name in partial:
        if not whole[name]:
            wrong(name, "the reference's tests pass on it, so they don't show that it is partial")
        if not hidden[name]:
            words = "the base's reference passes on it: only drawn inputs would tell it from a repair"
            found.append(Problem(where=_at(subject, task, name), message=words, severity=Severity.WARNING))
    for name in (_FIXED, *alternatives):
        for test in sorted(whole[name] | hidden[name]):
            wrong(name, f"{test} fails on it")
    if hidden[_BUGGY] != task.hidden.shown_by:
        words = f"showing: {len(hidden[_BUGGY])} tests of the base's reference fail on the buggy tree, not these"
        found.append(Problem(where=subject.at(HIDDEN, "showing"), message=words))
    return [*found, *await _upstream_problems(subject, bench, alternatives)]


async def wrong_fix_problems(subject: Subject) -> list[Problem]:
    """Return the tests of reference and report that don't fail, as tests do, on the wrong fix."""
    task, context = bug_task(subject.task), replace(subject.containers, observer=ArmObserver())
    tree = GitTree(context.image.tree)
    name, texts = WRONG_FIX.variant, await read_bug_texts(task, tree)
    if name not in texts.probes:
        return [Problem(where=subject.at(WRONG), message=NO_WRONG_FIX)]
    suite = together(await reference_suite(task, tree), await reference_suite(task, tree, REPORTED))
    key = hidden_arm(name)
    [compiled] = await context.toolchain.compile(context, [plain_variant(name, texts.probes[name])])
    arm = (await ArmRunner(context, task).run_suite(suite, [(key, compiled)]))[key]
    subject.remarks.append(f"{len(suite.tests)} tests")
    words = "fails neither by an assertion nor by an exception or a crash on the wrong fix"
    return [
        Problem(where=_at(subject, task, name), message=f"{item.test} {words}")
        for item in arm.results
        if not shows_a_fault(item)
    ]


async def _upstream_problems(subject: Subject, bench: _Bench, alternatives: Iterable[str]) -> list[Problem]:
    task, found = bench.task, []
    suite = await upstream_suite(task, bench.tree)
    if not suite.tests:
        return []
    subject.remarks.append(f"{len(suite.tests)} tests of upstream, on the fixed code and each alternative")
    failed = await bench.failing(suite, (_FIXED, *alternatives))
    for name, tests in failed.items():
        found += [Problem(where=_at(subject, task, name), message=f"{test} fails on it") for test in sorted(tests)]
    existing = Suite(
        tuple(test for test in suite.tests if test.file in task.hidden.existing), {}, seconds=suite.seconds
    )
    if existing.tests:
        noticed = (await bench.failing(existing, [_BUGGY]))[_BUGGY]
        for test in sorted(noticed):
            words = f"{test}, which agents have, fails on the buggy tree; choose another probe"
            found.append(Problem(where=subject.at(BugTask.DESCRIPTION, "bug"), message=words))
    return found


async def drawn_problems(subject: Subject) -> list[Problem]:
    """Return the problems that drawn inputs show.

    They are alternatives that inputs tell from the fix, a bug in upstream's text that they tell from the bug, a bug
    that no drawn call shows, and, as warnings, partial fixes that none does.
    """
    bench = await _Bench.of(subject, in_upstreams_text=True)
    found: list[Problem] = []
    partial = {probe.variant for probe in bench.task.probes}
    unseen = {_BUGGY, *partial}
    for number in range(MOST_SEEDS):
        if number >= SEEDS and _BUGGY not in unseen:
            break
        names = bench.compiled if number < SEEDS else (_FIXED, _BUGGY)
        seed = secrets.randbits(SEED_BITS)
        calls = await bench.calls(names, seed)
        right = calls.pop(_FIXED)
        subject.remarks.append(f"seed {seed}: {len(right)} calls of {len(calls) + 1} variants")
        if not right:
            words = "the base's fuzz file calls nothing"
            return [Problem(where=subject.at(BugTask.DESCRIPTION, "base"), message=words)]
        plain_bug = calls.pop(_PLAIN_BUG, calls[_BUGGY])
        if words := first_difference(calls[_BUGGY], plain_bug):
            where = _at(subject, bench.task, _PLAIN_BUG)
            found.append(Problem(where=where, message=f"is another fault than the bug: {words} (seed {seed})"))
        different = {name: words for name, theirs in calls.items() if (words := first_difference(right, theirs))}
        for name, words in different.items():
            if name not in (_BUGGY, *partial):
                where = _at(subject, bench.task, name)
                found.append(Problem(where=where, message=f"changes behaviour: {words} (seed {seed})"))
        unseen -= different.keys()
    for name in sorted(unseen):
        words = "no drawn call of the base's fuzz file tells it from the fix"
        severity = Severity.ERROR if name == _BUGGY else Severity.WARNING
        found.append(Problem(where=_at(subject, bench.task, name), message=words, severity=severity))
    return found


async def reference_problems(subject: Subject) -> list[Problem]:
    """Return why the reference isn't resolved. Once is enough: its tests are those of the base's reference."""
    task = bug_task(subject.task)
    submission = Submission(task.patch("reference/tests.patch"), task.patch("reference/manifest.yaml"))
    return list(_unresolved(subject, await _record(subject, submission)))


async def nop_problems(subject: Subject) -> list[Problem]:
    """Return why handing in nothing isn't failed."""
    record = await _record(subject, await hand_in(subject, "nop"))
    return [*_not_failed(subject, "handing in nothing", record)]


async def worthless_problems(subject: Subject) -> list[Problem]:
    """Return a partial fix that passes for a repair, of all the first."""
    task = bug_task(subject.task)
    found: list[Problem] = []
    for probe in islice(task.probes, 1):
        record = await _record(subject, Submission(probe.path.read_bytes(), b""))
        found += _not_failed(subject, "a partial fix alone", record)
        if not any(reason.subject == "repair" for reason in record.reasons):
            found.append(Problem(where=_at(subject, task, probe.variant), message="passes for a repair"))
    return found


async def _record(subject: Subject, submission: Submission) -> VerdictRecord:
    context = replace(subject.containers, observer=ArmObserver())
    return (await grade(Judging(subject.task, context), submission)).record


def _unresolved(subject: Subject, record: VerdictRecord) -> Iterator[Problem]:
    for reason in record.reasons:
        words = f"the reference is {record.verdict}: {reason.code}: {reason.subject}: {reason.words}"
        yield Problem(where=subject.at("reference/tests.patch"), message=words)


def _not_failed(subject: Subject, what: str, record: VerdictRecord) -> Iterator[Problem]:
    if record.verdict is not Verdict.FAILED:
        yield Problem(where=subject.at(BugTask.DESCRIPTION), message=f"{what} is {record.verdict}; it must be failed")


_GATE: Mapping[StepId, CheckPart] = {
    StepId.ALTERNATIVE_FIXES: fix_problems,
    StepId.WRONG_FIX: wrong_fix_problems,
    StepId.FUZZ: drawn_problems,
    StepId.REFERENCE_ONCE: reference_problems,
    StepId.NOP: nop_problems,
    StepId.WORTHLESS_SUBMISSIONS: worthless_problems,
}


def _elsewhere(task: Task, step: StepId) -> str:
    """Return the digest of what a part reads; every judging draws inputs, so only the fixes do without them."""
    return bug_task(task).digest_without_drawn if step is StepId.ALTERNATIVE_FIXES else task.digest


CHECKS = TrackChecks(
    static={StepId.FILES: file_problems, StepId.PATCHES: patch_problems},
    dynamic={
        Level.QUICK: {},
        Level.BRIEF: {StepId.REFERENCE_ONCE: reference_problems, StepId.NOP: nop_problems},
        Level.GATE: _GATE,
        Level.FULL: _GATE,
    },
    elsewhere=_elsewhere,
    needs_tree=True,
)
