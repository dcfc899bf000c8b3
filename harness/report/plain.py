"""Text that came from an agent or a container, made safe to print."""

import unicodedata

_KEPT = "\n\t"


def printable(text: str, limit: int = 0) -> str:
    """`text` without control, escape and bidi characters; cut to `limit` characters where that is given."""
    shown = "".join(char if char in _KEPT or unicodedata.category(char)[0] != "C" else "�" for char in text)
    return f"{shown[: limit - 1]}…" if limit and len(shown) > limit else shown
