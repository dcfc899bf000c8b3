"""Which languages there are, by name, and the little that files on disk need to know about them."""

from typing import Annotated, Protocol

from pydantic import AfterValidator

from harness.specs.errors import UserError
from harness.specs.registry import Registry


class LanguageFacts(Protocol):
    """What is asked of a language before anything runs; `harness/languages/protocol.py` has all of it."""

    @property
    def title(self) -> str:
        """Its name in sentences: `Python`."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """How names of its files end, dot included."""
        ...

    @property
    def report(self) -> str:
        """The report format of a repository that names none."""
        ...


LANGUAGE_FACTS: Registry[LanguageFacts] = Registry(
    "language",
    "testwright.languages",
    {name: f"harness.languages.{name}.language:LANGUAGE" for name in ("python", "go", "c", "typescript")},
)
"""The one place where the languages of this package are listed; each is imported when it is first used."""


def _known(name: str) -> str:
    try:
        return LANGUAGE_FACTS.check(name)
    except UserError as error:
        raise ValueError(str(error)) from None


LanguageName = Annotated[str, AfterValidator(_known)]
"""The name of a registered language."""
