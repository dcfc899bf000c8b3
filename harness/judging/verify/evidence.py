"""The evidence of one judging: the arms' results, and the seeds by which the arms were drawn.

A submission can't influence the seeds, and `regrade` can use them again.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from harness.specs.grading import ControlRound
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmName, Role, VariantKind

RENEWED_AFTER = 100
"""Judgings of one task in one process that share a code seed, and so what was compiled by it."""
_BITS = 53  # a whole number in any reader of JSON


@dataclass(frozen=True)
class Draw:
    """Seeds of one judging.

    `code_seed` decides which variants there are: rewritings, inert code, twins, texts on disk. `order_seed` decides
    the order of the arms.
    """

    code_seed: int
    order_seed: int


class CodeSeeds:
    """A code seed for each task, drawn anew after `renewed_after` judgings."""

    def __init__(self, renewed_after: int = RENEWED_AFTER) -> None:
        self._renewed_after = renewed_after
        self._known: dict[str, tuple[int, int]] = {}

    def draw(self, task: str) -> Draw:
        """Return the draw of another judging of the task with this digest."""
        seed, left = self._known.get(task, (0, 0))
        if not left:
            seed, left = secrets.randbits(_BITS), self._renewed_after
        self._known[task] = seed, left - 1
        return Draw(seed, secrets.randbits(_BITS))

    def forget(self) -> None:
        """Draw anew for every task from now on."""
        self._known.clear()


_of_this_process = CodeSeeds()


def new_draw(task: str) -> Draw:
    """Return the draw of another judging of the task with this digest, in this process."""
    return _of_this_process.draw(task)


def renew_code_seeds() -> None:
    """Draw anew for every task that this process judges from now on."""
    _of_this_process.forget()


def derived_seed(seed: int, *names: object) -> int:
    """Return another seed, which belongs to these names and tells nothing of the first one."""
    whole = "\0".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(whole.encode()).digest()[:8])


BASELINE = "baseline"
"""The name of the variant without any change."""


def listed_arm(variant: str) -> ArmKey:
    """Return the first arm of the listed tests on a variant."""
    return ArmKey(Role.LISTED, variant)


AT_BASELINE = listed_arm(BASELINE)
REQUIRED = (
    AT_BASELINE,
    *(listed_arm(f"rewritten-{number}") for number in range(1, 5)),
    *map(listed_arm, ("removal-1", "removal-2")),
)
"""The arms of every judging; without one of them there is no evidence to speak of."""
EXISTING_BEFORE = ArmKey(Role.EXISTING_BEFORE, BASELINE)
EXISTING_AFTER = ArmKey(Role.EXISTING_AFTER, BASELINE)
REWRITTEN_AFTER = ArmKey(Role.EXISTING_AFTER, "rewritten-1")
"""Only where the patch adds tests that it doesn't list."""
WHOLE_AFTER = ArmKey(Role.WHOLE_AFTER, BASELINE)
WHOLE_BEFORE = ArmKey(Role.WHOLE_BEFORE, BASELINE)
BESIDE_OTHERS = 1
"""The part of such a run where the listed files and some small ones run, and all others are loaded."""
AMONG_ALL = 2
"""The part of such a run of all tests, where one beside others was red."""
LISTED_ALONE = 3
"""The part of such a run of the listed files alone, where they were red on a change that keeps the behaviour."""
WHOLE_UNLOADABLE = ArmKey(Role.WHOLE_UNLOADABLE, BASELINE)
"""Its parts are the listed files by their order (`listed_files`). A second run has a file that was there, a third
the listed one again."""


