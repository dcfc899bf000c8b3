"""Code that a hand-in has a part in may not be built: a repair counts as broken then, named lines as no proof.

Code whose compiling is lost counts so where the machine builds the fixed code, else never.
"""

import asyncio
from pathlib import Path

import pytest

from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.task_texts import TaskTexts
from harness.plugins.bug.handed_in import HandedIn
from harness.plugins.bug.hidden import LOCATED, hidden_arm, plain_variant
from harness.plugins.bug.hidden_arms import HiddenArms, compile_repair
from harness.plugins.bug.spans import Span
from harness.plugins.bug.task import bug_task
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.errors import SandboxLost, Starved, UserError
from harness.specs.test_results import Outcome, Quality, TestId
from harness.specs.variants import Variant, VariantKind

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
        end = self.fixed if source.name == FIXED.name else self.ends.pop(0) if self.ends else None
        if end:
            raise end
        return [CompiledVariant(Variant(name=source.name, kind=source.kind, criterion=""), (), ())]


def context_of(toolchain):
    return ArmContext(
        engine=None,
        image=Image("id", "digest", "/work", Path()),
        labels={},
        slots=asyncio.Semaphore(1),
        toolchain=toolchain,
        options=SandboxOptions(),
    )


async def compiled(toolchain):
    return await compile_repair(context_of(toolchain), REPAIR, FIXED)


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


LINES = b"int size(int n) {\n    if (n > 0) {\n        n++;\n    }\n    return n;\n}\n"
WHOLE = LINES.replace(b"0) {", b"0)").replace(b"    }\n    ret", b"    ret")
TEST = TestId("test_a.c", "test_a")


async def located(toolchain, *lines):
    texts = TaskTexts({"a.c": WHOLE}, {}, None, {VariantKind.REMOVAL: {"a.c": LINES}}, {}, {}, {})
    handed = HandedIn(spans=tuple(Span("a.c", line, line) for line in lines))
    task = bug_task(Catalog().task("jansson-size-of-text"))
    return await HiddenArms(context_of(toolchain), task, texts, handed, 0).located(Suite((TEST,), {}))


async def test_named_lines_that_cant_be_built_alone_prove_no_place_and_are_no_error():
    toolchain = Compiler(UserError("variant located of this task does not compile"))
    arms = await located(toolchain, 4)
    assert toolchain.asked == [LOCATED]
    [result] = arms[hidden_arm(LOCATED)].results
    assert (result.test, result.outcome, result.quality) == (TEST, Outcome.FAILED, Quality.COLLECTION)


async def test_named_lines_that_change_nothing_are_not_built():
    assert await located(toolchain := Compiler(), 5) == {}
    assert toolchain.asked == []
