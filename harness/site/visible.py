"""Text of agents and containers, made visible: what a page shows can neither act nor hide.

Jinja2 escapes markup. What is left are characters that move the cursor, turn the direction of text round or can't be
seen at all: each is shown by its code.
"""

import re
from typing import Any

from markupsafe import Markup

_PERHAPS = re.compile(r"[^\t\n\x20-\x7e]")
"""What isn't plainly printable: whether it is, Unicode's tables say."""


def visible(text: str) -> str:
    """`text` with every character that isn't printable as its escape: `\\x1b`, `\\u202e`, `\\U000e0041`."""
    return text if text.isascii() and text.isprintable() else _PERHAPS.sub(_as_shown, text)


def shown(value: Any) -> Any:
    """What Jinja2 does to every value before it escapes it; None is nothing, and markup of ours stays as it is."""
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _as_shown(found: re.Match[str]) -> str:
    char = found[0]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
