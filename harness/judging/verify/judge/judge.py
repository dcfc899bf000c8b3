"""One judging: all questions about one submission are asked, the answers checked and counted.

Questions about a patch whose answers code knows: if a judge gets one wrong, none of its answers counts.

They are worded as criteria are and made of the patch's own names, so that a patch that tells its judge what to
answer can't set them apart. They depend on nothing but the patch: the same one is asked the same.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from harness.judging.verify.judge.asking import AnswerCache, Asking
from harness.judging.verify.judge.prompts import Prompts, Shown, shown
from harness.judging.verify.judge.questions import Answer, Brief, JudgeIdentity, Question
from harness.judging.verify.judge.replies import Opinion, Vote, VoteFault, is_wrong, opinion, void_words
from harness.models.allowance import MeteredModel, Spending
from harness.models.protocol import Model
from harness.specs.reasons import ReasonCode
from harness.specs.usage import Usage

KNOWN_TRUE, KNOWN_FALSE = "known-true", "known-false"
_CALL = re.compile(r"\b([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)\(")
_PROSE = ("#", "//", "*", "/*", '"', "'", "`")
"""Beginnings of lines that aren't code: no control statement may be about functions that prose calls."""
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
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PART_OF_FILE = re.compile(r"[A-Za-z]+")
_OF_TESTS = frozenset({"test", "tests", "spec", "assert", "expect", "isinstance", "describe", "self", "return"})
"""Words that tell a test apart, and no behaviour."""
_TAKEN = 20
"""Names and words of a patch that others are made of."""
_CALLS = "Tests that call '{}' are among the lines that the patch adds."
_STANDS = "Tests that stand in a file whose path ends with '{}' are added or changed by the patch."


def known_questions(patch: str, calls: frozenset[str] | None = None) -> tuple[Question, Question]:
    """Return one statement that is true of the patch and one that is false, about a called function or a file.

    `calls` is what the listed tests call, by their language's grammar: no other name is asked about. None where no
    grammar
    tells.

    Raises:
        ValueError: The patch has neither to ask about.
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
    invented = _absent_name(patch, names) if about_names else _absent_file(patch, true)
    return (
        Question(KNOWN_TRUE, form.format(true), known=Answer.MET),
        Question(KNOWN_FALSE, form.format(invented), known=Answer.UNMET),
    )


def _called(patch: str) -> set[str]:
    """Return names of functions that added lines call, as far as a line alone tells: no strings, no definitions."""
    code = (line for line in _code(patch) if not _DEFINITION.search(line))
    return {name for line in code for name in _CALL.findall(line) if len(name) in _NAME_CHARS}


def _code(patch: str) -> list[str]:
    """Return the added lines without their strings and comments, and without prose."""
    added = (line[1:].strip() for line in patch.split("\n") if line.startswith("+") and not line.startswith("+++ "))
    return [_COMMENT.sub("", _STRING.sub("", line)) for line in added if not line.startswith(_PROSE)]


def _pick(patch: str, candidates: Iterable[str]) -> str:
    """Return one of the candidates, chosen by the patch's hash."""
    return min(candidates, key=lambda candidate: _rank(patch, candidate))


