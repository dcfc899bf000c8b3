"""Other copies of the code under test in an image: a test could ask one of them what is right.

A system library of the same project, a build cache, an installed copy, a transformed source: each still answers when
the code that a test calls has been taken out. They are recognised by names and texts of the code that a task removes,
in compiled files as well.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from unidiff.patch import PatchSet

from harness.authoring.image_search import FoundFile

_NAME = re.compile(r"[A-Za-z_]\w{7,}")
_TEXT = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]){8,})\1""")
_COMMENT = re.compile(r"(?<!\S)(#|//|\*).*")
_DEFINED = (
    r"(?:\b(?:def|func(?: \([^)]*\))?|function|class|const|let|var|type|struct)\s+|^[\w* ]*\b|^\s*\*?)"
    r"(%s)\s*(?:[(:=<]|struct\b|$)"
)
ORDINARY = 12
"""A name that stands in more files outside the tree than these says nothing about a copy."""
IN_COMPILED_FILES, IN_TEXT = 3, 4
"""So many different ones don't meet in a file by chance; a text may speak of a public name or two."""
SHARE = 0.1
"""Of all that could be found: of a long list of names a few ordinary ones turn up in any compiler."""


def telling_parts(patch: bytes, tree: Iterable[bytes]) -> dict[bytes, int]:
    """Texts and names in what a removal takes out, and the names of the functions that it is taken out of.

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
                    _note(texts, (text for _, text in _TEXT.findall(line.value)), at)
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
    """Path -> some of the `parts` in it, for every file that looks like a copy. Pure but for reading `files`.

    `absent` are paths below which nothing counts: the tree itself, and what arms don't have. Without a leading slash.
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
