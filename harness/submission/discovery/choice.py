"""From a repo's language to what finds tests in its files."""

from typing import Protocol, assert_never

from harness.specs.repo import Language
from harness.submission.discovery.found import TestFile


class Discovery(Protocol):
    """One language's rules. All of it is pure: the same text gives the same answer."""

    @property
    def FILE_RULE(self) -> str:
        """How a test file must be named, in words."""
        ...

    def is_test_file(self, path: str) -> bool:
        """Whether the repository's own test run would collect this file by its name."""
        ...

    def discover(self, source: bytes, path: str) -> TestFile:
        """`path` is the file's: in some languages a test has its name."""
        ...

    def names(self, source: bytes) -> frozenset[str]:
        """Every identifier and dotted name of a text, imported or used."""
        ...

    def calls(self, source: bytes) -> frozenset[str]:
        """What a text calls, as written: `sleep`, `time.sleep`."""
        ...

    def reaches_folder(self, path: str, source: bytes) -> bool:
        """Whether a file acts on the other tests of its folder without being imported by them."""
        ...


def discovery_of(language: Language) -> Discovery:
    match language:
        case Language.PYTHON:
            from harness.submission.discovery import python

            return python
        case Language.C:
            from harness.submission.discovery import c

            return c
        case Language.GO:
            from harness.submission.discovery import go

            return go
        case Language.TYPESCRIPT:
            from harness.submission.discovery import typescript

            return typescript
        case _:
            assert_never(language)
