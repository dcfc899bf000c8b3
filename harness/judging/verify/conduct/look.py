"""A look at how a suite's added code reaches its verdicts: means that behaviour doesn't need, and oracles.

A second line behind the arms. It marks; what a mark leads to is said in `conduct_verdict.py`. Pure, and takes time
linear to the text.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.conduct import Conduct, FileRules, Inner, Sight, Sources, sights
from harness.judging.languages.found import nodes_of
from harness.judging.languages.protocol import Language
from harness.judging.verify.conduct.copies import copied, parts_of, pieces_of
from harness.judging.verify.conduct.digest_calls import CHECKSUMS, DIGESTS, PROGRAM
from harness.judging.verify.conduct.digests import compares_recorded_digest
from harness.judging.verify.conduct.large_numbers import is_large, is_odd, plain_number
from harness.judging.verify.conduct.records_beside import OWN_TEXTS, reads_itself
from harness.judging.verify.conduct.tokens import Token, tokens_of
from harness.judging.verify.intake import FileChange
from harness.judging.verify.judge.prompts import shown
from harness.sandbox.git_tree import GitTree
from harness.specs.reasons import Note, NoteCode
from harness.specs.repo import matches
from harness.specs.task import Task

_FUNCTIONS = re.compile(r"(generator_)?function_(definition|declaration|expression)|arrow_function|method_definition")
"""Types of nodes of functions with bodies."""
RECORDED, RECORDED_SHARE = 500, 0.28
"""Literals of files of which they are at least this share of the tokens. Honest files have at most 0.25 (tables)."""
LONG_LITERAL = 64
"""Characters that count as one literal more."""
TABLE_LITERAL, TABLE_CELL = 1_000, 12
"""A literal of so many characters counts as a table: one literal for so many."""
DATA_LINES, LONG_LINE = 1_000, 256
"""Added lines of files that aren't code."""
HASHES = 20
"""Literals that look like hashes, without any call that makes one; one is enough with such a call."""
_HASH = re.compile(rb"""["'`]?(?:sha\d+:)?[0-9a-fA-F]{32,128}["'`]?|0[xX][0-9a-fA-F]{16}\w*""")
_SHORT_HASH = re.compile(rb"""[bru]{0,2}["'`](?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,31}["'`]""")
"""Some digits of a hash, which count only beside a call that makes one."""
_DIGEST = re.compile(
    rb"(?<![0-9A-Za-z+/=])(?:(?:[0-9a-fA-F]{8}){4,5}|[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128}"
    rb"|[0-9A-Za-z+/]{22}==|[0-9A-Za-z+/]{27}=|[0-9A-Za-z+/]{43}=|[0-9A-Za-z+/]{86}==)(?![0-9A-Za-z+/=])"
)
"""A digest in a file of data, in hexadecimal digits or in base64: as long as those of md5, sha1 and the sha2 are."""
_LINE_COMMENTS = {".py": re.compile(rb"\s*#")}
_LINE_COMMENT = re.compile(rb"\s*//")
_RETURN = re.compile(rb"\r(?!\n)")
_MIXERS = frozenset(
    b"16777619 0x1000193 0x01000193 2166136261 0x811c9dc5 1099511628211 0x100000001b3 14695981039346656037"
    b" 0xcbf29ce484222325 0x5bd1e995 1540483477 0xedb88320 3988292384 0xc6a4a7935bd1e995".split()
)
"""Numbers of which well-known hashes are made: whoever has them makes digests without any of those names."""
MOST_FILES, MOST_DECLARING = 3_000, 500_000
"""The most files of a repository that are read for the functions that they declare, and the bytes of one."""
_MOST_LINES, _MOST_CHARS = 5, 80
"""The most lines of one file, and characters of one line, in a note."""


