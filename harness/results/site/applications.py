"""An application as hidden tests saw it: its home page, and the end of each test."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.judging.verify.verdict import outcome_words
from harness.results.rows import ArmTestRow
from harness.results.site.failures import Pictures
from harness.results.site.pages import LongTexts
from harness.specs.test_results import Outcome, TestId
from harness.specs.variants import Role

HOME_PICTURE = "home.png"
"""Left by the test that opens the home page."""
_FOLDER = "hidden/"


@dataclass(frozen=True)
class HiddenTest:
    """A hidden test's end. `picture` is the page on which it failed."""

    step: str
    name: str
    passed: bool
    words: str
    seconds: float
    picture: str


@dataclass(frozen=True)
class ApplicationView:
    """An application's part of a trial's page. `home` is the picture of its home page, where it has pages."""

    home: str
    tests: tuple[HiddenTest, ...]


def application_view(directory: Path, rows: Iterable[ArmTestRow], texts: LongTexts) -> ApplicationView | None:
    """Return what is told of a trial's application; None where the trial has none.

    Args:
        directory: The trial's.
        rows: The trial's tests in its arms.
        texts: Those of the trial's page.
    """
    pictures = Pictures(directory / "arms", texts, "application")
    tests, home = [], ""
    for row in rows:
        if row.role is not Role.HIDDEN or not row.test.startswith(_FOLDER):
            continue
        passed = row.outcome is Outcome.PASSED
        picture = "" if passed else pictures.of(row.test, [row.arm])
        words = outcome_words(row.outcome, row.quality)
        tests.append(HiddenTest(row.variant, TestId.parse(row.test).name, passed, words, row.seconds, picture))
        home = home or pictures.named(row.arm, HOME_PICTURE)
    return ApplicationView(home, tuple(tests)) if tests else None
