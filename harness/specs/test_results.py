"""Test ids: one test function (or `it`, or C test program) in one file.

The result of one execution of one test.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar, Self

from pydantic import BaseModel, ConfigDict, StringConstraints

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,79}$")]
"""The name of a repo, task or scaffold: also a directory name and part of an image tag."""

CriterionId = Annotated[str, StringConstraints(pattern=r"^[1-5]\.[0-9]{1,2}$")]
"""`AXIS.NUMBER`, for example `1.4`."""


@dataclass(frozen=True, order=True, slots=True)
class TestId:
    """A test function: `file` is relative to the tree's root with `/`, `name` is in the language's convention.

    Python `Class.test_method` or `test_function`; Go `TestName`; TypeScript `describe > it`; C the program.
    Cases (parametrised, subtests) belong to it and are never part of the name.
    """

    __test__: ClassVar[bool] = False  # keeps pytest from collecting it

    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.file}::{self.name}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the test of a text that `str` gave.

        Raises:
            ValueError: There is no `::` in it.
        """
        file, separator, name = text.partition("::")
        if not (file and separator and name):
            raise ValueError(f"{text!r} is not FILE::NAME")
        return cls(file, name)


class Outcome(StrEnum):
    """Outcomes of a test."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Also an expected failure: it shows nothing about the code."""
    MISSING = "missing"
    """The report doesn't have it: never a pass, never a kill."""


class Quality(StrEnum):
    """Kinds of a test's failure, from the best evidence of behaviour to the worst."""

    ASSERTION = "assertion"
    RAISED = "raised"
    SETUP = "setup"
    TIMEOUT = "timeout"
    CRASH = "crash"
    APP_ENDED = "app-ended"
    """The application that ran beside the tests ended meanwhile, so that nothing holds any more."""
    COLLECTION = "collection"
    TEARDOWN = "teardown"
    RETRIED = "retried"
    """It ran more than once in one run, whatever came of it: one result of each test is wanted."""

    @property
    def kills(self) -> bool:
        """Return whether a failure of this quality shows that the test noticed a change of behaviour."""
        return self not in (Quality.COLLECTION, Quality.TEARDOWN, Quality.RETRIED)


class CaseResult(BaseModel):
    """One case of one test as the report has it. `quality` is set exactly when the outcome is FAILED."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    test: TestId
    case: str = ""
    outcome: Outcome
    quality: Quality | None = None
    seconds: float = 0.0
    message: str = ""


class TestResult(BaseModel):
    """A test's cases in one arm, taken together. `skipped` of its `cases` were skipped, or expected to fail.

    `elsewhere`: what ran under its name is not its own function.
    """

    __test__ = False
    model_config = ConfigDict(frozen=True, extra="forbid")

    test: TestId
    outcome: Outcome
    quality: Quality | None = None
    cases: int = 0
    skipped: int = 0
    seconds: float = 0.0
    message: str = ""
    elsewhere: bool = False

    @property
    def killed(self) -> bool:
        """Return whether the test failed in a way that shows that it noticed a change of behaviour."""
        return self.outcome is Outcome.FAILED and self.quality is not None and self.quality.kills


def combine(test: TestId, cases: Iterable[CaseResult]) -> TestResult:
    """Combine a test's cases: failed when any fails, else passed when any passes, whatever others are skipped.

    Of several failures the one with the best quality stands for the test, the first among equals.
    """
    known = list(cases)
    counts = Counter(case.outcome for case in known)
    failed = [case for case in known if case.outcome is Outcome.FAILED]
    order = list(Quality)
    best = min(failed, key=lambda case: order.index(case.quality or Quality.TEARDOWN), default=None)
    first_skipped = next((case for case in known if case.outcome is Outcome.SKIPPED), None)
    told = best or first_skipped
    outcomes = (Outcome.FAILED, Outcome.PASSED, Outcome.SKIPPED)
    return TestResult(
        test=test,
        outcome=next((outcome for outcome in outcomes if counts[outcome]), Outcome.MISSING),
        quality=best.quality if best else None,
        cases=len(known),
        skipped=counts[Outcome.SKIPPED],
        seconds=sum(case.seconds for case in known),
        message=told.message if told else "",
    )
