"""Titles of tests as a source or a table has them, with parts that are computed when the tests run. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

T = TypeVar("T")
_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_COMPUTED = re.compile(rf"\${_BRACES}|%[sdifjoOpc#$]|\$[\w$]+(?:\.[\w$]+)*")
"""A template's expression, a table's placeholder, a table's `$name`: the same as in a run script's pattern, and `%p`,
which jest has beside these."""


@dataclass(frozen=True)
class Template:
    """A listed name, taken apart once for all cases. `pieces` are its literal parts, both ends included."""

    text: str

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The literal parts, both ends included."""
        return tuple(piece.replace("%%", "%") for piece in _COMPUTED.split(self.text))

    @property
    def is_computed(self) -> bool:
        """Return whether a part of the name is computed when the test runs."""
        return len(self.pieces) > 1

    @property
    def literal_characters(self) -> int:
        """The number of characters that aren't computed."""
        return sum(map(len, self.pieces))

    def makes(self, name: str) -> bool:
        """Return whether a name can have come of this template, in time linear in both."""
        if not self.is_computed:
            return name == self.text
        first, *middle, last = self.pieces
        if not (name.startswith(first) and name.endswith(last) and len(name) >= len(first) + len(last)):
            return False
        at, end = len(first), len(name) - len(last)
        for piece in middle:
            at = name.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True


class ByBeginning(Generic[T]):
    """Values by the literal text that their templates begin with: many templates cost no more than few."""

    def __init__(self, items: Iterable[tuple[Template, T]]) -> None:
        self._values: dict[str, list[T]] = defaultdict(list)
        for template, value in items:
            self._values[template.pieces[0]].append(value)
        self._lengths = sorted({len(beginning) for beginning in self._values})

    def of(self, name: str) -> Iterator[T]:
        """Yield the values of templates that a name can have come of, as far as its beginning tells."""
        for length in self._lengths:
            if length > len(name):
                return
            yield from self._values.get(name[:length], ())