def _rank(patch: str, word: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{word}\0{patch}".encode()).digest()[:8])


def _absent_name(patch: str, names: Sequence[str]) -> str:
    """Return a name that stands nowhere in the patch: one of its own with a word of another in it."""
    known, words = _vocabulary(patch)
    called = [name for name in known if name in names or not name.lower().startswith("test")]
    patterns = sorted(called, key=lambda name: _rank(patch, name))[:_TAKEN]
    swapped = (found for name in patterns for found in _swapped(name, _WORD, words))
    joined = (f"{name}_{word}" for name in names for word in words)
    return _first_absent(patch, names[0], chain(swapped, joined), _NAME_CHARS)


def _absent_file(patch: str, file: str) -> str:
    """Return the name of a file that stands nowhere in the patch, with a word of the patch in it."""
    _, words = _vocabulary(patch)
    folder, slash, name = file.rpartition("/")
    stem, dot, ending = name.partition(".")
    swapped = (f"{folder}{slash}{found}{dot}{ending}" for found in _swapped(stem, _PART_OF_FILE, words))
    joined = (f"{folder}{slash}{stem}_{word}{dot}{ending}" for word in words)
    return _first_absent(patch, f"{folder}{slash}{stem}", chain(swapped, joined), _FILE_CHARS, f"{dot}{ending}")


def _first_absent(patch: str, name: str, candidates: Iterable[str], lengths: range, ending: str = "") -> str:
    """Return the first candidate that doesn't occur; a number is put behind `name` where each does."""
    text = patch.lower()
    numbered = (f"{name}_{number}{ending}" for number in range(2, len(patch) + 3))
    fitting = (candidate for candidate in candidates if len(candidate) in lengths)
    return next(candidate for candidate in chain(fitting, numbered) if candidate.lower() not in text)


def _vocabulary(patch: str) -> tuple[list[str], list[str]]:
    """Return the patch's names of several words, and the words of all its names; in an order that nobody chose."""
    names = {name for line in _code(patch) for name in _NAME.findall(line) if len(name) in _NAME_CHARS}
    words = {word.lower() for name in names for word in _WORD.findall(name) if len(word) > 3} - _OF_TESTS
    several = [name for name in sorted(names) if len(_WORD.findall(name)) > 1]
    return several, sorted(words, key=lambda word: _rank(patch, word))[:_TAKEN]


def _swapped(name: str, part: re.Pattern[str], words: Sequence[str]) -> Iterator[str]:
    """Yield the name with one of its parts replaced, the last first, in the part's own case."""
    for found in reversed(list(part.finditer(name))):
        for word in words if found[0].lower() not in _OF_TESTS else ():
            fitting = word.upper() if found[0].isupper() else word.capitalize() if found[0][0].isupper() else word
            if word != found[0].lower():
                yield f"{name[: found.start()]}{fitting}{name[found.end() :]}"


MAX_SHOWN_CHARS = 400_000
"""Characters of patch and manifest, about 100,000 tokens. A larger one isn't cut: a judge can't judge what is cut."""
PARALLEL_CALLS = 4
UNREACHED = "the judge could not be reached; the votes in judge.jsonl say why"
"""A verdict's words, which hold no address: the provider's message is with the votes."""


@dataclass(frozen=True)
class JudgeReport:
    """A judge's answers about one submission. `opinions` are by criterion; `void` says why none of them counts.

    `misled` says that it answered wrongly what is known, `removed` is the number of invisible characters that it
    wasn't shown.
    """

    opinions: Mapping[str, Opinion]
    votes: tuple[Vote, ...] = ()
    void: str = ""
    misled: bool = False
    removed: int = 0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Judge:
    """A named model in the role of the judge. `build` makes a model for one judging; `slots` are shared by all."""

    identity: JudgeIdentity
    prompts: Prompts
    build: Callable[[], Model]
    cache: AnswerCache = field(default_factory=AnswerCache)
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PARALLEL_CALLS))

    async def ask(self, brief: Brief, spending: Spending | None = None, trusting: bool = False) -> JudgeReport:
        """Put every question of the brief, and two whose answers are known. `spending` is of all judgings.

        `trusting` takes a judge at its word, as the published verifier does: nothing is asked whose answer is known,
        and no answer need quote the patch. Never raises for what a model or its provider does: that makes votes
        which don't count.
        """
        seen = Shown.of(brief)
        if (size := len(seen.patch) + len(seen.tests)) > MAX_SHOWN_CHARS:
            words = f"patch and manifest have {size} characters; a judge is shown at most {MAX_SHOWN_CHARS}"
            return _unasked(brief, ReasonCode.JUDGE_UNAVAILABLE, words, seen.removed)
        try:
            known = () if trusting else known_questions(seen.patch, brief.calls)
        except ValueError as error:
            return _unasked(brief, ReasonCode.JUDGE_UNPARSEABLE, str(error), seen.removed)
        spent = Spending(within=spending)
        model = MeteredModel(self.build(), spent)
        tests = {name: shown(text).text for name, text in brief.tests.items()}
        asking = Asking(self.identity, self.prompts, self.cache, self.slots, model, seen, tests, trusting)
        votes = await asking.votes([*known, *brief.questions])
        return _counted(brief.questions, known, votes, seen.removed, spent.usage)


def _counted(
    questions: Sequence[Question], known: Sequence[Question], votes: Sequence[Vote], removed: int, usage: Usage
) -> JudgeReport:
    of = {item: [vote for vote in votes if vote.question == item.id] for item in (*known, *questions)}
    opinions = {item.id: opinion(item, of[item]) for item in questions}
    if void := void_words({item: of[item] for item in known}):
        code = ReasonCode.JUDGE_UNPARSEABLE
        if any(vote.fault is VoteFault.UNAVAILABLE for item in known for vote in of[item]):
            code, void = ReasonCode.JUDGE_UNAVAILABLE, UNREACHED
        opinions = {name: Opinion(votes=item.votes, missing=code, words=void) for name, item in opinions.items()}
    misled = is_wrong({item: of[item] for item in known})
    return JudgeReport(opinions, tuple(votes), void, misled, removed, usage)


def _unasked(brief: Brief, code: ReasonCode, words: str, removed: int) -> JudgeReport:
    nothing = Opinion(missing=code, words=words)
    return JudgeReport({question.id: nothing for question in brief.questions}, void=words, removed=removed)
