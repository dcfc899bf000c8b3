"""Variants compiled once for all submissions that one process judges.

Nothing of a submission goes into them. Rewritings are drawn anew in each process: no agent has ever seen them.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from harness.languages.toolchain import BuildContext, CompiledVariant, Toolchain
from harness.languages.variant_source import VariantSource

MOST = 300
"""Variants that are remembered, those used last."""
_known: OrderedDict[str, CompiledVariant] = OrderedDict()


async def compile_once(
    toolchain: Toolchain, context: BuildContext, sources: Sequence[VariantSource]
) -> list[CompiledVariant]:
    """See `Toolchain.compile`; only what was not compiled before goes through it."""
    if not toolchain.separates:  # nothing is compiled
        return await toolchain.compile(context, sources)
    keys = {source.name: _key(toolchain, context, source) for source in sources}
    found = {name: _known[key] for name, key in keys.items() if key in _known}
    if missing := [source for source in sources if source.name not in found]:
        # Others come and go meanwhile: what was found must not be looked up again.
        found |= {made.variant.name: made for made in await toolchain.compile(context, missing)}
    for name, key in keys.items():
        _known[key] = found[name]
        _known.move_to_end(key)
    while len(_known) > MOST:
        _known.popitem(last=False)
    return [found[source.name] for source in sources]


def _key(toolchain: Toolchain, context: BuildContext, source: VariantSource) -> str:
    parts = {
        "toolchain": type(toolchain).__name__,
        "image": context.image.digest,
        "name": source.name,
        "criterion": source.criterion,
        "disk": _digests(source.disk),
        "code": _digests(source.code),
        "dead": _digests(source.dead),
        "lines": {path: list(lines) for path, lines in source.rewritten_lines.items()},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
