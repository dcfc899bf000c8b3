"""The languages that are known: those of this package, and those that other packages register."""

from typing import cast

from harness.languages.protocol import Language
from harness.specs.languages import LANGUAGE_FACTS
from harness.specs.registry import Registry
from harness.specs.repo import Repo

LANGUAGES = cast("Registry[Language]", LANGUAGE_FACTS)
"""The same registry that `repo.yaml` is checked with: what it holds is whole languages."""


def language_of(repo: Repo) -> Language:
    """The language of a repository. Raises UserError where it can't be imported."""
    return LANGUAGES.get(repo.language)
