"""The description of a language that the rest of testwright uses: frozen, made of small parts."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol

from harness.judging.languages.conduct import Conduct
from harness.judging.languages.found import Start, TestFile, TestFunction
from harness.judging.languages.mutating import MutationOperators
from harness.judging.languages.stubbing import Stubs
from harness.judging.languages.toolchain import Toolchain
from harness.judging.languages.variant_source import Code
from harness.specs.repo import Drawing, Frame
from harness.specs.test_results import TestId


class Discovery(Protocol):
    """The rules by which tests are found in text. All of it is pure, and takes time linear to the text."""

    @property
    def FILE_RULE(self) -> str:
        """Return how a test file must be named, in words: `its name must end in _test.go`."""
        ...

    def is_test_file(self, path: str) -> bool:
        """Return whether the repository's own test run would collect this file by its name."""
        ...

    def discover(self, source: bytes, path: str) -> TestFile:
        """Return the tests of a file.

        Args:
            source: The file's bytes; hostile code may have written them.
            path: The file's, below the tree's root: in some languages a test has its name.

        Raises:
            TooMuchToRead: The file is larger than anybody would write.
        """
        ...

    def names(self, source: bytes) -> frozenset[str]:
        """Return every identifier and dotted name of a text, imported or used."""
        ...

    def calls(self, source: bytes) -> frozenset[str]:
        """Return what a text calls, as written: `sleep`, `time.sleep`."""
        ...

    def reaches_folder(self, path: str, source: bytes) -> bool:
        """Return whether a file acts on the other tests of its folder without being imported by them."""
        ...


class TreeFiles(NamedTuple):
    """The files of a tree: the paths of all, the texts of those that were read, and which of them a patch changes."""

    paths: Collection[str]
    texts: Mapping[str, bytes]
    changed: Collection[str] = ()


class Relatives(Protocol):
    """A finder of tests whose text other files of a tree have. What was read for one file is there for the next."""

    def missing(self, source: bytes, path: str) -> frozenset[str]:
        """Return the files that aren't among those read and whose text would show more tests of this one.

        Raises:
            TooMuchToRead: Finding them would take more than any honest file needs.
        """
        ...

    def discover(self, source: bytes, path: str) -> TestFile:
        """Return the tests of a file as `Discovery.discover` does, with those that it inherits from other files.

        Raises:
            TooMuchToRead: Finding them would take more than any honest file needs.
        """
        ...


@dataclass(frozen=True)
class IdForm:
    """The form of a test's name in a manifest, behind the path of its file."""

    words: str
    """The form of an id, for prompts: the end of a sentence that begins with `The ids are`."""
    examples: tuple[str, ...]
    """A few ids, for prompts."""
    test_of: Callable[[str], str]
    """A function from an id as somebody listed it to the name of its test: cases belong to their test."""
    one_a_line: bool = False
    """Whether manifests are lines of names as a log has them, and not YAML (published tasks)."""


class WorthlessTest(NamedTuple):
    """A test file whose one test passes on any code: `file` is its name, `test` the test's."""

    file: str
    test: str
    text: str
    head: Callable[[str, str], str] | None = None
    """A function that gives the text before `text`, from a neighbour's path and what is known of its text."""


class FuzzSkeleton(NamedTuple):
    """A fuzz file that its author fills in: `file` is its name with `{task}` in it, `text` has `@TASK@`.

    It is a test that passes and writes nothing yet (docs/authoring.md).
    """

    file: str
    text: str
    head: Callable[[str, str], str] | None = None
    """A function as that of `WorthlessTest`."""


class Replacing(NamedTuple):
    """Finders of what has something else run in the place of tests, and of tests that don't matter beside it."""

    hooks: Callable[[Mapping[str, bytes]], Mapping[str, frozenset[str]]]
    """A function from the texts of a patch to what in each may replace tests, in words, both by their paths."""
    says_nothing: Callable[[bytes, tuple[bytes, ...]], bool]
    """A function that returns whether a test uses nothing that it could be about, from its text and the patch's."""


class Unloadable(NamedTuple):
    """A test file that can't be loaded: its text, and the exit status of a run of all tests that it ends at once."""

    text: bytes
    exit_status: int


