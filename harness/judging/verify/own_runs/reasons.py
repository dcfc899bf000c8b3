"""Reasons that the repository's own runs of its tests give, of which only the exit status is known. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from harness.judging.verify.evidence import (
    AMONG_ALL,
    BASELINE,
    LISTED_ALONE,
    WHOLE_AFTER,
    WHOLE_BEFORE,
    WHOLE_UNLOADABLE,
    Evidence,
)
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.variants import Arm, ArmKey, ArmName, ArmStatus, Role

OUT_OF_TIME = 124
"""The exit status of a run that its own limit ended."""
WHOLE_RUNS = 3
"""Runs of all tests that must be red with the patch, one more than must be green without it: chance has its part."""
WHOLE_MUTANTS = 2
"""Runs on mutants that must be green to be a reason, on two of them if there are: how code is built may hide one."""


def judge_own_runs(evidence: Evidence) -> Iterator[Reason]:
    """Yield why own runs show that a patch breaks the repository, or that its tests serve nobody there."""
    for rule in (_whole_run_broken, _left_out, _green_on_a_mutant, _red_on_a_twin):
        yield from rule(evidence)


def is_red(arm: Arm) -> bool:
    """Return whether a run without a report came to an end that isn't green, or went over a limit of its sandbox."""
    return arm.status is ArmStatus.OVER_LIMIT or (arm.status is ArmStatus.FINISHED and arm.exit_status != 0)


def is_green(arm: Arm) -> bool:
    """Return whether a run of tests without a report came to its end, and found nothing wrong."""
    return arm.status is ArmStatus.FINISHED and arm.exit_status == 0


def _whole_run_broken(evidence: Evidence) -> Iterator[Reason]:
    if is_broken(evidence.arms, 0) or is_broken(evidence.arms, AMONG_ALL):
        words = "the repository's own run of its tests is red with the patch, each time, and green without it"
        yield _reason(ReasonCode.BASELINE_RED, "", words)


def is_broken(arms: Mapping[ArmName, Arm], part: int) -> bool:
    """Return whether own runs at the baseline are red with the patch, each time, and green without it."""
    before = [is_green(arm) for arm in repeated(arms, replace(WHOLE_BEFORE, part=part))]
    return is_red_each_time(arms, part) and len(before) >= WHOLE_RUNS - 1 and all(before)


def is_red_each_time(arms: Mapping[ArmName, Arm], part: int, variant: str = BASELINE) -> bool:
    """Return whether there are own runs on a variant with the patch, and all are red."""
    after = repeated(arms, replace(WHOLE_AFTER, variant=variant, part=part))
    return bool(after) and all(map(is_red, after))


def _left_out(evidence: Evidence) -> Iterator[Reason]:
    """Yield a reason for each test whose file the repository's own run never loads, where it loads others."""
    for part, file in enumerate(evidence.listed_files, start=1):
        key = replace(WHOLE_UNLOADABLE, part=part)
        first, other, again = (evidence.arms.get(each) for each in (key, key.again, key.again.again))
        if not (first and other and again and is_red(other)):
            continue
        if not all(_goes_on(arm, other.exit_status) for arm in (first, again)):
            continue
        words = "the repository's own run of its tests leaves its file out: it goes on though that can't be loaded"
        tests = [test for test in evidence.tests if test.file == file]
        yield from (_reason(ReasonCode.BASELINE_MISSING, str(test), words) for test in tests)


def _green_on_a_mutant(evidence: Evidence) -> Iterator[Reason]:
    for role, what in ((Role.WHOLE_MUTANT, "their files"), (Role.EVERYTHING_MUTANT, "them among all others")):
        found = [key for key in sorted(evidence.arms) if key.role is role]
        for draw in sorted({key.part for key in found}):
            runs = [key for key in found if key.part == draw]
            if len(runs) >= WHOLE_MUTANTS and all(is_green(evidence.arms[key]) for key in runs):
                words = (
                    f"tests failed under this change in arms, and not when the repository's own command ran {what}"
                )
                names = dict.fromkeys(key.variant for key in runs)
                yield from (_reason(ReasonCode.KILL_NOT_REPEATED, name, words) for name in names)


def _red_on_a_twin(evidence: Evidence) -> Iterator[Reason]:
    alone = evidence.arms.get(replace(WHOLE_AFTER, part=LISTED_ALONE))
    for variant in sorted({key.variant for key in evidence.arms if key.role is Role.WHOLE_AFTER} - {BASELINE}):
        before = evidence.arms.get(replace(WHOLE_BEFORE, variant=variant))
        is_red_there = is_red_each_time(evidence.arms, 0, variant)
        if is_red_there and alone and is_green(alone) and (before is None or is_green(before)):
            words = "the repository's own run of the listed files is red each time where only the code's text differs"
            yield _reason(ReasonCode.PLACEBO_SENSITIVE, "", words)


def _goes_on(arm: Arm, ended: int) -> bool:
    """Return whether a run went on to run tests, where one that a file which can't be loaded ends has this status."""
    if arm.status is ArmStatus.TIMED_OUT:
        return arm.exit_status == OUT_OF_TIME
    return arm.status in (ArmStatus.FINISHED, ArmStatus.OVER_LIMIT) and arm.exit_status != ended


def repeated(arms: Mapping[ArmName, Arm], key: ArmKey) -> list[Arm]:
    """Return an arm and its repetitions."""
    return [arm for other, arm in arms.items() if replace(other, repetition=key.repetition) == key]


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MUTATION, subject=subject, words=words)
