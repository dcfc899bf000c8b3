"""The languages that are known: those of this package, and those that other packages register."""

from typing import cast

from harness.languages.by_place import published_form
from harness.languages.code import Code
from harness.languages.protocol import Language
from harness.specs.languages import LANGUAGE_FACTS
from harness.specs.registry import Registry
from harness.specs.repo import Repo

LANGUAGES = cast("Registry[Language]", LANGUAGE_FACTS)
"""The same registry that `repo.yaml` is checked with: what it holds is whole languages."""


def language_of(repo: Repo) -> Language:
    """The language of a repository, as its tasks have it. Raises UserError where it can't be imported."""
    language = LANGUAGES.get(repo.language)
    return published_form(language, repo) if repo.is_published else language


def code_of(repo: Repo, path: str) -> Code:
    """How a file of code is rewritten: as its own language has it, which needn't be that of the tests."""
    own = LANGUAGES.get(repo.language)
    found = language_at(path) if repo.is_published and not path.endswith(own.suffixes) else None
    return (found or own).code


def language_at(path: str) -> Language | None:
    """The language whose names of files end as this one does."""
    known = (LANGUAGES.get(name) for name in LANGUAGES.names)
    return next((language for language in known if path.endswith(language.suffixes)), None)
