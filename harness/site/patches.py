"""A patch as lines, those of the listed tests marked."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape  # five times as quick as the one of markupsafe
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup
from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from harness.languages.registry import language_at
from harness.site.texts import Text, Texts
from harness.site.visible import visible
from harness.specs.errors import UserError

MAX_LINES = 2_500
MAX_LINE = 400
_MAX_BYTES = 12_000_000
_KINDS = {"+": "added", "-": "removed", "@": "hunk", "d": "file"}


class PatchLine(NamedTuple):
    """`kind` is added, removed, hunk, file or nothing; `test` is the listed test that an added line belongs to."""

    text: str
    kind: str
    test: str = ""

    @property
    def html(self) -> str:
        listed = f' listed" title="{escape(visible(self.test[:200]), quote=True)}' if self.test else ""
        return f'<span class="line {self.kind}{listed}">{escape(visible(self.text)) or " "}</span>'

    @property
    def cell(self) -> Markup:
        return Markup(f'<td class="{self.kind}">{escape(visible(self.text))}</td>')


@dataclass(frozen=True)
class PatchView:
    """`whole` is the file with everything, where not all is shown."""

    lines: tuple[PatchLine, ...]
    whole: Text | None = None

    @property
    def html(self) -> Markup:
        return Markup("".join([line.html for line in self.lines]))  # each is escaped


def patch_view(path: Path, tests: Iterable[str], texts: Texts) -> PatchView | None:
    """None where there is no patch. `tests` are the listed ones, FILE::NAME."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return None
    raw = text.split("\n")
    marks = dict(_marks(text, list(tests))) if len(raw) <= MAX_LINES else {}
    lines = [
        PatchLine(line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…", _kind(line), marks.get(number, ""))
        for number, line in enumerate(raw[:MAX_LINES], start=1)
    ]
    is_cut = len(raw) > MAX_LINES or any(len(line) > MAX_LINE for line in raw)
    return PatchView(tuple(lines), texts.cut(text, "patch.txt", 0) if is_cut else None)


def _kind(line: str) -> str:
    if line.startswith(("+++ ", "--- ", "diff --git ")):
        return "file"
    return _KINDS.get(line[:1], "") if not line.startswith("d") else ""


def _marks(text: str, tests: list[str]) -> Iterator[tuple[int, str]]:
    """Line of the patch, from 1 -> the listed test whose text it is."""
    try:
        found = list(PatchSet(text))
    except (UnidiffParseError, ValueError):
        return
    for file in found:
        short = {_short(test): test for test in tests if test.partition("::")[0] == file.path}
        for hunk in file if short else ():
            yield from _marks_of_hunk(file, hunk, short)


def _marks_of_hunk(file: PatchedFile, hunk: Hunk, short: dict[str, str]) -> Iterator[tuple[int, str]]:
    """What a hunk leaves in place is read as a file: grammars go on after what they can't parse."""
    language = language_at(file.path)
    lines = [line for line in hunk if not line.is_removed]
    if language is None:
        return
    try:
        found = language.discovery.discover("".join(str(line.value) for line in lines).encode(), file.path)
    except (UserError, RecursionError):
        return
    for test in found.tests:
        name = short.get(test.short)
        for line in lines[test.first_line - 1 : test.last_line] if name else ():
            if line.is_added and line.diff_line_no:
                yield line.diff_line_no, name or ""


def _short(test: str) -> str:
    """The last part of a test's name, whatever the language joins them with."""
    return test.partition("::")[2].rpartition(" > ")[2].rpartition("::")[2].rpartition(".")[2]
