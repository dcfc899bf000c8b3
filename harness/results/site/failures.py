"""Failures of listed tests in each arm, from the reports that a run keeps of its arms.

Reports come from hostile code. They are read by the same readers that judged them, smaller ones alone, and what they
say is shown and decides nothing.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from harness.judging.testing.readers import Reader, Report, ReportError, reader_of
from harness.results.rows import ArmTestRow
from harness.results.site.material import file_of, link
from harness.results.site.pages import LongTexts, Text
from harness.specs.errors import UserError
from harness.specs.test_results import CaseResult, Outcome, TestId, combine
from harness.specs.variants import Role

MAX_REPORT = 1_000_000
"""Bytes of a report: a larger one isn't read for a page."""
MAX_SHOWN = 120_000
"""Characters of a trial's failures on its page."""
_MESSAGE = 3_000
_WHOLE = 60_000
"""Characters of one failure in the file of all of them."""
_FIRST = 300
MAX_PICTURE, MAX_PICTURES = 500_000, 12
"""Bytes of a picture of a page at which a test failed, and how many of these a trial's page has."""
_SIDE = 4_096
"""Pixels: a small file may be a picture of any size."""
_PNG = re.compile(rb"\x89PNG\r\n\x1a\n....IHDR(?P<width>....)(?P<height>....)", re.DOTALL)


@dataclass(frozen=True)
class Failure:
    """One text, and the arms in which a test failed with it.

    `first` is its first line, mostly the assertion; `picture` is the page in one of them at that moment, where the
    tests were in a browser.
    """

    arms: tuple[str, ...]
    quality: str
    must_pass: bool
    first: str
    text: Text
    picture: str = ""


@dataclass(frozen=True)
class FailedTest:
    """The failures of one listed test, those where it must pass first."""

    test: str
    arms: int
    must_pass: int
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class Failures:
    """Messages of failing tests. `whole` is the file with all of them, where the page doesn't have all."""

    tests: tuple[FailedTest, ...]
    whole: Text | None = None


def failures_of(directory: Path, report: str, rows: Iterable[ArmTestRow], texts: LongTexts) -> Failures | None:
    """Return the failures of a trial's listed tests; None where no arm's report is left.

    Args:
        directory: The trial's.
        report: The format of its repository's reports.
        rows: The trial's tests in its arms.
        texts: Those of the trial's page.
    """
    try:
        reader = reader_of(report)
    except UserError:
        return None
    by_arm: defaultdict[str, list[ArmTestRow]] = defaultdict(list)
    for row in rows:
        if row.role in (Role.LISTED, Role.CHANGED_BEFORE):
            by_arm[row.arm].append(row)
    told: defaultdict[str, dict[tuple[bool, str, str], list[str]]] = defaultdict(dict)
    for arm, own in by_arm.items():
        failed = [row for row in own if row.outcome is Outcome.FAILED]
        messages = _messages(directory / "arms" / arm, reader, own) if failed else {}
        for row in failed:
            key = row.kind.behaves_like_baseline, row.quality or "", messages.get(row.test, "")
            told[row.test].setdefault(key, []).append(arm)
    if not any(message for found in told.values() for _, _, message in found):
        return None
    return _shown(told, texts, Pictures(directory / "arms", texts))


@dataclass
class Pictures:
    """The pictures of one trial's page. `arms` is the folder of its arms' output, `prefix` begins files' names."""

    arms: Path
    texts: LongTexts
    prefix: str = "failure"
    written: int = 0

    def of(self, test: str, arms: Sequence[str]) -> str:
        """Return the link to a picture of the page on which a test failed in one of these arms; empty without one."""
        return next(filter(None, (self.named(arm, picture_name(test)) for arm in arms)), "")

    def named(self, arm: str, name: str) -> str:
        """Return the link to a picture that an arm left by this name; empty without one."""
        data = _picture(self.arms / arm / name)
        if not data or self.written >= MAX_PICTURES:
            return ""
        self.written += 1
        pages, page = self.texts.pages, self.texts.page
        return link(pages.write_picture(file_of(page, f"{self.prefix}-{self.written}.png"), data))


def picture_name(test: str) -> str:
    """Return what a runner of tests in a browser calls the picture of a page, beside its reports."""
    return re.sub(r"\W+", "-", test) + ".png"


def is_picture(data: bytes) -> bool:
    """Return whether it is a PNG of moderate size, by its head."""
    found = _PNG.match(data)
    sides = [int.from_bytes(found[side]) for side in ("width", "height")] if found else []
    return bool(sides) and max(sides) <= _SIDE and len(data) <= MAX_PICTURE


def _picture(path: Path) -> bytes:
    """Return a picture; nothing where there is none."""
    try:
        if path.is_symlink() or path.stat().st_size > MAX_PICTURE:
            return b""
        data = path.read_bytes()
    except OSError:
        return b""
    return data if is_picture(data) else b""


def _messages(folder: Path, reader: Reader, rows: Sequence[ArmTestRow]) -> Mapping[str, str]:
    """Return test -> what its report says of its failure."""
    tests = [TestId.parse(row.test) for row in rows]
    files = list(dict.fromkeys(test.file for test in tests))
    reports = sorted(folder.glob(f"*.{reader.suffix}"), key=lambda path: (len(path.name), path.name))
    # A file that couldn't be built has no report, and the others' numbers then say nothing.
    pairs = list(zip(reports, files, strict=False) if len(reports) == len(files) else product(reports, files))
    cases: defaultdict[TestId, list[CaseResult]] = defaultdict(list)
    for path, file in pairs:
        for case in _cases(path, reader, file, tests):
            if case.test.file == file:
                cases[case.test].append(case)
    return {str(test): combine(test, found).message for test, found in cases.items()}


def _cases(path: Path, reader: Reader, file: str, tests: Sequence[TestId]) -> Sequence[CaseResult]:
    try:
        if path.is_symlink() or path.stat().st_size > MAX_REPORT:
            return ()
        found: Report = reader.name_cases(reader.read(path.read_bytes(), file), tests)
    except (OSError, ReportError, RecursionError):
        return ()
    return found.cases


def _shown(
    told: Mapping[str, Mapping[tuple[bool, str, str], Sequence[str]]], texts: LongTexts, pictures: Pictures
) -> Failures:
    left, is_cut = MAX_SHOWN, False
    tests: list[FailedTest] = []
    for test, found in told.items():
        failures = []
        for (must_pass, quality, message), arms in sorted(found.items(), key=lambda item: not item[0][0]):
            shown = message[: min(_MESSAGE, max(0, left))]
            left -= len(shown)
            is_cut = is_cut or len(shown) < len(message)
            first = next((line.strip() for line in message.splitlines() if line.strip()), "")[:_FIRST]
            text = Text(shown, len(message) - len(shown))
            failures.append(Failure(tuple(arms), quality, must_pass, first, text, pictures.of(test, arms)))
        bad = sum(len(item.arms) for item in failures if item.must_pass)
        tests.append(FailedTest(test, sum(len(item.arms) for item in failures), bad, tuple(failures)))
    tests.sort(key=lambda item: -item.must_pass)
    whole = texts.cut("".join(_lines(told)), "failures.txt", 0) if is_cut else None
    return Failures(tuple(tests), whole)


def _lines(told: Mapping[str, Mapping[tuple[bool, str, str], Sequence[str]]]) -> Iterator[str]:
    for test, found in told.items():
        for (_, quality, message), arms in found.items():
            yield f"{test}\nin {', '.join(arms)} ({quality})\n\n{message[:_WHOLE]}\n\n"
