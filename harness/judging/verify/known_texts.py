"""Texts that patches made of trees, kept for the next trial of the same task in this process."""

from collections import OrderedDict
from collections.abc import Mapping

Key = tuple[bytes | str, ...]
"""A tree's id, with the bytes of the patches that were applied to it, in order."""


class KnownTexts:
    """The texts that were asked for last, of some bytes at most.

    A key names its texts by content, so none is ever stale.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[Key, Mapping[str, bytes]] = OrderedDict()

    def get(self, key: Key) -> Mapping[str, bytes] | None:
        """Return path -> bytes for a key; None where they aren't kept."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, key: Key, files: Mapping[str, bytes]) -> None:
        """Keep texts, and drop those that nobody asked for longest where they are too many."""
        if key in self._kept:
            return
        self._kept[key] = files
        self._bytes += _size(key, files)
        while self._bytes > self._most:
            self._bytes -= _size(*self._kept.popitem(last=False))


def _size(key: Key, files: Mapping[str, bytes]) -> int:
    return sum(map(len, key)) + sum(map(len, files.values()))
