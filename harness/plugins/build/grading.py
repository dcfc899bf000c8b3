"""Grading of an application: installed, started, asked, killed, started again, and its own tests."""

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Protocol

from harness.judging.languages.found import TooMuchToRead
from harness.judging.submission.extraction import Submission
from harness.judging.verify.evidence import AT_BASELINE, Evidence, UnkeptArms, derived_seed, new_draw
from harness.judging.verify.intake import Intake, ingest
from harness.judging.verify.judgement import Judgement, judge_record, verdict_record
from harness.judging.verify.rubric_check import CriterionResult
from harness.judging.verify.suite_reader import read_apart
from harness.judging.verify.verdict import RubricStage, Stages, stage_status
from harness.judging.verify.verification import Judging
from harness.plugins.build.hygiene import keys_in_files, readme_commands, undeclared_imports
from harness.plugins.build.own_tests import Changed, drawn_mutants, listed_files, product, stubbed_modules
from harness.plugins.build.reasons import (
    ACCEPTANCE_FAILED,
    NOT_INSTALLED,
    NOT_PERSISTENT,
    NOT_STARTED,
    NOT_USABLE,
)
from harness.plugins.build.steps import (
    BOOT,
    BOOT_STEP,
    CHAINS,
    HOME,
    HOME_STEP,
    INSTALL,
    README_STEP,
    SLOW_SHARE,
    Files,
    HiddenStep,
    Steps,
    step_key,
)
from harness.plugins.build.task import (
    IMPORTS,
    KEEPS,
    KEYS,
    OPENS,
    OWN_TESTS,
    README,
    STARTS,
    BuildTask,
    build_task,
)
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import first_error
from harness.specs.reasons import Note, NoteCode, Reason, ReasonCode, Stage
from harness.specs.rubric import Criterion, GradedBy, Importance
from harness.specs.test_results import Outcome, TestId
from harness.specs.variants import Arm, ArmKey, ArmStatus

GREEN = ("own-1", "own-2")
REVERSED, SLOW = "own-reversed", "own-slow"
_CHANGED_SECONDS = 10
"""For what doesn't pass at once on changed code, beside five times what the tests take on their own."""
_RED = "they don't pass"
_SHOWN = 5
"""Places that are told of a finding."""
_UNREADABLE = "no file of tests that the manifest names is there"

Arms = Mapping[ArmKey, Arm]


@dataclass(frozen=True)
class Plan:
    """The runs of one application's judging. Drawn by its bytes, so that each judging of them runs the same."""

    files: Files
    commands: tuple[str, ...] = ()
    undeclared: tuple[str, ...] | None = ()
    keys: tuple[str, ...] | None = ()
    tests: tuple[str, ...] = ()
    stubs: tuple[Changed, ...] = ()
    mutants: tuple[Changed, ...] = ()


async def grade_build(judging: Judging, submission: Submission, /) -> Judgement:
    """See `Grader`. A judge is never asked."""
    task, judge = build_task(judging.task), judge_record(judging.named, None)
    intake = await ingest(GitTree(judging.context.image.tree), task.repo, submission.patch)
    if submission.refusal:
        reason = Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.INTAKE, words=submission.refusal)
        intake = Intake(reasons=(reason,))
    if intake.reasons:
        record = verdict_record(task, judging.context, intake.reasons, intake.notes, judge=judge)
        return Judgement(record, intake.patch)
    plan = await plan_of(task, intake, submission.manifest)
    evidence = await _evidence(task, judging, plan)
    criteria = criteria_of(task, evidence.arms, plan)
    reasons = reasons_of(task, evidence.arms)
    stages = Stages(rubric=RubricStage(status=stage_status(reasons), criteria=criteria))
    notes = (*intake.notes, *_notes(evidence.arms))
    record = verdict_record(task, judging.context, reasons, notes, stages, judge, control=judging.control)
    seconds = sum(arm.seconds for arm in evidence.arms.values())
    return Judgement(record, intake.patch, seconds, seconds, evidence=evidence)


async def plan_of(task: BuildTask, intake: Intake, manifest: bytes, with_own_tests: bool = True) -> Plan:
    """Return what is to run. Nothing that a submission holds raises an error."""
    texts = {change.path: change.new for change in intake.changes if change.new is not None}
    files = Files(texts, frozenset(change.path for change in intake.changes if change.executable))
    tests = listed_files(manifest, files) if with_own_tests and "test" in files.executable else ()
    commands = await _found(readme_commands, files) or ()
    plan = Plan(files, commands, await _found(undeclared_imports, files), await _found(keys_in_files, files), tests)
    if not tests:
        return plan
    seed = int.from_bytes(hashlib.sha256(task.digest.encode() + intake.patch).digest()[:8])
    code = product(files, tests)
    try:
        stubs = await read_apart(lambda: stubbed_modules(files, code, Random(derived_seed(seed, "stubs"))))
        mutants = await read_apart(lambda: drawn_mutants(files, code, Random(derived_seed(seed, "mutants"))))
    except TooMuchToRead:
        return plan
    return replace(plan, stubs=tuple(stubs), mutants=tuple(mutants))


