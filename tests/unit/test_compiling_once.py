"""Variants are compiled once for all submissions of a process."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from harness.judging.languages.toolchain import CompiledVariant, JobContext
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.compiling import MOST, CompiledVariants, compile_once
from harness.sandbox.protocol import Image
from harness.specs.errors import SandboxLost
from harness.specs.variants import Variant, VariantKind


@dataclass
class Counting:
    separates: bool = True
    replaced: tuple[str, ...] = ()
    compiled: list[str] = field(default_factory=list)

    async def compile(self, site, sources):
        self.compiled += [source.name for source in sources]
        return [CompiledVariant(Variant(source.name, source.kind, code=source.code), (), ()) for source in sources]


def site(digest: str) -> JobContext:
    return JobContext(None, Image("tag", digest, "/app", Path()), {})


def source(name: str, code: bytes = b"", **more: object) -> VariantSource:
    return VariantSource(name, VariantKind.PROBE, {}, {"a.c": code}, **more)


async def test_what_was_compiled_before_is_not_compiled_again():
    toolchain = Counting()
    first = await compile_once(toolchain, site("once"), [source("a"), source("b")])
    again = await compile_once(toolchain, site("once"), [source("c"), source("b"), source("a")])
    assert toolchain.compiled == ["a", "b", "c"]
    assert [item.variant.name for item in again] == ["c", "b", "a"]
    assert again[2].variant == first[0].variant


async def test_another_text_image_or_rewriting_is_another_variant():
    toolchain = Counting()
    others = [
        source("a", b"other"),
        source("a", seed=1),
        source("a", seed=2),
        source("a", family={"a.c": (b"x",)}),
        source("a", inert={"a.c": (b"x",)}),
        source("a", inert={"a.c": (b"y",)}),
    ]
    await compile_once(toolchain, site("one image"), [source("a")])
    for other in others:
        await compile_once(toolchain, site("one image"), [other])
    await compile_once(toolchain, site("another image"), [source("a")])
    assert toolchain.compiled == ["a"] * 8


async def test_only_the_last_ones_are_remembered():
    toolchain = Counting()
    for number in range(MOST + 1):
        await compile_once(toolchain, site("many"), [source("a", str(number).encode())])
    await compile_once(toolchain, site("many"), [source("a", b"0")])
    assert len(toolchain.compiled) == MOST + 2


@dataclass
class Waiting(Counting):
    """Compiles when it is told to."""

    began: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def compile(self, context, sources):
        self.began.set()
        await self.go.wait()
        return await super().compile(context, sources)


async def test_what_others_push_out_meanwhile_is_still_there_for_who_waits():
    ready, waiting = Waiting(), Waiting()
    ready.go.set()
    await compile_once(ready, site("busy"), [source("a")])
    async with asyncio.TaskGroup() as group:
        found = group.create_task(compile_once(waiting, site("busy"), [source("a"), source("b")]))
        await waiting.began.wait()
        others = [source(f"other-{number}") for number in range(MOST + 1)]
        assert len(await compile_once(ready, site("busy"), others)) == MOST + 1
        waiting.go.set()
    assert [item.variant.name for item in found.result()] == ["a", "b"]
    assert waiting.compiled == ["b"]


async def test_where_text_is_what_runs_nothing_is_remembered():
    toolchain = Counting(separates=False)
    for _ in range(2):
        await compile_once(toolchain, site("disk"), [source("a")])
    assert toolchain.compiled == ["a", "a"]


@dataclass
class Slow(Counting):
    """Lets others run while it compiles; its first `failures` compilations are lost."""

    failures: int = 0
    at_once: int = 0

    async def compile(self, context, sources):
        self.at_once += 1
        for _ in range(5):
            await asyncio.sleep(0)
        self.at_once -= 1
        if self.failures:
            self.failures -= 1
            raise SandboxLost("the container was removed")
        return await super().compile(context, sources)


async def test_judgings_side_by_side_compile_nothing_twice():
    toolchain, variants = Slow(), CompiledVariants()
    wanted = [source(f"variant-{number}") for number in range(20)]
    asked = [wanted[start:] + wanted[:start] for start in range(20)] + [
        wanted[start : start + 3] for start in range(17)
    ]
    found = await asyncio.gather(*(variants.compile(toolchain, site("side by side"), some) for some in asked))
    assert sorted(toolchain.compiled) == sorted(item.name for item in wanted)
    assert [[item.variant.name for item in one] for one in found] == [[item.name for item in some] for some in asked]


async def test_many_judgings_with_hardly_any_room_each_get_what_they_asked_for():
    toolchain, variants = Slow(), CompiledVariants(most=2)
    asked = [[source(f"variant-{(number * step) % 17}") for number in range(7)] for step in range(1, 15)] * 5
    found = await asyncio.gather(*(variants.compile(toolchain, site("crowded"), some) for some in asked))
    assert [[item.variant.name for item in one] for one in found] == [[item.name for item in some] for some in asked]


async def test_a_lost_compilation_costs_the_judging_that_started_it_and_no_other():
    toolchain, variants = Slow(failures=1), CompiledVariants()
    asked = (variants.compile(toolchain, site("lost"), [source("a")]) for _ in range(5))
    first, *others = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(first, SandboxLost)
    assert [[item.variant.name for item in one] for one in others] == [["a"]] * 4
    assert toolchain.compiled == ["a"]


async def test_a_judging_that_is_cancelled_leaves_nobody_waiting():
    toolchain, variants = Slow(), CompiledVariants()
    first = asyncio.create_task(variants.compile(toolchain, site("cancelled"), [source("a")]))
    await asyncio.sleep(0)
    other = asyncio.create_task(variants.compile(toolchain, site("cancelled"), [source("a")]))
    await asyncio.sleep(0)
    first.cancel()
    assert [item.variant.name for item in await asyncio.wait_for(other, 30)] == ["a"]


def test_what_a_loop_left_in_the_middle_is_compiled_by_the_next():
    toolchain, variants = Waiting(), CompiledVariants()
    loop = asyncio.new_event_loop()
    left = loop.create_task(variants.compile(toolchain, site("left"), [source("a")]))
    loop.run_until_complete(toolchain.began.wait())
    other = Slow()
    other.__class__ = type("Waiting", (Slow,), {"__module__": Waiting.__module__, "__qualname__": "Waiting"})
    found = asyncio.run(variants.compile(other, site("left"), [source("a")]))
    assert [item.variant.name for item in found] == ["a"]
    left.cancel()
    loop.run_until_complete(asyncio.wait([left]))
    loop.close()
