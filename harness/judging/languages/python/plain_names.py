"""Code of Python with its names as Python reads them, for what looks for names by their bytes. Pure."""

import keyword

from harness.judging.languages.found import every_node
from harness.judging.languages.nfkc import normal
from harness.judging.languages.python.classes import GRAMMAR, with_short_comments


def with_plain_names(source: bytes) -> bytes:
    """Return the same code with its names in NFKC, each in its line; texts and comments are as they were.

    A keyword in other letters is a name to Python, and stays in these.
    """
    text = "" if source.isascii() else source.decode("utf-8", "replace")
    if normal(text) == text:
        return source
    parts, end = list[bytes](), 0
    for node in every_node(GRAMMAR, with_short_comments(source)):
        if node.type != "identifier" or not node.text or node.text.isascii():
            continue
        name = normal(node.text.decode("utf-8", "replace"))
        if not keyword.iskeyword(name):
            parts += (source[end : node.start_byte], name.encode())
            end = node.end_byte
    return b"".join([*parts, source[end:]])
