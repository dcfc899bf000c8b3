"""Text in NFKC, the form in which Python compares names. Pure, and takes time linear to the text."""

import re
import unicodedata
from itertools import groupby

_LONG = re.compile(r"[^\x00-\x7f]{65,}")


def normal(text: str) -> str:
    """Return a text in NFKC, so that fullwidth letters are letters (PEP 3131)."""
    return text if text.isascii() else unicodedata.normalize("NFKC", _LONG.sub(_in_order, text))


def is_dotted_name(text: str) -> bool:
    """Return whether a text is names with dots between them, as Python compares them."""
    return normal(text) == text and all(part.isidentifier() for part in text.split("."))


def _in_order(letters: re.Match[str]) -> str:
    """Return letters with their marks in order: what puts them in order in C takes time quadratic to their number."""
    apart = "".join(unicodedata.normalize("NFKD", letter) for letter in letters[0])
    parts = groupby(apart, key=lambda letter: unicodedata.combining(letter) > 0)
    return "".join("".join(sorted(part, key=unicodedata.combining) if is_mark else part) for is_mark, part in parts)