async def _found(look: Callable[[Files], tuple[str, ...]], files: Files) -> tuple[str, ...] | None:
    """Return what a look at files finds, off the event loop; None where they are too much to read."""
    try:
        return await read_apart(lambda: look(files))
    except TooMuchToRead:
        return None


async def _evidence(task: BuildTask, judging: Judging, plan: Plan) -> Evidence:
    """Return what the arms show: known from earlier, or run now."""
    cache = judging.cache
    if (known := cache.read() if cache else None) and step_key(INSTALL) in known.arms:
        return known
    draw = (cache.draw() if cache else None) or new_draw(task.digest)
    log = cache.begin((), draw) if cache else UnkeptArms()
    arms: dict[ArmKey, Arm] = {}

    def keep(name: str, arm: Arm) -> Arm:
        arms[step_key(name)] = arm
        log.add(step_key(name), arm, judging.context.limit.used)
        judging.context.observer.ended(step_key(name), arm)
        return arm

    steps = Steps(judging.context, task, plan.files, draw.order_seed)
    judging.context.observer.planned(_count(task, plan))
    if passes(keep(INSTALL, await steps.install())):
        keep(BOOT, await steps.hidden(BOOT_STEP))
        if is_started(task, arms) and task.home:
            keep(HOME, await steps.hidden(HOME_STEP))
        if is_started(task, arms) and is_usable(task, arms):
            await side_by_side(_chain(steps, chain, keep) for chain in CHAINS)
            if plan.commands:
                keep(README_STEP, await steps.readme(plan.commands))
            await _own_tests(steps, plan, keep)
    # Evidence is kept where its baseline has run: here that is the installation.
    evidence = Evidence((), {AT_BASELINE: arms[step_key(INSTALL)], **arms}, required=(), draw=draw)
    if cache:
        cache.keep(evidence)
    return evidence


def _count(task: BuildTask, plan: Plan) -> int:
    """Return the number of arms that a judging has at most."""
    return 2 + bool(task.home) + sum(map(len, CHAINS)) + bool(plan.commands) + len(_own(plan))


class _Keep(Protocol):
    def __call__(self, name: str, arm: Arm) -> Arm: ...


def _own(plan: Plan) -> list[str]:
    if not plan.tests:
        return []
    return [*GREEN, REVERSED, SLOW, *(changed.name for changed in (*plan.stubs, *plan.mutants))]


async def _own_tests(steps: Steps, plan: Plan, keep: _Keep) -> None:
    """Run the application's own tests as they are, and on changed code where they pass."""
    if not plan.tests:
        return
    green = [keep(name, await steps.own_tests(name, plan.files)) for name in GREEN]
    if not all(map(passes, green)):
        return
    seconds = _CHANGED_SECONDS + 5 * max(arm.seconds for arm in green)

    async def one(name: str, files: Files, arguments: Sequence[str] = (), share: float = 1) -> None:
        keep(name, await steps.own_tests(name, files, arguments, seconds, share))

    changed = (*plan.stubs, *plan.mutants)
    otherwise = one(REVERSED, plan.files, plan.tests[::-1]), one(SLOW, plan.files, share=SLOW_SHARE)
    await side_by_side([*otherwise, *(one(each.name, each.files) for each in changed)])


async def _chain(steps: Steps, chain: Sequence[HiddenStep], keep: _Keep) -> None:
    for step in chain:
        keep(step.name, await steps.hidden(step))


async def side_by_side(runs: Iterable[Coroutine[object, object, None]]) -> None:
    """Run all to their end, or until one of them fails."""
    with first_error():
        async with asyncio.TaskGroup() as group:
            for run in runs:
                group.create_task(run)


def passes(arm: Arm | None) -> bool:
    """Return whether all that an arm ran passed."""
    return arm is not None and arm.status is ArmStatus.FINISHED and _all_passed(arm)


def _all_passed(arm: Arm) -> bool:
    return all(item.outcome is Outcome.PASSED for item in arm.results)


def _outcomes(arms: Arms) -> dict[TestId, Outcome]:
    return {item.test: item.outcome for arm in arms.values() for item in arm.results}


def _is_met(task: BuildTask, criterion: str, arms: Arms) -> bool:
    tests, outcomes = task.tests_for(criterion), _outcomes(arms)
    return bool(tests) and all(outcomes.get(test) is Outcome.PASSED for test in tests)


