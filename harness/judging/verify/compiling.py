"""Variants compiled once for all submissions that one process judges.

Nothing of a submission goes into them. Judgings that share a code seed (see `CodeSeeds`) share what it decides.
"""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from harness.judging.languages.toolchain import CompiledVariant, JobContext, Toolchain
from harness.judging.languages.variant_source import VariantSource

MOST = 500
"""Variants that are remembered, those used last."""


class CompiledVariants:
    """Variants that are compiled or being compiled: judgings that run side by side may ask for the same.

    `most` is how many variants are kept for later. One that is dropped meanwhile is still handed to who waits for it.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[str, CompiledVariant] = OrderedDict()
        self._underway: dict[str, asyncio.Future[CompiledVariant | None]] = {}

    async def compile(
        self, toolchain: Toolchain, context: JobContext, sources: Sequence[VariantSource]
    ) -> list[CompiledVariant]:
        """Compile variants as the toolchain does, but for those that were compiled or are being compiled."""
        if not toolchain.separates:  # nothing is compiled
            return await toolchain.compile(context, sources)
        digests = _Digests()
        keys = {source.name: _key(toolchain, context, source, digests) for source in sources}
        found: dict[str, CompiledVariant] = {}
        while missing := [source for source in sources if source.name not in found]:
            found |= {item.name: known for item in missing if (known := self._recall(keys[item.name]))}
            unknown = [item for item in missing if item.name not in found]
            underway = {item.name: future for item in unknown if (future := self._future(keys[item.name]))}
            if mine := [item for item in unknown if item.name not in underway]:
                found |= await self._compile(toolchain, context, mine, keys)
            for name, future in underway.items():
                if made := await asyncio.shield(future):  # else who compiled it failed: the next round is ours
                    found[name] = made
        return [found[source.name] for source in sources]

    async def _compile(
        self, toolchain: Toolchain, context: JobContext, sources: Sequence[VariantSource], keys: Mapping[str, str]
    ) -> dict[str, CompiledVariant]:
        loop = asyncio.get_running_loop()
        futures = {source.name: loop.create_future() for source in sources}
        self._underway |= {keys[name]: future for name, future in futures.items()}
        made: dict[str, CompiledVariant] = {}
        try:
            made = {item.variant.name: item for item in await toolchain.compile(context, sources)}
        finally:
            for name, future in futures.items():
                self._underway.pop(keys[name], None)
                future.set_result(made.get(name))
        for name, item in made.items():
            self._known[keys[name]] = item
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return made

    def _recall(self, key: str) -> CompiledVariant | None:
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def _future(self, key: str) -> "asyncio.Future[CompiledVariant | None] | None":
        """Return what somebody else is compiling.

        A loop that ended in the middle of it leaves nothing to wait for.
        """
        future = self._underway.get(key)
        if future is None or future.get_loop() is asyncio.get_running_loop():
            return future
        del self._underway[key]
        return None


_of_this_process = CompiledVariants()


async def compile_once(
    toolchain: Toolchain, context: JobContext, sources: Sequence[VariantSource]
) -> list[CompiledVariant]:
    """Compile variants, each once for all judgings of this process. For errors see `Toolchain.compile`."""
    return await _of_this_process.compile(toolchain, context, sources)


class _Digests(dict[bytes, str]):
    """Digests of texts, each computed once: all variants of a task have most of them in common."""

    def __missing__(self, text: bytes) -> str:
        self[text] = hashlib.sha256(text).hexdigest()
        return self[text]


def _key(toolchain: Toolchain, context: JobContext, source: VariantSource, digests: _Digests) -> str:
    def one(files: Mapping[str, bytes]) -> dict[str, str]:
        return {path: digests[text] for path, text in files.items()}

    def several(files: Mapping[str, tuple[bytes, ...]]) -> dict[str, list[str]]:
        return {path: [digests[text] for text in texts] for path, texts in files.items()}

    parts = {
        "toolchain": f"{type(toolchain).__module__}.{type(toolchain).__qualname__}",
        "image": context.image.digest,
        "name": source.name,
        "criterion": source.criterion,
        "disk": one(source.disk),
        "code": one(source.code),
        "family": several(source.family),
        "inert": several(source.inert),
        "seed": source.seed,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
