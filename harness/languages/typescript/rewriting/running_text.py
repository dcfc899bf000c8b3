"""What runs of a variant's text, before it is transpiled: its touched functions rewritten, the rest as it is."""

import re
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from tree_sitter import Node

from harness.languages.found import parsed
from harness.languages.functions import apply, functions_of, touched_functions
from harness.languages.rewritten import rewritten_text
from harness.languages.typescript.rewriting.catalogue import CATALOGUE, GRAMMAR
from harness.languages.typescript.rewriting.plain_form import in_plain_form
from harness.languages.variant_source import VariantSource


def running_text(source: VariantSource, path: str) -> bytes:
    """The text that what runs of `path` is transpiled from: as it is written where the variant has no seed."""
    text = source.code[path]
    if source.seed is not None:
        for names in _touched(source.family.get(path, ())):
            text = _rewritten(source, path, text, names)
    return text


@lru_cache(maxsize=64)
def _touched(family: tuple[bytes, ...]) -> tuple[tuple[str, ...], ...]:
    """The touched functions, those that share a statement together."""
    touched = touched_functions(GRAMMAR, family)
    return tuple(tuple(names) for _, names in groupby(touched, key=lambda name: re.split(r"[.#]", name)[0]))


def _rewritten(source: VariantSource, path: str, text: bytes, names: tuple[str, ...]) -> bytes:
    """`text` with some functions rewritten. Nothing but the statements around them is looked at: that is quick."""

    def alone(text: bytes) -> bytes:
        return _alone(text, names)

    part = replace(
        source,
        code={path: alone(text)},
        family={path: tuple(map(alone, source.family.get(path, ())))},
        inert={path: tuple(map(alone, source.inert.get(path, ())))},
    )
    made = parsed(GRAMMAR.language, rewritten_text(CATALOGUE, part, path)).children
    pairs = zip(_holders(text, names), made, strict=True)
    return apply(text, [(old.start_byte, old.end_byte, new.text or b"") for old, new in pairs])


@lru_cache(maxsize=1024)
def _alone(text: bytes, names: tuple[str, ...]) -> bytes:
    return in_plain_form(GRAMMAR, b"\n".join(node.text or b"" for node in _holders(text, names)), names)


def _holders(text: bytes, names: Collection[str]) -> list[Node]:
    """The statements of a file that hold functions of these names, in their order."""
    found = functions_of(GRAMMAR, text)
    holders: dict[int, Node] = {}
    for name in names:
        node = found[name].node if name in found else None
        while node is not None and node.parent is not None and node.parent.parent is not None:
            node = node.parent
        if node is not None:
            holders[node.start_byte] = node
    return [holders[start] for start in sorted(holders)]
