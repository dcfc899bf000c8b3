"""Text of a submission as the judge gets it: without invisible characters or lines that look like ours."""

import unicodedata
from functools import lru_cache
from typing import NamedTuple

LINE_PREFIX = "| "
_KEPT = "\n\t"
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols by category that show as nothing."""
_VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))
"""They change how the character before them looks, and any bytes can be written with them."""


class ShownText(NamedTuple):
    """`text` without control, invisible and bidirectional characters, of which there were `removed`."""

    text: str
    removed: int


def shown(data: bytes | str) -> ShownText:
    """What a judge may see. The ends of lines of Windows become plain ones, and don't count as removed."""
    text = data.decode(errors="replace") if isinstance(data, bytes) else data
    text = text.replace("\r\n", "\n")
    kept = "".join(char for char in text if _is_visible(char))
    return ShownText(kept, len(text) - len(kept))


def as_data(text: str) -> str:
    """Each line behind a prefix, so that no line can be taken for a fence or a message."""
    return "\n".join(f"{LINE_PREFIX}{line}" for line in text.rstrip("\n").split("\n"))


def squeezed(text: str) -> str:
    """Runs of white space as one space: models break and indent anew what they quote."""
    return " ".join(text.split())


@lru_cache(4096)
def _is_visible(char: str) -> bool:
    if char in _KEPT:
        return True
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or char in _BLANK:
        return False
    return not any(ord(char) in selectors for selectors in _VARIATION_SELECTORS)
