"""What a language is to the rest of testwright: one frozen description, made of small parts."""

from dataclasses import dataclass
from typing import Protocol

from harness.languages.found import TestFile
from harness.languages.toolchain import Toolchain


class Discovery(Protocol):
    """The rules by which tests are found in text. All of it is pure: the same text gives the same answer."""

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


@dataclass(frozen=True)
class Language:
    """One language. `name` is the one it is registered by."""

    name: str
    discovery: Discovery
    toolchain: Toolchain