@dataclass(frozen=True)
class Evidence:
    """Every arm of one judging. `required` are the arms that must be there for it to show anything of a test.

    `draw` is what chance decided, `control` which kills were to be repeated apart. `out_of_time` says that arms are
    missing because all that ran before took as long as the task allows. `checking` are those of `tests` that by their
    text check something of the repository, `empty` those whose bodies do nothing.
    """

    tests: tuple[TestId, ...]
    arms: Mapping[ArmName, Arm]
    required: tuple[ArmName, ...] = REQUIRED
    draw: Draw | None = None
    out_of_time: bool = False
    control: ControlRound = ControlRound.NONE
    checking: tuple[TestId, ...] = ()
    empty: tuple[TestId, ...] = ()

    @cached_property
    def worked_out(self) -> dict[str, Any]:
        """Return what others have worked out of it, once: it is asked for each test and each arm."""
        return {}

    @cached_property
    def listed_files(self) -> tuple[str, ...]:
        """The files of the listed tests, in order."""
        return tuple(sorted({test.file for test in self.tests}))

    @cached_property
    def listed(self) -> dict[ArmKey, Arm]:
        """The arms of the listed tests."""
        return {key: arm for key, arm in self.arms.items() if key.role is Role.LISTED}

    @cached_property
    def _results(self) -> dict[tuple[ArmName, TestId], TestResult]:
        results = [((key, item.test), item) for key, arm in self.arms.items() for item in arm.results]
        return dict(reversed(results))  # of two with one name the first counts

    def result(self, key: ArmKey, test: TestId) -> TestResult | None:
        """Return a test's result in an arm; None where there is no such arm, or no such test in it."""
        return self._results.get((key, test))

    def outcome(self, key: ArmKey, test: TestId) -> Outcome:
        """Return a test's outcome in an arm; `MISSING` also where there is no such arm."""
        item = self.result(key, test)
        return item.outcome if item else Outcome.MISSING

    def passes_baseline(self, test: TestId) -> bool:
        """Return whether a test passes at the baseline each time, or two times of three."""
        keys = [key for key, arm in self.listed.items() if arm.kind is VariantKind.BASELINE]
        passed = sum(self.outcome(key, test) is Outcome.PASSED for key in keys)
        return bool(keys) and (passed == len(keys) or passed > 1)

    def is_green(self, key: ArmKey, test: TestId) -> bool:
        """Return whether a test passes in an arm, and skips as many of its cases there as at the baseline.

        Else its cases could run in arms only, and be skipped where people run them.
        """
        item = self.result(key, test)
        if item is None or item.outcome is not Outcome.PASSED:
            return False
        return item.skipped == self._skipped.get(test, item.skipped)

    @cached_property
    def _skipped(self) -> dict[TestId, int]:
        """How many cases are skipped at the baseline, of each test that passes there."""
        baselines = [arm for _, arm in sorted(self.listed.items()) if arm.kind is VariantKind.BASELINE]
        results = [item for arm in baselines for item in arm.results if item.outcome is Outcome.PASSED]
        return {item.test: item.skipped for item in reversed(results)}  # the first one counts

    def notices(self, key: ArmKey, test: TestId) -> bool:
        """Return whether a test fails here in a way that shows that it noticed a change of behaviour.

        A failure in what is done before the test (a fixture, a hook) counts only for one that fails by itself under
        some mutant: else a test without any check would notice whatever its fixture calls. Where the behaviour
        is gone it counts for one that checks something, too: no mutant may touch what that checks. A test with an
        empty body notices nothing, whatever the report takes for its failure.
        """
        item = self.result(key, test)
        if item is None or not item.killed or test in self.empty:
            return False
        if item.quality is not Quality.SETUP or self._fails_by_itself(test):
            return True
        return self.arms[key].kind.removes and test in self.checking

    def kills(self, key: ArmKey, test: TestId) -> bool:
        """Return whether a test that is green at baseline fails here, and didn't as it was before the patch."""
        return self.notices(key, test) and self.passes_baseline(test) and not self._killed_before(key, test)

    def _fails_by_itself(self, test: TestId) -> bool:
        """Return whether a test itself fails under a mutant; removals aren't asked, where there are others.

        Where the behaviour refuses, a fixture can step aside, so that a test without a check fails by the refusal.
        """
        mutants = [key for key, arm in self.listed.items() if not arm.kind.behaves_like_baseline]
        mutants = [key for key in mutants if self.listed[key].kind is not VariantKind.REMOVAL] or mutants
        results = [item for key in mutants if (item := self.result(key, test))]
        return any(item.killed and item.quality is not Quality.SETUP for item in results)

    def _killed_before(self, key: ArmKey, test: TestId) -> bool:
        item = self.result(ArmKey(Role.CHANGED_BEFORE, key.variant), test)
        return bool(item and item.killed)

    def planned(self, kind: VariantKind) -> tuple[ArmKey, ...]:
        """Return the required arms of a kind of removal, whether or not they have run."""
        names = {f"{kind}-{number}" for number in range(1, len(self.required) + 1)}
        return tuple(key for key in self.required if key.role is Role.LISTED and key.variant in names)


class ArmLog(Protocol):
    """A log that keeps each arm as it ends, so that a judging that is cut short needn't run it again."""

    @property
    def known(self) -> Mapping[ArmKey, Arm]:
        """The arms that an earlier start of the same judging has kept."""
        ...

    @property
    def seconds(self) -> float:
        """Return what all jobs of those had taken."""
        ...

    def add(self, key: ArmKey, arm: Arm, seconds: float) -> None:
        """Keep an arm that has ended. `seconds` is what all jobs of the judging have taken so far."""
        ...


@dataclass(frozen=True)
class UnkeptArms:
    """An `ArmLog` that knows nothing and keeps nothing."""

    known: Mapping[ArmKey, Arm] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, key: ArmKey, arm: Arm, seconds: float) -> None:
        """See `ArmLog`. Nothing is kept."""
        pass


class EvidenceCache(Protocol):
    """A cache of the evidence of one submission, so that its arms needn't run again."""

    def read(self) -> Evidence | None:
        """Return the kept evidence; None where there is none, or where it was gathered under other conditions."""
        ...

    def draw(self) -> Draw | None:
        """Return the seeds to use where arms run again; None for a new draw."""
        ...

    def begin(self, tests: tuple[TestId, ...], draw: Draw) -> ArmLog:
        """Return where the arms of a judging of these tests, with this draw, are kept until the evidence is whole."""
        ...

    def keep(self, evidence: Evidence) -> None:
        """Keep evidence that is whole."""
        ...


def passed(arm: Arm) -> set[TestId]:
    """Return the tests that passed in an arm, those of which some cases are skipped among them."""
    return {item.test for item in arm.results if item.outcome is Outcome.PASSED}


def in_place(arm: Arm) -> set[TestId]:
    """Return the tests all of whose cases passed in an arm, by their own functions as far as the report tells."""
    whole = (item for item in arm.results if item.outcome is Outcome.PASSED and not item.skipped)
    return {item.test for item in whole if not item.elsewhere}


def elsewhere(arm: Arm) -> set[TestId]:
    """Return the tests that passed in an arm and under whose names, as the report tells, something else ran."""
    return {item.test for item in arm.results if item.outcome is Outcome.PASSED and item.elsewhere}


def lost(before: Arm, after: Arm) -> set[TestId]:
    """Return the tests that passed and no longer do, run fewer of their cases, or stand for something else now."""
    left = {item.test: item for item in after.results if item.outcome is Outcome.PASSED}
    had = (item for item in before.results if item.outcome is Outcome.PASSED)
    return {item.test for item in had if item.test not in left or _is_less(left[item.test], item)}


def _is_less(after: TestResult, before: TestResult) -> bool:
    fewer = after.cases - after.skipped < before.cases - before.skipped
    return fewer or (after.elsewhere and not before.elsewhere)
