"""Blocks of a file of any language, around its places. Pure."""

from bisect import bisect_right
from collections.abc import Iterator

from tree_sitter import Node

_MOST_CLOSED = 1_000
_MOST_AROUND = 100
FILE = 0
"""The block around all others."""


class Scopes:
    """Blocks by their places. They are added in the order of their beginnings."""

    def __init__(self) -> None:
        self._starts, self._ends, self._outer, self._open = [0], [0], [FILE], list[int]()

    def add(self, block: Node) -> int:
        """Take a block, and return its number."""
        self._close(block.start_byte)
        number = len(self._starts)
        self._starts.append(block.start_byte)
        self._ends.append(block.end_byte)
        self._outer.append(self._open[-1] if self._open else FILE)
        self._open.append(number)
        return number

    def _close(self, place: int) -> None:
        while self._open and self._ends[self._open[-1]] <= place:
            self._open.pop()

    def around(self, place: int) -> Iterator[int]:
        """Yield the numbers of the blocks that a place is in, the inner ones first, and last the file's."""
        at = bisect_right(self._starts, place) - 1
        for _ in range(_MOST_CLOSED):
            if at == FILE or self._ends[at] > place:
                break
            at = self._outer[at]
        for _ in range(_MOST_AROUND):
            if at == FILE:
                break
            yield at
            at = self._outer[at]
        yield FILE

    def innermost(self, place: int) -> int:
        """Return the number of the inner one of the blocks that a place is in."""
        return next(self.around(place))
