"""Leak signatures of withheld tests: names, lines and texts that only they have."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from unidiff.patch import PatchSet

from harness.languages.protocol import Language
from harness.sandbox.git_tree import GitTree

_TEXT = re.compile(r"""(["'])((?:(?!\1)[^\\]){12,})\1""")  # as it also stands in compiled code
_MIN_NAME = 6
_MIN_LINE = 20
_MAX_LINES = 40
_TELLING_NAME = 16
"""Of that length a name alone is worth a look; shorter ones come up elsewhere by chance."""
_UNLIKELY_PART = 12


class Hits(NamedTuple):
    """Distinct signatures found in one file."""

    names: frozenset[str]
    lines: frozenset[str]

    @property
    def certain(self) -> bool:
        """Two names, a name with a line of it, or three lines don't meet by chance."""
        return len(self.names) > 1 or bool(self.names and self.lines) or len(self.lines) > 2

    @property
    def possible(self) -> bool:
        return any(len(name) >= _TELLING_NAME for name in self.names)


@dataclass(frozen=True)
class LeakSignatures:
    """`names` count where they stand alone, `lines` anywhere; `files` are paths that are withheld as a whole.

    `places` says of a name or line where it comes from, as `withheld.patch:12`.
    """

    names: frozenset[str]
    lines: frozenset[str]
    files: frozenset[str]
    places: Mapping[str, str] = field(default_factory=dict)

    def search(self, data: bytes) -> Hits:
        names = (name for name, raw in self._names if raw in data and _stands_alone(raw, data))
        lines = (line for line, raw in self._lines if raw in data)
        return Hits(frozenset(names), frozenset(lines))

    @cached_property
    def _names(self) -> list[tuple[str, bytes]]:
        return [(name, name.encode()) for name in self.names]

    @cached_property
    def _lines(self) -> list[tuple[str, bytes]]:
        return [(line, line.encode()) for line in self.lines]


async def leak_signatures_of(withheld: bytes, tree: GitTree, language: Language) -> LeakSignatures:
    """From what a patch takes out, less all that the task's own tree has as well."""
    patch = PatchSet(withheld.decode(errors="replace"))
    removed = [line.value.strip() for file in patch for hunk in file for line in hunk if line.is_removed]
    declared = (found[1] for line in removed for found in language.declaration.finditer(line))
    names = {name for name in declared if len(name) >= _MIN_NAME}
    lines = {line for line in removed if len(line) >= _MIN_LINE and not line.startswith(("import ", "from "))}
    lines |= {text for line in removed for _, text in _TEXT.findall(line)}
    entries = await tree.entries()
    present = b"\n".join((await tree.read_all(entries)).values())
    files = {file.path for file in patch if file.is_removed_file} - entries.keys()
    signatures = LeakSignatures(
        _absent(names, present), frozenset(_longest(_absent(lines, present))), frozenset(files)
    )
    return replace(signatures, places=_places(withheld, signatures))


def _places(withheld: bytes, signatures: LeakSignatures) -> dict[str, str]:
    """The first line that takes out each name and line."""
    found: dict[str, str] = {}
    for number, line in enumerate(withheld.decode(errors="replace").splitlines(), 1):
        if line.startswith("-") and not line.startswith("---"):
            for part in signatures.names | signatures.lines:
                if part not in found and part in line:
                    found[part] = f"withheld.patch:{number}"
    return found


def _absent(candidates: Iterable[str], present: bytes) -> frozenset[str]:
    return frozenset(candidate for candidate in candidates if candidate.encode() not in present)


def _longest(lines: Iterable[str]) -> list[str]:
    """The most telling ones: a whole tree of files is searched for each."""
    return sorted(lines, key=lambda line: (-len(line), line))[:_MAX_LINES]


def _stands_alone(name: bytes, data: bytes) -> bool:
    """Whether a name is there and not only as part of another. Compiled code has no room between names."""
    if b"\0" in data:
        return len(name) >= _UNLIKELY_PART
    return re.search(rb"(?<![A-Za-z0-9_])" + re.escape(name) + rb"(?![A-Za-z0-9_])", data) is not None
