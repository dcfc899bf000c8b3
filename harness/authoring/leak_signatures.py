"""Leak signatures of withheld tests: names, lines and texts that only they have.

Other copies of the code under test in an image: a test could ask one of them what is right.

A system library of the same project, a build cache, an installed copy, a transformed source: each still answers when
the code that a test calls has been taken out. They are recognised by names and texts of the code that a task removes,
in compiled files as well.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from unidiff.patch import PatchSet

from harness.authoring.image_search import FoundFile
from harness.judging.languages.protocol import Language
from harness.sandbox.git_tree import GitTree

_TEXT = re.compile(r"""(["'])((?:(?!\1)[^\\]){12,})\1""")  # as it also stands in compiled code
_MIN_NAME = 6
_MIN_LINE = 20
_MAX_LINES = 40
_TELLING_NAME = 16
"""Characters from which on a single name is worth a look; shorter ones come up elsewhere by chance."""
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
    """Signs of withheld text: `names` that stand alone, `lines` anywhere, and `files` by their whole paths.

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
    """Return the signatures of what a patch takes out, less all that the task's own tree has as well."""
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
    """Return the first line that takes out each name and line."""
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
    """Return the most telling ones: a whole tree of files is searched for each."""
    return sorted(lines, key=lambda line: (-len(line), line))[:_MAX_LINES]


def _stands_alone(name: bytes, data: bytes) -> bool:
    """Return whether a name is there and not only as part of another. Compiled code has no room between names."""
    if b"\0" in data:
        return len(name) >= _UNLIKELY_PART
    return re.search(rb"(?<![A-Za-z0-9_])" + re.escape(name) + rb"(?![A-Za-z0-9_])", data) is not None


_NAME = re.compile(r"[A-Za-z_]\w{7,}")
_OTHER_COPIES_TEXT = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]){8,})\1""")
_COMMENT = re.compile(r"(?<!\S)(#|//|\*).*")
_DEFINED = (
    r"(?:\b(?:def|func(?: \([^)]*\))?|function|class|const|let|var|type|struct)\s+|^[\w* ]*\b|^\s*\*?)"
    r"(%s)\s*(?:[(:=<]|struct\b|$)"
)
ORDINARY = 12
"""A name that stands in more files outside the tree than these says nothing about a copy."""
IN_COMPILED_FILES, IN_TEXT = 3, 4
"""Numbers of different signatures that don't meet in a file by chance; a text may mention a public name or two."""
SHARE = 0.1
"""Share of all signatures: of a long list of names a few ordinary ones turn up in any compiler."""


def telling_parts(patch: bytes, tree: Iterable[bytes]) -> dict[bytes, int]:
    """Return texts and names in what a removal takes out, and the names of the functions that it is taken out of.

    Each with the first line of the patch that has it, from 1. Of the names those that some file of the tree defines:
    others belong to libraries that it uses.
    """
    names, texts = dict[str, int](), dict[str, int]()
    for file in PatchSet(patch.decode(errors="replace")):
        for hunk in file:
            for line in hunk:
                at = line.diff_line_no or 1
                if line is hunk[0]:
                    _note(names, _NAME.findall(hunk.section_header or ""), at - 1)
                if line.is_removed:
                    _note(texts, (text for _, text in _OTHER_COPIES_TEXT.findall(line.value)), at)
                    _note(names, _NAME.findall(_COMMENT.sub("", line.value)), at)
    lines = {**{name: names[name] for name in _defined(set(names), tree)}, **texts}
    return {part.encode(): line for part, line in lines.items()}


def _note(known: dict[str, int], parts: Iterable[str], line: int) -> None:
    for part in parts:
        known.setdefault(part, line)


def _defined(names: set[str], tree: Iterable[bytes]) -> set[str]:
    if not names:
        return set()
    search = re.compile((_DEFINED % "|".join(map(re.escape, sorted(names)))).encode(), re.MULTILINE)
    return {found[1].decode() for text in tree for found in search.finditer(text)}


def copies(
    files: Iterable[FoundFile], parts: Collection[bytes], absent: Sequence[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return path -> some of the `parts` in it, for every file that looks like a copy. Pure but for reading `files`.

    Args:
        files: Files of an image.
        parts: Pieces of the code that was removed.
        absent: Paths below which nothing counts: the tree itself, and what arms don't have. Without a leading slash.
    """
    if not parts:
        return {}
    search = re.compile(b"|".join(re.escape(part) for part in sorted(parts, key=len, reverse=True)))
    hits = {
        file.path: (frozenset(search.findall(file.data)), b"\0" in file.data)
        for file in files
        if not any(PurePosixPath(file.path.partition("!")[0]).is_relative_to(path) for path in absent)
    }
    count = Counter(part for found, _ in hits.values() for part in found)
    telling = {part for part in parts if count[part] <= ORDINARY}
    return {
        path: tuple(sorted(part.decode(errors="replace") for part in found & telling))
        for path, (found, is_compiled) in hits.items()
        if len(found & telling) >= max(IN_COMPILED_FILES if is_compiled else IN_TEXT, SHARE * len(telling))
    }
