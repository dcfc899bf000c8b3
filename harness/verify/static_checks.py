"""Rubric criteria that are read off the submission's text: a closed list of checks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import assert_never

from harness.languages.found import TestFunction
from harness.languages.protocol import Discovery
from harness.specs.globs import matches
from harness.specs.ids import TestId
from harness.specs.rubric import Quantifier, StaticCheck, StaticKind
from harness.verify.intake import FileChange


def holds(check: StaticCheck, tests: Sequence[TestId], changes: Sequence[FileChange], discovery: Discovery) -> bool:
    """Whether a check holds over the listed tests. False where there is none.

    What upstream had in a file before says nothing about a submission: names and calls are looked for in the
    listed tests, and in the rest of a file only where the submission made that file. A name may also stand in a
    helper file or header that the submission made and that the file of a test names.
    """
    combine = all if check.of is Quantifier.ALL else any
    files = {change.path: change for change in changes}
    answers = [_answer(check, test, files, discovery) for test in tests if test.file in files]
    return bool(answers) and combine(answers)


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
    """What the submission wrote of a test: its file and that of its text where it made them, else its text."""
    home = files.get(found.origin) if found.origin else file
    both = {each.path: each for each in (file, home) if each}
    made = [each.new or b"" for each in both.values() if each.old is None]
    return [*made, found.text] if home and home.old is not None else made


def _brought_in(file: FileChange, files: Mapping[str, FileChange], discovery: Discovery) -> Iterator[bytes]:
    """Texts that the submission made, that hold no tests, and that a file names, or that another of them names."""
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
