"""The manifest: which tests the agent says it wrote.

Manifests of published tasks: one name a line, by the words of their instruction, with no YAML rules.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

import yaml

from harness.judging.languages.protocol import IdForm
from harness.specs.reasons import ReasonCode
from harness.specs.test_results import TestId
from harness.specs.yaml_files import Quoted, YamlFault, compose, line_of, plain, yaml_text

MAX_MANIFEST_BYTES = 512_000
MAX_MANIFEST_LINES = 20_000
MAX_MANIFEST_TESTS = 2_000
MAX_NAME_CHARACTERS = 2_000
MAX_DEPTH = 8
FENCE = "<<TEST_MANIFEST>>"
KEY = re.compile(r"(?P<file>file:)|tests?:(?:\s|$)", re.IGNORECASE)
"""Begins a line of a published manifest that names no test; `tests:foo` is a name."""

_JOINED = re.compile("(?<=[^\0-\u02ff])\u200d(?=[^\0-\u02ff])")
"""A joiner between two characters that aren't Latin: one emoji of several, or letters of some scripts."""

TOO_LARGE = f"larger than {MAX_MANIFEST_BYTES} bytes or {MAX_MANIFEST_LINES} lines"


class ManifestError(Exception):
    """A manifest that is refused. `code` is the reason; the message names the line where there is one."""

    def __init__(self, code: ReasonCode, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.code = code


class Manifest(NamedTuple):
    """Test ids in the order in which they are listed, without repetitions."""

    tests: tuple[TestId, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the listed tests, each once, in order."""
        return tuple(dict.fromkeys(test.file for test in self.tests))


def parse_manifest(data: bytes, ids: IdForm) -> Manifest:
    """Read a manifest: a YAML list of `{file, tests}`, or the same between two fence lines.

    Args:
        data: Bytes as the agent left them. Every scalar is text: `1` and `yes` are names.
        ids: The language's. An id with a case (`test_a[x]`, `TestName/sub`) stands for its test, and so does one
            behind the path of its own file (`tests/test_a.py::test_a`), as the test command takes it.

    Raises:
        ManifestError: It is refused.
    """
    rows = _rows(*manifest_lines(data))
    seen: set[tuple[str, str]] = set()
    for file, name in rows:
        if (file, name) in seen:
            raise ManifestError(ReasonCode.MANIFEST_DUPLICATE, f"{file}::{name} is listed twice")
        seen.add((file, name))
    tests = dict.fromkeys(TestId(file, ids.test_of(name.removeprefix(f"{file}::"))) for file, name in rows)
    return Manifest(tuple(tests))


def format_manifest(tests: Iterable[TestId]) -> str:
    """Return a manifest as YAML text: the reverse of `parse_manifest`."""
    by_file: dict[str, list[str]] = {}
    for test in tests:
        by_file.setdefault(test.file, []).append(Quoted(test.name))
    rows = [{"file": file, "tests": names} for file, names in by_file.items()]
    return yaml_text(rows)


def too_large(data: bytes) -> bool:
    """Return whether a manifest is past the caps; it isn't parsed then."""
    return len(data) > MAX_MANIFEST_BYTES or data.count(b"\n") > MAX_MANIFEST_LINES


def manifest_lines(data: bytes) -> tuple[list[str], int]:
    """Return the lines of a manifest without its fences, and the number of lines above them.

    Raises:
        ManifestError: It is empty, too large or not UTF-8, or has fences and not two of them.
    """
    if not data.strip():
        raise ManifestError(ReasonCode.MANIFEST_MISSING, "the manifest is empty")
    if too_large(data):
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, f"the manifest is {TOO_LARGE}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, "the manifest is not UTF-8") from None
    lines = text.splitlines()
    fences = [number for number, line in enumerate(lines) if line.strip() == FENCE]
    if not fences:
        return lines, 0
    if len(fences) != 2:
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, f"expected two {FENCE} lines, found {len(fences)}")
    return lines[fences[0] + 1 : fences[1]], fences[0] + 1


def _rows(lines: list[str], lines_above: int) -> list[tuple[str, str]]:
    try:
        root = compose("\n".join(lines), MAX_DEPTH)
    except YamlFault as error:
        line = error.line + lines_above if error.line else 0
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, str(error), line) from None
    if not isinstance(root, yaml.SequenceNode):
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, "expected a list of entries with 'file' and 'tests'")
    rows = []
    for node in root.value:
        entry, line = plain(node), line_of(node) + lines_above
        if not isinstance(entry, dict) or set(entry) != {"file", "tests"} or not isinstance(entry["tests"], list):
            message = "this entry is not a mapping of exactly 'file' and a list 'tests'"
            raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, message, line)
        file = inside_the_repository(entry["file"], line)
        rows += [(file, checked_text(name, "a test of this entry", line)) for name in entry["tests"]]
        if len(rows) > MAX_MANIFEST_TESTS:
            raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, f"more than {MAX_MANIFEST_TESTS} tests")
    if not rows:
        raise ManifestError(ReasonCode.MANIFEST_MISSING, "the manifest lists no test")
    return rows


