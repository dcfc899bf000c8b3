"""Stage 1 and everything else that a suite's text shows: its tests, whether they assert, the static criteria.

Static criteria are a closed list of checks. A suite may need only so many programs: each is built for every variant.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import assert_never

from harness.judging.languages.found import TestFile, TestFunction, TooMuchToRead
from harness.judging.languages.nfkc import normal
from harness.judging.languages.protocol import Discovery, Language
from harness.judging.languages.registry import RememberingDiscovery, language_of
from harness.judging.submission.manifest import ManifestError, listed_tests
from harness.judging.testing.threads import CpuLimit
from harness.judging.verify.conduct.look import look_at_conduct
from harness.judging.verify.intake import FileChange
from harness.judging.verify.manifest_check import ManifestCheck, check_manifest
from harness.judging.verify.suite_reader import READING, read_apart
from harness.specs.errors import UserError
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.repo import matches
from harness.specs.rubric import StaticAnswer, StaticCheck, StaticKind
from harness.specs.task import Task
from harness.specs.test_results import TestId


def holds(check: StaticCheck, tests: Sequence[TestId], changes: Sequence[FileChange], discovery: Discovery) -> bool:
    """Return whether a static check holds over the listed tests; False where there are none.

    What upstream had in a file before says nothing about a submission: names and calls are looked for in the listed
    tests, and in the rest of a file only where the submission made that file. A name may also stand in a helper file
    or header that the submission made and that the file of a test names.

    Args:
        check: A glob, a regular expression or names.
        tests: The listed ones.
        changes: The submission's files.
        discovery: Finds tests and names in them.
    """
    return answered(check, tests, changes, discovery).holds


def answered(
    check: StaticCheck, tests: Sequence[TestId], changes: Sequence[FileChange], discovery: Discovery
) -> StaticAnswer:
    """Return which of the listed tests meet a check; see `holds`."""
    files = {change.path: change for change in changes}
    answers = {str(test): _answer(check, test, files, discovery) for test in tests if test.file in files}
    met = tuple(test for test, is_met in answers.items() if is_met)
    return StaticAnswer(check, met, tuple(test for test, is_met in answers.items() if not is_met))


def _answer(check: StaticCheck, test: TestId, files: Mapping[str, FileChange], discovery: Discovery) -> bool:
    file = files[test.file]
    found = discovery.discover(file.new or b"", test.file).find(test.name)
    if found is None:
        return False
    written = _written(found, file, files)
    match check.check:
        case StaticKind.FILE_MATCHES:
            return matches(test.file, [check.value])
        case StaticKind.TEST_NAMED:
            return bool(re.search(check.value, found.short))
        case StaticKind.USES_NAME:
            texts = (*written, *_brought_in(file, files, discovery))
            return any(not discovery.names(text).isdisjoint(check.names) for text in texts)
        case StaticKind.INSIDE:
            return bool(re.search(check.value, found.enclosing))
        case StaticKind.CALL_ABSENT:
            return all(discovery.calls(text).isdisjoint(check.names) for text in (found.text, *written))
        case _:
            assert_never(check.check)


def _written(found: TestFunction, file: FileChange, files: Mapping[str, FileChange]) -> list[bytes]:
    """Return what the submission wrote of a test: its file and that of its text where it made them, else its text."""
    home = files.get(found.origin) if found.origin else file
    both = {each.path: each for each in (file, home) if each}
    made = [each.new or b"" for each in both.values() if each.old is None]
    return [*made, found.text] if home and home.old is not None else made


def _brought_in(file: FileChange, files: Mapping[str, FileChange], discovery: Discovery) -> Iterator[bytes]:
    """Yield texts without tests that the submission made, and that a file or another of them names."""
    made = {path: change.new for path, change in files.items() if change.old is None and change.new is not None}
    left = {path: text for path, text in made.items() if not discovery.is_test_file(path)}
    waiting = [file.new or b""]
    while waiting:
        named = {last for name in discovery.names(waiting.pop()) for last in (name, PurePosixPath(name).name)}
        named |= {name.rpartition(".")[2] for name in named}
        for path in sorted(left):
            if PurePosixPath(path).name in named or PurePosixPath(path).stem in named:
                waiting.append(left.pop(path))
                yield waiting[-1]


MOST = 5
"""Unless the task's own tests need more."""


def too_many_programs(task: Task, tests: Iterable[TestId]) -> Reason | None:
    """Return the reason to refuse a suite if it, with the tests that it reaches, needs too many programs.

    Raises:
        UserError: The task's reference has no manifest that can be read.
    """
    builder = language_of(task.repo).toolchain.suites
    needed = builder.programs(tests) if builder else frozenset()
    if builder is None or len(needed) <= MOST:
        return None
    most = max(MOST, len(builder.programs(_reference_tests(task))))
    if len(needed) <= most:
        return None
    words = f"a program is built for each package with tests: {len(needed)} of them, at most {most} are built"
    return Reason(code=ReasonCode.ARM_LIMIT, stage=Stage.MANIFEST, words=words)