def as_reported(_shown: TestFile, starts: Iterable[Start], _listed: Iterable[TestId]) -> Iterable[Start]:
    """Return what a report has, where its names are those of the tests."""
    return starts


class Collecting(NamedTuple):
    """A run of test files that loads them, reports all their tests and runs none."""

    functions_at: Callable[[bytes, str, Collection[int]], Mapping[int, TestFunction]]
    """A function that gives, from a file's text, its path and numbers of lines, the functions that begin there, by
    their lines: nameless, with their assertions. It raises TooMuchToRead."""
    env: Mapping[str, str] = MappingProxyType({})
    """The run's environment."""
    asked: str = ""
    """The name that no test has, and that is asked for in each file; empty where whole files are."""
    separator: str = "."
    """The text between the parts of a test's name."""
    owned: Callable[[TestFile, Iterable[Start], Iterable[TestId]], Iterable[Start]] = as_reported
    """A function that gives reported cases the names of their tests, from what a text shows and what is listed."""


class WholeRun(StrEnum):
    """How much of a repository's tests runs by its own command with a submission's patch."""

    ALL = "all"
    """All tests; of a patch that has nothing but test files these."""
    TOUCHED = "touched"
    """The touched test files: nothing in one file reaches the tests of another that doesn't name it."""
    NONE = "none"
    """Nothing: an arm has no compiler, and a file's text shows all of its tests."""


@dataclass(frozen=True)
class Language:
    """All that the package knows of a language.

    It serves every repository whose `repo.yaml` has its registered name.
    """

    title: str
    """Its name in sentences: `Python`."""
    suffixes: tuple[str, ...]
    """The endings of its files' names, dot included."""
    report: str
    """The report format of a repository that names none."""
    ids: IdForm
    discovery: Discovery
    code: Code
    toolchain: Toolchain
    worthless: WorthlessTest
    declaration: re.Pattern[str]
    """A pattern of lines of tests that declare something; the group is the name, by which leaked tests are
    recognised."""
    tests_show: bool = False
    """Whether a file's text alone shows which of its functions are tests, however the file is named."""
    hides_tests: Callable[[bytes], bool] | None = None
    """A look at a test file's text: whether the file may make tests while it is loaded, which no text shows."""
    collecting: Collecting | None = None
    """How the test runner tells which tests there are. None where it has no such mode: they are those that a text has
    then."""
    env_among_others: Callable[[Sequence[str]], Mapping[str, str]] | None = None
    """Gives the environment in which a run of all tests loads these files and runs none of their tests; empty where
    it has to run them. None where no run of all tests is asked for."""
    packages: Callable[[Sequence[TestId]], Sequence[str]] | None = None
    """Gives the command that runs listed tests as the language's own tool does: those of a package in one process,
    with the tool's limit of time. It finds what was built with the suite. None where arms run them so."""
    whole_run: WholeRun = WholeRun.ALL
    """How much the repository's own test run runs, before a submission is resolved."""
    clash: Callable[[Collection[str], Collection[str]], bool] | None = None
    """A function from the paths of new test files and of all files to whether the new ones get in the way of others
    by their names alone: then everything runs, though a patch has nothing but test files."""
    unloadable: Unloadable | None = None
    """A test file that ends the repository's own test run before any test. Without it nobody asks whether that run
    would load the listed files."""
    relatives: Callable[[TreeFiles], Relatives] | None = None
    """A finder of tests that come from other files. Without it a file's tests are those that its own text shows."""
    conduct: Conduct | None = None
    """Rules on how tests inspect code instead of using it. Without them nothing is marked in this language."""
    stubs: Stubs | None = None
    """The maker of removals for `task stub`. Without it authors write the removal themselves."""
    mutation: MutationOperators | None = None
    """Small changes of code that tests should notice. Without it no mutants are made in this language."""
    fuzz: FuzzSkeleton | None = None
    """The file that `task new` lays out to call the code on drawn inputs. Without it authors write it themselves."""
    drawing: Drawing | None = None
    """The file beside each fuzz file that uses it. Without it a fuzz file has all that it needs."""
    replacing: Replacing | None = None
    """Finders of what has something else run in the place of tests. Without them nothing is taken for that."""
    comment: str = "// {}"
    """A comment line, with `{}` for its text."""
    frame: Frame | None = None
    """The run script of a repository that brings none. Without it every repository brings its own."""
