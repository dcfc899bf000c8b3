"""The languages that are known: those of this package, and those that other packages register."""

from harness.languages.protocol import Discovery, Language
from harness.languages.toolchain import Toolchain
from harness.specs.registry import Registry

LANGUAGES: Registry[Language] = Registry(
    "language",
    "testwright.languages",
    {name: f"harness.languages.{name}.language:LANGUAGE" for name in ("python", "go", "c", "typescript")},
)


def discovery_of(name: str) -> Discovery:
    """The discovery of a language. Raises UserError for an unknown name."""
    return LANGUAGES.get(name).discovery


def toolchain_of_language(name: str) -> Toolchain:
    """The toolchain of a language. Raises UserError for an unknown name."""
    return LANGUAGES.get(name).toolchain