def inside_the_repository(value: Any, line: int) -> str:
    """Return the path of a file as a manifest names it, below the tree's root.

    Raises:
        ManifestError: It leads out of the tree, or is no path.
    """
    path = checked_text(value, "the file of this entry", line).removeprefix("./")
    if path.startswith("/") or ".." in path.split("/") or "\\" in path or not path:
        message = "the file of this entry is not a path inside the repository"
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, message, line)
    return path


def checked_text(value: Any, what: str, line: int) -> str:
    """Return a scalar of a manifest, without space around it.

    Raises:
        ManifestError: It is empty, too long, no text, or has invisible characters.
    """
    if not isinstance(value, str) or not value.strip():
        message = f"{what} is empty" if value == "" else f"{what} is not text; put it in quotes"
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, message, line)
    if len(value) > MAX_NAME_CHARACTERS:
        message = f"{what} is longer than {MAX_NAME_CHARACTERS} characters"
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, message, line)
    shown = _JOINED.sub("", value)
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for char in shown):
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, f"{what} has control or invisible characters", line)
    return value.strip()


class ListedName(NamedTuple):
    """A name as somebody listed it, and the file above it; empty where none is."""

    file: str
    name: str
    line: int


def read_lines(data: bytes) -> list[ListedName]:
    """Return the names in the lines that begin with a dash, as logs list tests.

    `file:` and `tests:` in any case are left out, and quotes around a whole name. A repeated name counts once.

    Raises:
        ManifestError: A line's name or file is refused.
    """
    lines, above = manifest_lines(data)
    file, found = "", dict[tuple[str, str], ListedName]()
    for number, line in enumerate(lines, start=above + 1):
        stripped = line.strip()
        text = stripped.removeprefix("-").strip()
        key = KEY.match(text)
        if key and key["file"]:
            file = inside_the_repository(unquoted(text[key.end() :]), number)
        elif stripped.startswith("-") and text and not key:
            name = checked_text(unquoted(text), "this name", number)
            found.setdefault((file, name), ListedName(file, name, number))
            if len(found) > MAX_MANIFEST_TESTS:
                words = f"more than {MAX_MANIFEST_TESTS} tests"
                raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, words, number)
    if not found:
        raise ManifestError(ReasonCode.MANIFEST_MISSING, "no line of the manifest names a test")
    return list(found.values())


def unquoted(text: str) -> str:
    """Return a name without the pair of quotes around the whole of it."""
    text = text.strip()
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def loosely(data: bytes, ids: IdForm) -> Manifest:
    """Return the listed tests as far as a manifest alone tells, with files and names as they are written there.

    Raises:
        ManifestError: It is refused.
    """
    return Manifest(tuple(dict.fromkeys(TestId(item.file, ids.test_of(item.name)) for item in read_lines(data))))


def listed_tests(data: bytes, ids: IdForm) -> Manifest:
    """Return the tests of a manifest in the form that the language's ids have.

    Raises:
        ManifestError: It is refused.
    """
    return loosely(data, ids) if ids.one_a_line else parse_manifest(data, ids)
