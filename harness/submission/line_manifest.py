"""Manifests of published tasks: one name a line, by the words of their instruction, with no YAML rules."""

from typing import NamedTuple

from harness.languages.protocol import IdForm
from harness.specs.ids import TestId
from harness.specs.reasons import ReasonCode
from harness.submission.manifest import (
    MAX_MANIFEST_TESTS,
    Manifest,
    ManifestError,
    checked_text,
    inside_the_repository,
    manifest_lines,
    parse_manifest,
)


class ListedName(NamedTuple):
    """A name as somebody listed it, and the file that it stands under; empty where it stands under none."""

    file: str
    name: str
    line: int


def read_lines(data: bytes) -> list[ListedName]:
    """The lines that begin with a dash, less `file:` and `tests:`; a name that is there again counts once.

    Quotes around a whole name are not part of it. Raises ManifestError.
    """
    lines, above = manifest_lines(data)
    file, found = "", dict[tuple[str, str], ListedName]()
    for number, line in enumerate(lines, start=above + 1):
        stripped = line.strip()
        text = stripped.removeprefix("-").strip()
        if text.startswith("file:"):
            file = inside_the_repository(_unquoted(text.removeprefix("file:")), number)
        elif stripped.startswith("-") and text and not text.startswith("tests:"):
            name = checked_text(_unquoted(text), "this name", number)
            found.setdefault((file, name), ListedName(file, name, number))
            if len(found) > MAX_MANIFEST_TESTS:
                words = f"more than {MAX_MANIFEST_TESTS} tests"
                raise ManifestError(ReasonCode.MANIFEST_UNPARSEABLE, words, number)
    if not found:
        raise ManifestError(ReasonCode.MANIFEST_MISSING, "no line of the manifest names a test")
    return list(found.values())


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def loosely(data: bytes, ids: IdForm) -> Manifest:
    """The listed tests as far as a manifest alone tells, file and name as they stand there. Raises ManifestError."""
    return Manifest(tuple(dict.fromkeys(TestId(item.file, ids.test_of(item.name)) for item in read_lines(data))))


def listed_tests(data: bytes, ids: IdForm) -> Manifest:
    """A manifest of either form. Raises ManifestError."""
    return loosely(data, ids) if ids.one_a_line else parse_manifest(data, ids)
