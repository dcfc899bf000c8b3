"""Every function of a text written anew, as where the text on disk is what runs."""

import ast
from random import Random

from harness.judging.languages.functions import Grammar, apply, functions_of
from harness.judging.languages.protocol import Language
from harness.judging.languages.variant_source import Layout, OnDisk

NOTE = b" /* other */ "


def written_whole(language: Language, grammar: Grammar | None, path: str, text: bytes, layout: Layout) -> bytes:
    """The same behaviour, with a body beside each function's own. Without a grammar it is Python."""
    other = _marked(grammar, text) if grammar else _longer(text)
    item = OnDisk(path, text, (text, other), layout)
    return language.code.write(item, Random(f"{path} {layout}"))


def _marked(grammar: Grammar, text: bytes) -> bytes:
    places = [function.body.start_byte + 1 for function in functions_of(grammar, text).values()]
    return apply(text, [(at, at, NOTE) for at in places])


def _longer(text: bytes) -> bytes:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body.append(ast.Pass())
    return ast.unparse(tree).encode()
