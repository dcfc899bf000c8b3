"""Rubric criteria that are read off the submission's text: a closed list of checks."""

import re
from collections.abc import Sequence
from typing import assert_never

from harness.languages.protocol import Discovery
from harness.specs.globs import matches
from harness.specs.ids import TestId
from harness.specs.rubric import Quantifier, StaticCheck, StaticKind
from harness.verify.intake import FileChange


def holds(check: StaticCheck, tests: Sequence[TestId], changes: Sequence[FileChange], discovery: Discovery) -> bool:
    """Whether a check holds over the listed tests. False where there is none.

    What upstream had in a file before says nothing about a submission: names and calls are looked for in the
    listed tests, and in the rest of a file only where the submission made that file.
    """
    combine = all if check.of is Quantifier.ALL else any
    files = {change.path: change for change in changes}
    answers = [_answer(check, test, files[test.file], discovery) for test in tests if test.file in files]
    return bool(answers) and combine(answers)


def _answer(check: StaticCheck, test: TestId, file: FileChange, discovery: Discovery) -> bool:
    found = discovery.discover(file.new or b"", test.file).find(test.name)
    if found is None:
        return False
    written = found.text if file.old is not None else file.new or b""
    match check.check:
        case StaticKind.FILE_MATCHES:
            return matches(test.file, [check.value])
        case StaticKind.TEST_NAMED:
            return bool(re.search(check.value, found.short))
        case StaticKind.USES_NAME:
            return check.value in discovery.names(written)
        case StaticKind.INSIDE:
            return bool(re.search(check.value, found.enclosing))
        case StaticKind.CALL_ABSENT:
            return check.value not in discovery.calls(written)
        case _:
            assert_never(check.check)