def is_started(task: BuildTask, arms: Arms) -> bool:
    """Return whether the application started, in time and healthy."""
    return _is_met(task, STARTS, arms)


def is_usable(task: BuildTask, arms: Arms) -> bool:
    """Return whether the home page of a started application can be used, where it is to have one."""
    return not task.home or _is_met(task, OPENS, arms)


def reasons_of(task: BuildTask, arms: Arms) -> tuple[Reason, ...]:
    """Return why an application isn't resolved. Its own tests, robustness and hygiene are no reason. Pure."""
    if not passes(arms.get(step_key(INSTALL))):
        return (_reason(NOT_INSTALLED, "", "its lock can't be installed from the packages that there are"),)
    if not is_started(task, arms):
        return (_reason(NOT_STARTED, "", "it doesn't start, isn't healthy in time, or ends by itself"),)
    if not is_usable(task, arms):
        return (_reason(NOT_USABLE, OPENS, "its home page doesn't open in a browser without a script error"),)
    musts = [item for item in task.rubric.criteria if item.importance is Importance.MUST]
    unmet = [item for item in musts if not _is_met(task, item.id, arms)]
    reasons = [_reason(ACCEPTANCE_FAILED, item.id, item.statement) for item in unmet]
    if not _is_met(task, KEEPS, arms):
        reasons.append(_reason(NOT_PERSISTENT, KEEPS, "what it had answered isn't there after a restart"))
    return tuple(reasons)


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.RUBRIC, subject=subject, words=words)


def criteria_of(task: BuildTask, arms: Arms, plan: Plan) -> tuple[CriterionResult, ...]:
    """Return one result for each criterion, in the rubric's order. Pure."""
    known = _own_results(arms, plan) | _hygiene(arms, plan)
    return tuple(
        _result(item, *known[item.id]) if item.id in known else _of_hidden(task, item, arms)
        for item in task.rubric.criteria
    )


def _of_hidden(task: BuildTask, criterion: Criterion, arms: Arms) -> CriterionResult:
    outcomes = _outcomes(arms)
    red = [test.name for test in task.tests_for(criterion.id) if outcomes.get(test) is not Outcome.PASSED]
    return _result(criterion, not red, f"not so: {', '.join(red)}" if red else "its tests pass")


def _own_results(arms: Arms, plan: Plan) -> dict[str, tuple[bool, str]]:
    if not plan.tests:
        return dict.fromkeys(OWN_TESTS, (False, _UNREADABLE))
    if not all(passes(arms.get(step_key(name))) for name in GREEN):
        return dict.fromkeys(OWN_TESTS, (False, _RED))
    unnoticed = [changed.words for changed in plan.stubs if passes(arms.get(step_key(changed.name)))]
    noticed = sum(not passes(arms.get(step_key(changed.name))) for changed in plan.mutants)
    told = f"{noticed} of {len(plan.mutants)} mutants are noticed"
    how = {REVERSED: "in the reverse order of their files", SLOW: "with a quarter of a core"}
    fails = [words for name, words in how.items() if not passes(arms.get(step_key(name)))]
    found = (
        (True, "they pass twice"),
        (
            bool(plan.stubs) and not unnoticed,
            f"they pass although {unnoticed[0]}" if unnoticed else "each is noticed",
        ),
        (bool(plan.mutants) and 2 * noticed >= len(plan.mutants), told),
        (bool(plan.mutants) and 5 * noticed >= 4 * len(plan.mutants), told),
        (not fails, f"they fail {' and '.join(fails)}" if fails else "they pass both ways"),
    )
    return dict(zip(OWN_TESTS, found, strict=True))


def _notes(arms: Arms) -> tuple[Note, ...]:
    green = [passes(arms.get(step_key(name))) for name in GREEN]
    if all(green) or not any(green):
        return ()
    return (Note(code=NoteCode.FLAKY_ONCE, words="the application's own tests passed once and failed once"),)


def _hygiene(arms: Arms, plan: Plan) -> dict[str, tuple[bool, str]]:
    runs = passes(arms.get(step_key(README_STEP)))
    told = "they run" if runs else "one of them fails" if plan.commands else "it has none, in blocks marked sh"
    undeclared, keys = (
        "its files are too much to read" if found is None else ", ".join(found[:_SHOWN])
        for found in (plan.undeclared, plan.keys)
    )
    return {
        README: (runs, told),
        IMPORTS: (not undeclared, f"not in a lock: {undeclared}" if undeclared else "each is in a lock"),
        KEYS: (not keys, f"keys: {keys}" if keys else "there is none"),
    }


def _result(criterion: Criterion, met: bool, words: str) -> CriterionResult:
    return CriterionResult(
        id=criterion.id,
        axis=criterion.axis,
        importance=criterion.importance,
        met=met,
        decided_by=GradedBy.PROBE,
        words=words,
    )
