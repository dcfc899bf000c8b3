"""The manifest: which tests the agent says it wrote."""

import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

import yaml

from harness.languages.protocol import IdForm
from harness.specs.ids import TestId
from harness.specs.reasons import ReasonCode
from harness.specs.yaml_text import Quoted, yaml_text

MAX_MANIFEST_BYTES = 512_000
MAX_MANIFEST_LINES = 20_000
MAX_MANIFEST_TESTS = 2_000
MAX_DEPTH = 8
FENCE = "<<TEST_MANIFEST>>"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


TOO_LARGE = f"larger than {MAX_MANIFEST_BYTES} bytes or {MAX_MANIFEST_LINES} lines"


class ManifestError(Exception):
    """A manifest that can't be taken. `code` says why in the contract's words."""

    def __init__(self, code: ReasonCode, words: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {words}" if line else words)
        self.code = code


class Manifest(NamedTuple):
    """Test ids in the order in which they are listed, without repetitions."""

    tests: tuple[TestId, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(test.file for test in self.tests))


def parse_manifest(data: bytes, ids: IdForm) -> Manifest:
    """Read a manifest: a YAML list of `{file, tests}`, or the same between two fence lines.

    `ids` are the language's: an id with a case (`test_a[x]`, `TestName/sub`) stands for its test, and so does one
    behind the path of its own file (`tests/test_a.py::test_a`), as the test command takes it. Raises ManifestError.
    """
    rows = _rows(_list_of(_text(data)))
    seen: set[tuple[str, str]] = set()
    for file, name in rows:
        if (file, name) in seen:
            raise ManifestError(ReasonCode.MANIFEST_DUPLICATE, f"{file}::{name} is listed twice")
        seen.add((file, name))
    tests = dict.fromkeys(TestId(file, ids.test_of(name.removeprefix(f"{file}::"))) for file, name in rows)
    return Manifest(tuple(tests))


def format_manifest(tests: Iterable[TestId]) -> str:
    """A manifest as YAML text: the reverse of `parse_manifest`."""
    by_file: dict[str, list[str]] = {}
    for test in tests:
        by_file.setdefault(test.file, []).append(Quoted(test.name))
    rows = [{"file": file, "tests": names} for file, names in by_file.items()]
    return yaml_text(rows)


def too_large(data: bytes) -> bool:
    """Whether a manifest is past the caps; it isn't parsed then."""
    return len(data) > MAX_MANIFEST_BYTES or data.count(b"\n") > MAX_MANIFEST_LINES


def _text(data: bytes) -> str:
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
        return text
    if len(fences) != 2:
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, f"expected two {FENCE} lines, found {len(fences)}")
    return "\n".join(lines[fences[0] + 1 : fences[1]])


def _list_of(text: str) -> list[Any]:
    try:
        _refuse_traps(text)
        data = yaml.load(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, f"not YAML: {error.problem}", line) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, "not YAML") from None
    if not isinstance(data, list):
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, "expected a list of entries with 'file' and 'tests'")
    return data


def _refuse_traps(text: str) -> None:
    """Look at the stream before anything is built of it: aliases and depth make small files cost much."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > MAX_DEPTH:
            line = event.start_mark.line + 1 if event.start_mark else 0
            fault = "nested too deeply" if depth > MAX_DEPTH else "aliases are not allowed"
            raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, fault, line)


def _rows(entries: list[Any]) -> list[tuple[str, str]]:
    rows = []
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict) or set(entry) != {"file", "tests"} or not isinstance(entry["tests"], list):
            words = f"entry {number} is not a mapping of exactly 'file' and a list 'tests'"
            raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, words)
        file = _path(entry["file"], number)
        rows += [(file, _name(name, number)) for name in entry["tests"]]
        if len(rows) > MAX_MANIFEST_TESTS:
            raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, f"more than {MAX_MANIFEST_TESTS} tests")
    if not rows:
        raise ManifestError(ReasonCode.MANIFEST_MISSING, "the manifest lists no test")
    return rows


def _path(value: Any, number: int) -> str:
    path = _printable(value, f"the file of entry {number}").removeprefix("./")
    if path.startswith("/") or ".." in path.split("/") or "\\" in path or not path:
        raise ManifestError(
            ReasonCode.MANIFEST_UNPARSEABLE, f"the file of entry {number} is not a path inside the repository"
        )
    return path


def _name(value: Any, number: int) -> str:
    return _printable(value, f"a test of entry {number}")


def _printable(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, f"{what} is not text; put it in quotes")
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for char in value):
        raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, f"{what} has control or invisible characters")
    return value.strip()
