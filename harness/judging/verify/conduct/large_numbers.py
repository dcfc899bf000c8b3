"""Literals of large numbers: which of them may be a check sum of something, and which nobody would compute. Pure."""

import re
from itertools import pairwise

_LARGE = re.compile(rb"[1-9][0-9]{7,19}|0x[0-9a-f]{7,16}")
_FEWEST_DIGITS = 7
"""Digits of a large number before the zeros at its end; with fewer it is a round one."""
_SUFFIX = re.compile(rb"(?<=[0-9a-f])(u?l{0,2}|n)$")


def plain_number(text: bytes) -> bytes:
    """Return a literal in lower case, without the underscores between its digits and the letters of its type."""
    return _SUFFIX.sub(b"", text.lower().replace(b"_", b""))


def is_large(number: bytes) -> bool:
    """Return whether a plain literal is a number of some eight digits or more."""
    return _LARGE.fullmatch(number) is not None


def is_odd(number: bytes) -> bool:
    """Return whether a plain literal is a large number, no mask, not round and not counting (`0x01020304`)."""
    if not is_large(number):
        return False
    value = int(number, 16 if number[:2] == b"0x" else 10)
    is_of_bits = not value & (value - 1) or not value & (value + 1)
    return not (is_of_bits or _counts(number)) and len(number.rstrip(b"0")) >= _FEWEST_DIGITS


def _counts(number: bytes) -> bool:
    """Return whether a number's digits or its bytes are alike, or one as far from the next as all are."""
    digits = number.removeprefix(b"0x").decode()
    whole = digits.zfill(len(digits) + len(digits) % 2)
    each = [int(digit, 16) for digit in digits]
    pairs = [int(whole[at : at + 2], 16) for at in range(0, len(whole), 2)]
    return any(len({after - before for before, after in pairwise(values)}) == 1 for values in (each, pairs))