def _reference_tests(task: Task) -> tuple[TestId, ...]:
    path = task.path("reference/manifest.yaml")
    try:
        return listed_tests(path.read_bytes(), language_of(task.repo).ids).tests
    except (OSError, ManifestError) as error:
        raise UserError(f"{path}: {error}") from None


NOTHING: Mapping[str, bytes] = MappingProxyType({})


async def read_suite(
    task: Task,
    manifest: bytes,
    changes: tuple[FileChange, ...],
    limit: CpuLimit = READING,
    language: Language | None = None,
    around: Mapping[str, bytes] = NOTHING,
    declaring: Mapping[str, bytes] = NOTHING,
) -> ManifestCheck:
    """Call `check_suite` outside the event loop.

    A suite that is too much to read is refused, at its own cost alone.
    """
    try:
        return await read_apart(lambda: check_suite(task, manifest, changes, language, around, declaring), limit)
    except TooMuchToRead as error:
        return ManifestCheck(reasons=(too_much(error),))


def too_much(error: TooMuchToRead) -> Reason:
    """Return the reason for a submission that is too much to read."""
    return Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.MANIFEST, words=str(error))


def check_suite(
    task: Task,
    manifest: bytes,
    changes: tuple[FileChange, ...],
    language: Language | None = None,
    around: Mapping[str, bytes] = NOTHING,
    declaring: Mapping[str, bytes] = NOTHING,
) -> ManifestCheck:
    """Compare the manifest with the patch. Where probes can't show that tests check something, their text must.

    `language` is what tests are found with, the repository's where it isn't given. `around` are files that helpers of
    the tests may be in, `declaring` those that say which names are functions. Each text is read once.

    Raises:
        TooMuchToRead: A file is larger than anybody would write.
    """
    language = language or language_of(task.repo)
    language = replace(language, discovery=RememberingDiscovery(language.discovery))
    check = check_manifest(manifest, changes, language)
    if check.reasons:
        return check
    if refusal := too_many_programs(task, (*check.tests, *check.existing)):
        return replace(check, reasons=(refusal,))
    unchecked = without_check(check.tests, changes, language, around)
    if not task.probes and len(unchecked) == len(check.tests):
        words = "none of the listed tests checks anything, by its text and that of the functions that it calls"
        return replace(check, reasons=(Reason(code=ReasonCode.ASSERTS_NOTHING, stage=Stage.MANIFEST, words=words),))
    idle = {*unchecked, *_saying_nothing(check.tests, changes, language)}
    if hook := _replaces_tests(changes, language):
        words = f"checks nothing by its text, and {hook} has something else run in its place"
        reasons = [
            Reason(code=ReasonCode.ASSERTS_NOTHING, stage=Stage.MANIFEST, subject=str(test), words=words)
            for test in check.tests
            if test in idle
        ]
        if reasons:
            return replace(check, reasons=tuple(reasons))
    static = static_answers(task, check.tests, changes, language.discovery)
    conduct = look_at_conduct(task, changes, language, declaring)
    # Without probes nothing else shows what tests notice, and not every language tells what says nothing.
    is_told = bool(task.probes or language.replacing)
    checking = tuple(test for test in check.tests if is_told and test not in idle)
    empty = tuple(_empty(check.tests, changes, language))
    return replace(check, static=static, conduct=conduct, unchecked=unchecked, checking=checking, empty=empty)


def _replaces_tests(changes: tuple[FileChange, ...], language: Language) -> str:
    """Return what of the patch has something else run in the place of tests, in words; empty where nothing does."""
    code = [change for change in changes if change.path.endswith(language.suffixes)]
    if not language.replacing or not code:
        return ""
    before = language.replacing.hooks({change.path: change.old or b"" for change in code})
    after = language.replacing.hooks({change.path: change.new or b"" for change in code})
    return next((f"{name} in {path}" for path, names in after.items() for name in sorted(names - before[path])), "")


def _empty(tests: Iterable[TestId], changes: tuple[FileChange, ...], language: Language) -> Iterator[TestId]:
    """Yield the tests whose bodies do nothing."""
    files = {change.path: change.new or b"" for change in changes}
    for test in tests:
        if (found := _by_text(test, files, language)) and found.is_empty:
            yield test


def _by_text(test: TestId, files: Mapping[str, bytes], language: Language) -> TestFunction | None:
    """Return a test as the text of its file has it; None where these files or their text don't have it."""
    return language.discovery.discover(files[test.file], test.file).find(test.name) if test.file in files else None


