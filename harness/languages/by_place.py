"""Test files told by where they lie and what they hold, for repositories whose own test runs have other names."""

from dataclasses import replace

from harness.languages.delegating import DelegatingDiscovery
from harness.languages.protocol import Language
from harness.specs.globs import matches
from harness.specs.repo import Repo


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
    """A language as tasks of the published layout use it: names one a line, and files of any name where tests lie."""
    discovery = ByPlace(language, repo) if language.tests_show else language.discovery
    return replace(language, discovery=discovery, ids=replace(language.ids, one_a_line=True))
