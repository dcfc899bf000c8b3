"""Questions about a patch whose answers code knows: if a judge gets one wrong, none of its answers counts.

They are worded as criteria are and made of the patch's own names, so that a patch that tells its judge what to
answer can't set them apart. They depend on nothing but the patch: the same one is asked the same.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator

from harness.verify.judge.questions import Answer, Question

KNOWN_TRUE, KNOWN_FALSE = "known-true", "known-false"
_CALL = re.compile(r"\b([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)\(")
_PROSE = ("#", "//", "*", "/*", '"', "'", "`")
"""What lines begin with that aren't code: whether prose calls a function is for nobody to argue about."""
_STRING = re.compile(r"""(["'`])(?:\\.|(?!\1).)*(?:\1|$)""")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//|/\*).*")
_DEFINITION = re.compile(r"\b(?:class|def|func|function)\s.*|\)\s*\{\s*$")
"""A line that names a function without calling it. In C and for methods such a line opens a body."""
_FILE = re.compile(r"^diff --git a/.* b/(?:.*/)?([A-Za-z0-9_.-]*(?:test|spec)[A-Za-z0-9_.-]*)$", re.MULTILINE | re.I)
"""The last part of a path to tests, where nothing in it can be read as words to the judge."""
_FILE_OF_FOLDER = re.compile(
    r"^diff --git a/.* b/(?:.*/)?([A-Za-z0-9_.-]*(?:test|spec)[A-Za-z0-9_.-]*/[A-Za-z0-9_.-]+)$", re.MULTILINE | re.I
)
"""The last two parts, where the folder alone says that tests are in it."""
_NAME_CHARS, _FILE_CHARS = range(5, 40), range(5, 60)
_CALLS = "Tests that call '{}' are among the lines that the patch adds."
_STANDS = "Tests that stand in a file whose path ends with '{}' are added or changed by the patch."


def known_questions(patch: str, calls: frozenset[str] | None = None) -> tuple[Question, Question]:
    """One statement that is true of the patch and one that is false, about a function that is called or about a file.

    `calls` is what the listed tests call, by their language's grammar: no other name is asked about. None where
    nobody knows. Raises ValueError where the patch has neither to ask about.
    """
    files = sorted(
        {name for name in _FILE.findall(patch) or _FILE_OF_FOLDER.findall(patch) if len(name) in _FILE_CHARS}
    )
    names = sorted(_called(patch) if calls is None else _called(patch) & calls)
    if not (files or names):
        raise ValueError("the patch has no name and no file that the judge could be tested with")
    about_names = not files or (bool(names) and _rank(patch, "form") % 2 == 0)
    form = _CALLS if about_names else _STANDS
    true = _pick(patch, names if about_names else files)
    invented = _absent_name(patch, names) if about_names else _absent_file(patch, true, names)
    return (
        Question(KNOWN_TRUE, form.format(true), known=Answer.MET),
        Question(KNOWN_FALSE, form.format(invented), known=Answer.UNMET),
    )


def _called(patch: str) -> set[str]:
    """Names of functions that added lines call, as far as a line alone tells: not in strings, not as definitions."""
    added = (line[1:].strip() for line in patch.split("\n") if line.startswith("+") and not line.startswith("+++ "))
    lines = (_COMMENT.sub("", _STRING.sub("", line)) for line in added if not line.startswith(_PROSE))
    code = (line for line in lines if not _DEFINITION.search(line))
    return {name for line in code for name in _CALL.findall(line) if len(name) in _NAME_CHARS}


def _pick(patch: str, candidates: Iterable[str]) -> str:
    """One of the candidates, which nobody chose."""
    return min(candidates, key=lambda candidate: _rank(patch, candidate))


def _rank(patch: str, word: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{word}\0{patch}".encode()).digest()[:8])


def _absent_name(patch: str, names: Iterable[str]) -> str:
    """A name made of two of the patch's own words, which stands nowhere in it."""
    return next(name for name in _made_up(patch, names) if name.lower() not in patch.lower())


def _absent_file(patch: str, file: str, names: Iterable[str]) -> str:
    stem, dot, ending = file.partition(".")
    words = (f"{stem}_{name}{dot}{ending}" for name in _made_up(patch, names))
    return next(name for name in words if name.lower() not in patch.lower())


def _made_up(patch: str, names: Iterable[str]) -> Iterator[str]:
    words = sorted({word.lower() for name in names for word in name.split("_") if len(word) > 2})
    ranked = sorted(words, key=lambda word: _rank(patch, word))[:20] or ["again"]
    yield from (f"{left}_{right}" for left in ranked for right in reversed(ranked) if left != right)
    yield from (f"{ranked[0]}_{number}" for number in range(2, len(patch) + 3))
