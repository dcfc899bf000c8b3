"""How variants of a language are made to run: what is text, what is code, and how code is built from text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import Engine, Image
from harness.specs.ids import TestId
from harness.specs.variants import Variant


class BuildContext(NamedTuple):
    """Where variants are compiled: containers of `image`, which hold at most the text of an agent's tests."""

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


class SuiteFiles(NamedTuple):
    """A suite as it is laid over the tree: its tests, the files that it brings, and those that it takes out."""

    tests: Sequence[TestId]
    files: Mapping[str, bytes] = {}
    removed: Sequence[str] = ()


@dataclass(frozen=True)
class Built:
    """A variant together with a suite. `broken` are test files that can't be built on it, and why in a word."""

    compiled: CompiledVariant
    broken: Mapping[str, str] = field(default_factory=dict)


class SuiteBuilder(Protocol):
    """For languages in which something depends on the variant and on the suite: a program made of both, say."""

    def programs(self, tests: Iterable[TestId], /) -> frozenset[str]:
        """The names of the programs that are built of such a suite for each variant."""
        ...

    async def build(
        self, context: BuildContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles, /
    ) -> list[Built]:
        """Each variant with the suite, in the same order. Runs nothing of the suite. Raises SandboxLost."""
        ...


class Toolchain(Protocol):
    """What makes variants ready to run."""

    @property
    def separates(self) -> bool:
        """Whether text on disk and code that runs can differ at all."""
        ...

    @property
    def replaced(self) -> tuple[str, ...]:
        """Paths outside the tree that every arm gets anew: what lies there in an image is in no arm."""
        ...

    @property
    def suites(self) -> SuiteBuilder | None:
        """None where a suite needs no building."""
        ...

    async def compile(self, context: BuildContext, sources: Sequence[VariantSource], /) -> list[CompiledVariant]:
        """Everything that can be made without the suite, in the same order.

        Raises UserError for a variant that the compiler refuses, SandboxLost for a container that was lost.
        """
        ...


async def with_suite(
    toolchain: Toolchain, context: BuildContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles
) -> list[Built]:
    """Each variant with a suite, ready to run. Raises SandboxLost."""
    if toolchain.suites is None:
        return [Built(item) for item in compiled]
    return await toolchain.suites.build(context, compiled, suite)
