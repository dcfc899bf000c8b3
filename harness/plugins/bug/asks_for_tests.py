"""Repairs that ask whether tests run: lines of the product that name a test runner. Pure.

Hidden tests and drawn inputs run below the repository's test runner. A repair that asks for it may hold there alone.
Only code counts: comments and sentences may speak of tests, and lines that were there before may name a runner.
A text that is put together from texts beside one another counts as a whole one, and escapes as what they stand for.
A file of data counts where added code names it, or opens files; code that evaluates texts could hide any name.

`NODE_ENV` names no runner: libraries warn in development by it. Repairs run with either value (`hidden_arms.py`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.judging.languages.registry import language_of
from harness.judging.verify.conduct.tokens import Token, tokens_of
from harness.judging.verify.intake import FileChange
from harness.plugins.bug.evaluated_texts import evaluation
from harness.plugins.bug.read_environment import Environment
from harness.plugins.bug.written_texts import read_tokens
from harness.specs.repo import Repo


class _Runner(NamedTuple):
    """A test runner as code knows it: patterns of whole names, of whole texts, and of words of a file of data."""

    names: bytes
    texts: bytes
    words: bytes


_PYTHON = rb"_?pytest|PYTEST_\w+|unittest|doctest|xdist"
_TYPESCRIPT = rb"(__)?vitest\w*|VITEST\w*|jest|JEST_\w+|FORCE_TTY"
_C_NAMES = rb"program_invocation(_short)?_name|__progname"
_RUNNERS = {
    "python": _Runner(_PYTHON, rb"(%s)(\.\w+)*" % _PYTHON, _PYTHON),
    "go": _Runner(
        rb"testing",
        rb"testing|\.test|_test\.go|-?test\.((bench|cpu|mem|fuzz|cover)\w*|v|run|short|timeout|count|parallel|list)?",
        rb"testing\.Testing|\.test|_test\.go|-?test\.(v|run|timeout|count)",
    ),
    "typescript": _Runner(_TYPESCRIPT, rb"@?(%s)(/[\w-]+)?" % _TYPESCRIPT, _TYPESCRIPT),
    "c": _Runner(_C_NAMES, rb"/proc/self/\w+|(abs_)?(top_)?srcdir", rb"%s|/proc/self/\w+" % _C_NAMES),
}
"""By language."""
_OURS = rb"TESTWRIGHT_\w*"
_OPENS = re.compile(
    rb"[fd]?open|fdopen|freopen|openSync|Open(File)?|read_(text|bytes)|readFile(Sync)?|ReadFile|createReadStream"
    rb"|require|fetch|getlines?|get_data|embed|mmap|importlib|import_module|__import__|runpy"
)
"""Names by which code reads files, or loads modules whose names it computes."""
_MOST_CHARS = 40


def asks_for_tests(repo: Repo, changes: Iterable[FileChange]) -> str:
    """Return in words where a repair names a test runner; empty where nowhere. Takes time linear to the text."""
    language, runner = language_of(repo), _RUNNERS.get(repo.language)
    conduct = language.conduct
    if conduct is None or runner is None:
        return ""
    changed = list(changes)
    data = _naming_data([each for each in changed if not each.path.endswith(language.suffixes)], runner.words)
    look = _Look(repo.language, runner, {path.rpartition("/")[2].encode(): path for path in data})
    for change in changed:
        if change.path.endswith(language.suffixes):
            root = conduct.parse(change.new or b"", change.path)
            added = frozenset(number for number, _ in _added(change))
            if words := evaluation(root, added) or look.at(tokens_of(root, conduct, added)):
                return f"{change.path} {words}"
    if path := look.data or next(iter(data if look.opens else ()), ""):
        return f"{path}, which added code may read, names {_shown(data[path])}"
    return ""


class _Look:
    """A look at the added code of all files of a repair, one after the other.

    `data` is the path of a file of data that the code names, of those that `paths` has by their last parts; `opens`
    tells whether it opens files.
    """

    def __init__(self, language: str, runner: _Runner, paths: Mapping[bytes, str]) -> None:
        self._names, self._texts = (re.compile(b"%s|%s" % (each, _OURS)) for each in (runner.names, runner.texts))
        self._language, self._paths = language, paths
        self._environment = Environment() if language == "typescript" else None
        self.data, self.opens = "", False

    def at(self, tokens: Iterable[Token]) -> str:
        """Return in words what a file names; empty for nothing."""
        for token in read_tokens(tokens, self._language):
            if (self._texts if token.is_literal else self._names).fullmatch(token.text):
                return f"names {_shown(token.text)}"
            if self._environment and (variable := self._environment.take(token)):
                return f"names {_shown(variable)}"
            if token.is_literal:
                last = token.text.partition(b"?")[0].rpartition(b"/")[2]
                self.data = self.data or self._paths.get(last, "")
            self.opens |= _OPENS.fullmatch(token.text) is not None
        return ""


def _naming_data(changes: Iterable[FileChange], words: bytes) -> dict[str, bytes]:
    """Return what files of data name in their added lines, by their paths."""
    pattern = re.compile(rb"(?<![\w.-])(?:%s|%s)(?![\w-])" % (words, _OURS))
    found = {}
    for change in changes:
        named = next((match[0] for _, line in _added(change) if (match := pattern.search(line))), None)
        if named is not None:
            found[change.path] = named
    return found


def _shown(name: bytes) -> str:
    return name.decode(errors="replace")[:_MOST_CHARS]


def _added(change: FileChange) -> Iterator[tuple[int, bytes]]:
    known = frozenset((change.old or b"").splitlines())
    lines = enumerate((change.new or b"").splitlines(), start=1)
    return ((number, line) for number, line in lines if line not in known)
