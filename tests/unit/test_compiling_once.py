"""Variants are compiled once for all submissions of a process."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from harness.languages.toolchain import BuildContext, CompiledVariant
from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import Image
from harness.specs.variants import Variant, VariantKind
from harness.verify.compiling import MOST, compile_once


@dataclass
class Counting:
    separates: bool = True
    compiled: list[str] = field(default_factory=list)

    async def compile(self, site, sources):
        self.compiled += [source.name for source in sources]
        return [CompiledVariant(Variant(source.name, source.kind, code=source.code), (), ()) for source in sources]


def site(digest: str) -> BuildContext:
    return BuildContext(None, Image("tag", digest, "/app", Path()), {})


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
    others = [source("a", b"other"), source("a", dead={"a.c": b"x"}), source("a", rewritten_lines={"a.c": (1,)})]
    await compile_once(toolchain, site("one image"), [source("a")])
    for other in others:
        await compile_once(toolchain, site("one image"), [other])
    await compile_once(toolchain, site("another image"), [source("a")])
    assert toolchain.compiled == ["a"] * 5


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