@dataclass
class Written:
    """The code that a submission adds to one file, as the grammar reads it: only added lines count.

    Nothing is kept for each token: a file of 2 MB may have a million of them. `pieces` are those of the code under
    test that the file has as well.
    """

    path: str
    sights: tuple[Sight, ...]
    lines: Sequence[bytes]
    pieces: set[int] = field(default_factory=set)
    literals: int = 0
    others: int = 0
    hashes: int = 0
    short_hashes: int = 0
    digests: bool = False
    mixes: bool = False
    is_large: bool = False
    sums: bool = False
    is_odd: bool = False
    """Whether a large number is no mask, no power of two and not round."""
    compares_digest: bool = False
    comment_lines: int = 0
    """Lines of comments, if the file reads its own text."""
    is_table: bool = False
    """Whether it is a file of data that is read as code because other code includes it."""

    @property
    def share(self) -> float:
        """Return which part of its tokens are literals."""
        return self.literals / max(1, self.literals + self.others)

    def take(self, token: Token) -> None:
        """Count one token."""
        if self.is_table:
            return
        if token.is_literal:
            size = len(token.text)
            self.literals += 1 + size // (LONG_LITERAL if size < TABLE_LITERAL else TABLE_CELL)
            self.hashes += bool(_HASH.fullmatch(token.text))
            self.short_hashes += bool(_SHORT_HASH.fullmatch(token.text))
            self.digests |= size <= LONG_LINE and PROGRAM.fullmatch(token.text.decode("utf-8", "replace")) is not None
            number = plain_number(token.text) if len(token.text) < LONG_LITERAL else b""
            self.mixes |= number in _MIXERS
            self.is_large |= number not in _MIXERS and is_large(number)
            self.is_odd |= number not in _MIXERS and is_odd(number)
        else:
            self.others += 1
            self.digests |= token.is_name and token.text in DIGESTS
            self.sums |= token.is_name and token.text in CHECKSUMS


def look_at_conduct(
    task: Task, changes: Iterable[FileChange], language: Language, around: Mapping[str, bytes]
) -> tuple[Note, ...]:
    """Return a note for each file that inspects code, and at most one for each kind of oracle.

    `around` are the repository's files that say which names are functions (`declaring_files`), by their paths.
    """
    conduct = language.conduct
    if conduct is None:
        return ()
    changed = list(changes)
    own = {change.path: change.new for change in changed if change.new is not None}
    tables = {path for path in conduct.included(own) if not path.endswith(language.suffixes)}
    texts = _texts(changed, conduct, language.suffixes, tables)
    code = [change for change in changed if texts[change.path]]
    parts = parts_of(task, conduct) if code else []
    wanted = frozenset[int]().union(*(pieces for part in parts for pieces in part))
    rules = conduct.rules(Sources(around, own) if code else Sources())
    written = [_written(change, conduct, wanted, rules, texts[change.path], change.path in tables) for change in code]
    no_data = {file.path for file in written if file.path in tables and not file.is_table}
    data = [
        _data(change) for change in changed if not (change.path.endswith(language.suffixes) or change.path in no_data)
    ]
    return (
        *(_inspecting(file) for file in written if file.sights),
        *copied(parts, frozenset[int]().union(*(file.pieces for file in written))),
        *_recorded(written, data),
    )


async def declaring_files(tree: GitTree, task: Task, language: Language) -> dict[str, bytes]:
    """Return the files of a tree that say which of its names are functions, by their paths; tests aside."""
    declaring = language.conduct.declaring if language.conduct else ()
    wanted = {
        path: entry
        for path, entry in sorted((await tree.entries()).items())
        if declaring and path.endswith(declaring) and not matches(path, task.repo.test_paths)
    }
    sizes = await tree.sizes(wanted) if wanted else {}
    small = {path: entry for path, entry in wanted.items() if sizes[path] <= MOST_DECLARING}
    return await tree.read_all(dict([*small.items()][:MOST_FILES]))


def _texts(
    changed: Sequence[FileChange], conduct: Conduct, suffixes: tuple[str, ...], tables: Collection[str]
) -> Mapping[str, Sequence[Inner]]:
    """Return all code of each file: its own text, where it is one of code, and what else is in it.

    `tables` are files that other code includes: code as well, or data that is written like it.
    """
    lines = {change.path: _with_lines(change.new) for change in changed}
    inner = conduct.inner(lines)
    return {
        path: [
            *([Inner(text, acts=True)] if path.endswith(suffixes) or path in tables else ()),
            *inner.get(path, ()),
        ]
        for path, text in lines.items()
    }


