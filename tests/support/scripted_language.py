"""Python whose variants need no compiling, for tests with an engine that runs nothing."""

from collections.abc import Sequence
from dataclasses import replace

from harness.judging.languages.python.language import LANGUAGE as PYTHON
from harness.judging.languages.toolchain import CompiledVariant, JobContext
from harness.judging.languages.variant_source import VariantSource
from tests.support.fake_engine import scripted_variant

NAME = "scripted"


class ScriptedToolchain:
    """See `Toolchain`. A variant is a marker by which `FakeEngine` knows it."""

    separates = True
    replaced = ()
    suites = None

    async def compile(self, _context: JobContext, sources: Sequence[VariantSource], /) -> list[CompiledVariant]:
        return [scripted_variant(source.name, source.kind, source.disk) for source in sources]


SCRIPTED = replace(PYTHON, title="Scripted Python", toolchain=ScriptedToolchain())