def _saying_nothing(tests: Iterable[TestId], changes: tuple[FileChange, ...], language: Language) -> Iterator[TestId]:
    """Yield the tests whose checks are about nothing of the repository, by their text and that of the patch."""
    files = {change.path: change.new or b"" for change in changes if change.path.endswith(language.suffixes)}
    texts = tuple(files.values())
    for test in tests:
        found = _by_text(test, files, language)
        is_own = found is not None and found.origin in {"", *files}
        if found and is_own and language.replacing and language.replacing.says_nothing(found.text, texts):
            yield test


def without_check(
    tests: Iterable[TestId],
    changes: tuple[FileChange, ...],
    language: Language,
    around: Mapping[str, bytes] = NOTHING,
) -> tuple[TestId, ...]:
    """Return the tests without assertions, in their text and in the functions of these files that they name.

    What a changed file defines isn't what other files have by that name.
    """
    discovery = language.discovery
    code = [
        change for change in changes if change.path.endswith(language.suffixes) or discovery.is_test_file(change.path)
    ]
    files = {change.path: discovery.discover(change.new or b"", change.path) for change in code}
    own = {helper.short: helper for file in files.values() for helper in file.helpers}
    joined = _Joined(code, files, discovery)
    others = (discovery.discover(text, path) for path, text in around.items() if path not in files)
    helpers = {helper.short for file in others for helper in file.helpers if helper.assertions} - own.keys()
    helpers |= {helper.short for file in files.values() for helper in file.helpers if helper.assertions}

    def checks(test: TestFunction | None) -> bool:
        return bool(test and (test.assertions or helpers & discovery.names(test.text)))

    def found(test: TestId) -> bool:
        item = files[test.file].find(test.name) if test.file in files else None
        if not checks(item):
            return False
        is_upstreams = bool(item and item.origin not in {"", *files})
        return len(code) == 1 or is_upstreams or checks(joined.file(test.file).find(test.name))

    return tuple(test for test in tests if not found(test))


MOST_JOINED = 1_500_000
"""Bytes of changed files that are read as one. Honest files name a few others, and not all name all."""
_WORD = re.compile(r"[\w$]+")


class _Joined:
    """Changed files as they would be found with the functions of the others in them: these count as what they do.

    Only those others are joined whose functions, classes or names of files a file mentions, or a joined one does.
    """

    def __init__(self, code: Iterable[FileChange], files: Mapping[str, TestFile], discovery: Discovery) -> None:
        self._texts = {change.path: change.new or b"" for change in code}
        self._files, self._discovery = files, discovery
        self._defined = {path: _short_names(file) for path, file in files.items()}
        self._homes: dict[str, set[str]] = {}
        for path, names in self._defined.items():
            for name in (*names, _module_word(path)):
                self._homes.setdefault(name, set()).add(path)
        self._acting = {path for path, text in self._texts.items() if discovery.reaches_folder(path, text)}
        self._next: dict[str, set[str]] = {}
        self._found: dict[str, TestFile] = {}

    def file(self, path: str) -> TestFile:
        """Return the tests of a changed file. Raises TooMuchToRead."""
        if path not in self._found:
            others = sorted(self._reached(path) - {path})
            texts = [self._texts[other] for other in (path, *others)]
            if others and sum(map(len, texts)) > MOST_JOINED:
                words = f"the changed files that it names have more than {MOST_JOINED} bytes together"
                raise TooMuchToRead(f"{path}: {words}")
            self._found[path] = self._discovery.discover(b"\n\n".join(texts), path) if others else self._files[path]
        return self._found[path]

    def _reached(self, path: str) -> set[str]:
        reached, waiting = {path} | self._acting, [path, *self._acting]
        while waiting:
            new = self._named_by(waiting.pop()) - reached
            reached |= new
            waiting += new
        return reached

    def _named_by(self, path: str) -> set[str]:
        if path not in self._next:
            text = normal(self._texts[path].decode("utf-8", "replace"))
            words = self._homes.keys() & {match[0] for match in _WORD.finditer(text)} - self._defined[path]
            self._next[path] = set[str]().union(*(self._homes[word] for word in words))
        return self._next[path]


def _short_names(file: TestFile) -> frozenset[str]:
    """Return the names of a file's functions and classes."""
    names = {*file.others, *(helper.short for helper in file.helpers), *(test.name for test in file.tests)}
    return frozenset(part for name in names for part in (name, name.partition(".")[0], name.rpartition(".")[2]))


def _module_word(path: str) -> str:
    """Return the word by which other files name one."""
    words = _WORD.findall(PurePosixPath(path).name.partition(".")[0])
    return words[-1] if words else path


def static_answers(
    task: Task, tests: Sequence[TestId], changes: Sequence[FileChange], discovery: Discovery
) -> dict[str, StaticAnswer]:
    """Return what each static criterion of a task finds in these tests, by the criterion's id."""
    checks = {criterion.id: criterion.static for criterion in task.rubric.criteria if criterion.static is not None}
    return {name: answered(check, tests, changes, discovery) for name, check in checks.items()}