def _written(
    change: FileChange,
    conduct: Conduct,
    wanted: frozenset[int],
    rules: FileRules,
    texts: Sequence[Inner],
    may_be_table: bool,
) -> Written:
    lines = _with_lines(change.new).splitlines()
    known = frozenset(_with_lines(change.old).splitlines())
    numbers = [number for number, line in enumerate(lines, start=1) if line not in known]
    added = frozenset(numbers)
    written = Written(change.path, (), lines)
    for text, acts in texts:
        root = conduct.parse(text, change.path)
        written.is_table = may_be_table and not any(_FUNCTIONS.fullmatch(node.type) for node in nodes_of(root))
        read = root.text or b""  # with its names as the language reads them
        # Data may lie in what has no effect: in descriptions, and in comments of a file that reads itself.
        tokens = tokens_of(root, conduct, added, reads_texts=OWN_TEXTS.search(read) is not None)
        if reads_itself(read):
            beginning = _LINE_COMMENTS.get(PurePosixPath(change.path).suffix, _LINE_COMMENT)
            written.comment_lines = max(written.comment_lines, _comment_lines(root, beginning, lines, added))
        if acts:
            written.sights += tuple(sight for sight in sights(root, rules(root, change.path)) if sight.is_of(numbers))
            written.compares_digest |= compares_recorded_digest(root, conduct.literals, added)
            tokens = _counted(tokens, written)
        written.pieces |= {piece for _, piece in pieces_of(tokens) if piece in wanted}
    return written


def _comment_lines(root: Node, beginning: re.Pattern[bytes], lines: Sequence[bytes], added: Collection[int]) -> int:
    """Return how many of the added lines are comments; a long one counts as many.

    A grammar isn't given all of many comments in a row, so those of one line are known by how they begin.
    """
    known = {number for number in added if beginning.match(lines[number - 1])}
    for node in nodes_of(root):
        if node.type == "comment":
            known.update(range(node.start_point[0] + 1, node.end_point[0] + 2))
    return sum(1 + len(lines[number - 1]) // LONG_LINE for number in known.intersection(added))


def _counted(tokens: Iterable[Token], written: Written) -> Iterator[Token]:
    for token in tokens:
        written.take(token)
        yield token


def _with_lines(text: bytes | None) -> bytes:
    """Turn carriage returns into line ends: they end a comment for Python, C and JavaScript, but for no grammar."""
    return _RETURN.sub(b"\n", text or b"")


class _Data(NamedTuple):
    """The data that a submission adds to one file: lines, of which a long one counts as many, and digests."""

    lines: int
    hashes: int


def _data(change: FileChange) -> _Data:
    known = frozenset((change.old or b"").splitlines())
    added = [line for line in (change.new or b"").splitlines() if line not in known]
    hashes = sum(1 for line in added for word in _DIGEST.finditer(line) if _is_mixed(word[0]))
    return _Data(sum(1 + len(line) // LONG_LINE for line in added), hashes)


def _is_mixed(digits: bytes) -> bool:
    return not digits.isdigit() and not digits.isalpha()


def _inspecting(file: Written) -> Note:
    by_line: dict[int, str] = {}
    for sight in file.sights:
        by_line.setdefault(sight.line, sight.words)
    said = [f"line {line} {words}: {_quoted(file.lines, line)}" for line, words in [*by_line.items()][:_MOST_LINES]]
    more = [f"and {len(by_line) - _MOST_LINES} more lines"] if len(by_line) > _MOST_LINES else []
    return Note(code=NoteCode.INSPECTS_CODE, subject=file.path, words="; ".join([*said, *more]))


def _quoted(lines: Sequence[bytes], number: int) -> str:
    text = lines[number - 1] if number <= len(lines) else b""
    plain = " ".join(shown(text[: 4 * _MOST_CHARS]).text.split())
    return plain if len(plain) <= _MOST_CHARS else f"{plain[:_MOST_CHARS]}..."


def _recorded(written: Sequence[Written], data: Sequence[_Data]) -> Iterator[Note]:
    dense = [file for file in written if file.share >= RECORDED_SHARE]
    literals = sum(file.literals for file in dense)
    hashes = sum(file.hashes for file in written)
    digests = any(file.digests for file in written)
    data_lines = sum(file.lines for file in data) + sum(file.comment_lines for file in written)
    hashes += sum(file.hashes for file in data) + sum(file.short_hashes for file in written) if digests else 0
    is_mixed = any(file.mixes for file in written) and any(file.is_large for file in written)
    is_mixed |= any(file.sums for file in written) and any(file.is_odd for file in written)
    if literals >= RECORDED:
        share = min(file.share for file in dense)
        words = f"{share:.0%} of a file's tokens are recorded data: {literals} literals"
    elif hashes >= HASHES or (hashes and digests):
        words = f"the suite has {hashes} recorded hashes" + (", and makes some" if digests else "")
    elif is_mixed or any(file.compares_digest for file in written):
        words = "the suite makes a hash of what it gets, and has one to compare it with"
    elif data_lines >= DATA_LINES:
        words = f"the suite adds {data_lines} lines of data"
    else:
        return
    yield Note(code=NoteCode.RECORDED_ORACLE, words=words)
