"""What every language's toolchain offers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import Engine, Image
from harness.specs.ids import TestId
from harness.specs.variants import Variant


class BuildContext(NamedTuple):
    """Where variants are compiled: containers of `image` that never hold more than text of an agent's."""

    engine: Engine
    image: Image
    labels: Mapping[str, str]


@dataclass(frozen=True)
class CompiledVariant:
    """A variant ready to be laid over the tree.

    `prove` is a command that an arm runs before any agent code is loaded; the first lines that it prints must
    be `proof`, else the arm shows nothing. `env` is what the test command needs to find the compiled code,
    `executable` are those of the variant's files that are programs.
    """

    variant: Variant
    prove: tuple[str, ...]
    proof: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Built:
    """A variant together with a suite. `broken` are test files that can't be built on it, and why in a word."""

    compiled: CompiledVariant
    broken: Mapping[str, str] = field(default_factory=dict)


class Toolchain(Protocol):
    @property
    def separates(self) -> bool:
        """Whether text on disk and code that runs can differ at all."""
        ...

    def is_compiled(self, path: str) -> bool:
        """Whether this file is code; where text and code can differ, its are the ones that do."""
        ...

    def commented(self, text: bytes, lines: Sequence[str]) -> bytes:
        """The same code, with `lines` as comments behind it."""
        ...

    async def compile(self, context: BuildContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """Everything that can be made without the suite. Raises UserError, SandboxLost."""
        ...

    async def build(
        self,
        context: BuildContext,
        compiled: Sequence[CompiledVariant],
        tests: Sequence[TestId],
        files: Mapping[str, bytes],
        removed: Sequence[str],
    ) -> list[Built]:
        """Each variant with the suite's `files` and without those `removed`, where a language makes one of both.

        Raises SandboxLost. Runs nothing of the suite.
        """
        ...
