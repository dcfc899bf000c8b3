"""Texts of string literals with their escapes read, as Python, C, Go and TypeScript read them alike. Pure.

Names of characters are Python's alone.
"""

import re
import unicodedata

_ESCAPE = re.compile(
    r"\\(?:N\{([\w -]{1,90})\}|"
    r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|u\{([0-9a-fA-F]{1,6})\}|([0-7]{1,3})|(\r?\n|.))",
    re.DOTALL,
)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "\n": "", "\r\n": ""}
_LAST = 0x10FFFF


def unescaped(text: str) -> str:
    """Return what a literal's text stands for; a backslash before any other character only marks that one."""
    return _ESCAPE.sub(_meant, text) if "\\" in text else text


def _meant(found: re.Match[str]) -> str:
    named, *digits, octal, plain = found.groups()
    if named is not None:
        return _named(named) or found[0]
    if plain is not None:
        return _PLAIN.get(plain, plain)
    code = int(octal, 8) if octal is not None else int(next(each for each in digits if each is not None), 16)
    return chr(code) if code <= _LAST else "\ufffd"


def _named(name: str) -> str:
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return ""
