"""The languages that are known: those of this package, and those that other packages register.

Test files told by where they lie and what they hold, for repositories whose own test runs have other names.

Discovery that asks another one: the base of those that change a part of its answers.

Discovery with a cache: it reads each text once per submission.
"""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar, cast

from harness.judging.languages.found import TestFile
from harness.judging.languages.protocol import Discovery, Language
from harness.judging.languages.variant_source import Code
from harness.specs.registry import Registry
from harness.specs.repo import LANGUAGE_FACTS, Repo, matches


class DelegatingDiscovery:
    """See `Discovery`. All answers are the other's."""

    def __init__(self, discovery: Discovery) -> None:
        self._discovery = discovery

    @property
    def FILE_RULE(self) -> str:
        return self._discovery.FILE_RULE

    def is_test_file(self, path: str) -> bool:
        return self._discovery.is_test_file(path)

    def discover(self, source: bytes, path: str) -> TestFile:
        return self._discovery.discover(source, path)

    def names(self, source: bytes) -> frozenset[str]:
        return self._discovery.names(source)

    def calls(self, source: bytes) -> frozenset[str]:
        return self._discovery.calls(source)

    def reaches_folder(self, path: str, source: bytes) -> bool:
        return self._discovery.reaches_folder(path, source)


class ByPlace(DelegatingDiscovery):
    """See `Discovery`. A file below the repository's test paths may hold tests, whatever its name."""

    def __init__(self, language: Language, repo: Repo) -> None:
        super().__init__(language.discovery)
        self._suffixes, self._globs = language.suffixes, repo.test_paths

    @property
    def FILE_RULE(self) -> str:
        return "it must lie below the repository's test paths and be written in its language"

    def is_test_file(self, path: str) -> bool:
        below = path.endswith(self._suffixes) and matches(path, self._globs)
        return below or self._discovery.is_test_file(path)


def published_form(language: Language, repo: Repo) -> Language:
    """Return a language as published tasks use it: one name a line, and test files of any name."""
    discovery = ByPlace(language, repo) if language.tests_show else language.discovery
    return replace(language, discovery=discovery, ids=replace(language.ids, one_a_line=True))


LANGUAGES = cast("Registry[Language]", LANGUAGE_FACTS)
"""The same registry that `repo.yaml` is checked with: what it holds is whole languages."""


def language_of(repo: Repo) -> Language:
    """Return the language of a repository, as its tasks have it.

    Raises:
        UserError: It can't be imported.
    """
    language = LANGUAGES.get(repo.language)
    return published_form(language, repo) if repo.is_published else language


def code_of(repo: Repo, path: str) -> Code:
    """Return how a file of code is rewritten: as its own language has it, which needn't be that of the tests."""
    own = LANGUAGES.get(repo.language)
    found = language_at(path) if repo.is_published and not path.endswith(own.suffixes) else None
    return (found or own).code


def language_at(path: str) -> Language | None:
    """Return the language whose names of files end as this one does."""
    known = (LANGUAGES.get(name) for name in LANGUAGES.names)
    return next((language for language in known if path.endswith(language.suffixes)), None)


T = TypeVar("T")
MOST_REMEMBERED = 20_000_000
"""Bytes of text: all that a submission may have, before and after, read in three ways."""


class RememberingDiscovery(DelegatingDiscovery):
    """See `Discovery`. What it remembers goes with it: texts are hostile, and nothing of them outlives a judging.

    It knows texts by their hash, and forgets all when it has read more than `MOST_REMEMBERED` bytes.
    """

    def __init__(self, discovery: Discovery) -> None:
        super().__init__(discovery)
        self._files: dict[tuple[bytes, str], TestFile] = {}
        self._names: dict[bytes, frozenset[str]] = {}
        self._calls: dict[bytes, frozenset[str]] = {}
        self._bytes = 0

    def discover(self, source: bytes, path: str) -> TestFile:
        key = (_hash(source), path)
        if key not in self._files:
            self._count(source)
            self._files[key] = self._discovery.discover(source, path)
        return self._files[key]

    def names(self, source: bytes) -> frozenset[str]:
        return self._once(self._names, source, self._discovery.names)

    def calls(self, source: bytes) -> frozenset[str]:
        return self._once(self._calls, source, self._discovery.calls)

    def _once(self, known: dict[bytes, T], source: bytes, read: Callable[[bytes], T]) -> T:
        key = _hash(source)
        if key not in known:
            self._count(source)
            known[key] = read(source)
        return known[key]

    def _count(self, source: bytes) -> None:
        self._bytes += len(source)
        if self._bytes > MOST_REMEMBERED:
            self._bytes = len(source)
            for known in (self._files, self._names, self._calls):
                known.clear()


def _hash(source: bytes) -> bytes:
    return sha256(source).digest()
