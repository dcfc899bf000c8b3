"""Scripts that some arm changes: what pages load of them is another text in each arm, and does the same.

Tests can ask for a script as a page does. So neither that a line is there nor that it isn't may tell which arm it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from tree_sitter import Node

from harness.judging.languages.found import parsed
from harness.judging.languages.functions import functions_of
from harness.judging.languages.typescript.rewriting.catalogue import CATALOGUE, GRAMMAR, running_text
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.evidence import derived_seed
from harness.specs.variants import VariantKind

SUFFIXES = (".js", ".mjs")
_AROUND = b"mainOfScript"
"""The name of the function that is put around a script which differs outside of functions."""


@dataclass(frozen=True)
class Script:
    """A script by what it is in a task's arms: `right` in those that must pass, `broken` in the others."""

    path: str
    right: tuple[bytes, ...]
    broken: tuple[bytes, ...]

    @property
    def family(self) -> tuple[bytes, ...]:
        """Every text, each once."""
        return tuple(dict.fromkeys((*self.right, *self.broken)))

    def written(self, own: bytes, seed: int) -> bytes:
        """Return a text that does what `own` does, drawn by the seed.

        Its functions hold the bodies of all other texts too, which never run: in every arm each text is there once.
        """
        chance = Random(derived_seed(seed, "script", self.path))
        texts = {text: _framed(text) if _needs_a_frame(self.family) else text for text in (own, *self.family)}
        source = VariantSource(
            name=self.path,
            kind=VariantKind.TWIN,
            disk={},
            code={self.path: texts[own]},
            family={self.path: tuple(texts[text] for text in self.family)},
            inert={self.path: tuple(texts[text] for text in self.family if text != own)},
            seed=chance.randrange(1 << 30),
        )
        return running_text(source, self.path)


def scripts_of(right: Sequence[Mapping[str, bytes]], broken: Sequence[Mapping[str, bytes]]) -> list[Script]:
    """Return the scripts that a mutant changes.

    Args:
        right: The files of each arm that must pass, by path: of all paths that any arm changes.
        broken: The same of the arms that must fail.
    """
    found: list[Script] = []
    for path in sorted(path for path in right[0] if path.endswith(SUFFIXES)):
        good = dict.fromkeys(files[path] for files in right)
        bad = dict.fromkeys(files[path] for files in broken if files[path] not in good)
        if bad:
            found.append(Script(path, tuple(good), tuple(bad)))
    return found


@lru_cache(maxsize=64)
def _needs_a_frame(family: tuple[bytes, ...]) -> bool:
    """Return whether texts differ outside of functions, and can all stand in one."""
    outside = {b"".join(_outside(text)) for text in family}
    return len(outside) > 1 and not any(_is_module(text) for text in family)


def _framed(text: bytes) -> bytes:
    """Return a text in a function that has a name, behind its head."""
    at = _head(parsed(GRAMMAR.language, text))
    return text[:at] + b"\n;(function " + _AROUND + b"() {\n" + text[at:].strip() + b"\n})();\n"


def _outside(text: bytes) -> Iterator[bytes]:
    """Yield what of a text stands in no function that can be rewritten."""
    at = 0
    for function in functions_of(GRAMMAR, text).values():
        if CATALOGUE.may_change(function):
            yield text[at : function.body.start_byte]
            at = function.body.end_byte
    yield text[at:]


def _is_module(text: bytes) -> bool:
    root = parsed(GRAMMAR.language, text)
    return any(node.type in ("import_statement", "export_statement") for node in root.children)


def _head(root: Node) -> int:
    """Return where a text's first comments and directives end: who reads a file's head looks there."""
    at = 0
    for node in root.children:
        is_directive = node.type == "expression_statement" and node.named_children[0].type == "string"
        if node.type != "comment" and not is_directive:
            break
        at = node.end_byte
    return at
