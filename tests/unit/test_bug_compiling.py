"""A repair whose compiling is lost counts as broken where the machine builds the fixed code, else never."""

import asyncio
from pathlib import Path

import pytest

from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.verify.arms import ArmContext
from harness.plugins.bug.hidden import plain_variant
from harness.plugins.bug.hidden_arms import compile_repair
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.errors import SandboxLost, Starved, UserError
from harness.specs.variants import Variant

REPAIR, FIXED = plain_variant("repaired", {"a.c": b"int a;\n"}), plain_variant("fixed", {"a.c": b"int b;\n"})
LOST = SandboxLost("building the task's variants took more memory than its container has")


class Compiler:
    """A toolchain that ends as it is told for the repair, try by try, and then builds; see `Toolchain`."""

    separates, replaced, suites = False, (), None

    def __init__(self, *ends, fixed=None):
        self.ends, self.fixed, self.asked = list(ends), fixed, []

    async def compile(self, _context, sources, /):
        [source] = sources
        self.asked.append(source.name)
        end = (self.ends.pop(0) if self.ends else None) if source is REPAIR else self.fixed
        if end:
            raise end
        return [CompiledVariant(Variant(name=source.name, kind=source.kind, criterion=""), (), ())]


async def compiled(toolchain):
    context = ArmContext(
        engine=None,
        image=Image("id", "digest", "/work", Path()),
        labels={},
        slots=asyncio.Semaphore(1),
        toolchain=toolchain,
        options=SandboxOptions(),
    )
    return await compile_repair(context, REPAIR, FIXED)


async def test_a_repair_that_is_lost_once_is_built_the_second_time():
    toolchain = Compiler(LOST)
    made = await compiled(toolchain)
    assert made is not None
    assert toolchain.asked == ["repaired", "repaired"]


async def test_one_that_is_lost_twice_where_the_fixed_code_is_built_cant_be_built():
    toolchain = Compiler(LOST, LOST)
    assert await compiled(toolchain) is None
    assert toolchain.asked == ["repaired", "repaired", "fixed"]


async def test_one_that_the_compiler_refuses_is_asked_once():
    toolchain = Compiler(UserError("a.c:1: error"))
    assert await compiled(toolchain) is None
    assert toolchain.asked == ["repaired"]


async def test_where_the_fixed_code_is_lost_as_well_nothing_is_known_of_the_repair():
    with pytest.raises(SandboxLost):
        await compiled(Compiler(LOST, LOST, fixed=LOST))


async def test_a_busy_machine_is_no_word_on_a_repair():
    with pytest.raises(Starved):
        await compiled(Compiler(Starved("busy")))
