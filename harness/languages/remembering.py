"""Discovery with a cache: it reads each text once per submission."""

from collections.abc import Callable
from typing import TypeVar

from harness.languages.delegating import DelegatingDiscovery
from harness.languages.found import TestFile
from harness.languages.protocol import Discovery

T = TypeVar("T")


class RememberingDiscovery(DelegatingDiscovery):
    """See `Discovery`. What it remembers goes with it: texts are hostile, and nothing of them outlives a judging."""

    def __init__(self, discovery: Discovery) -> None:
        super().__init__(discovery)
        self._files: dict[tuple[bytes, str], TestFile] = {}
        self._names: dict[bytes, frozenset[str]] = {}
        self._calls: dict[bytes, frozenset[str]] = {}

    def discover(self, source: bytes, path: str) -> TestFile:
        if (source, path) not in self._files:
            self._files[source, path] = self._discovery.discover(source, path)
        return self._files[source, path]

    def names(self, source: bytes) -> frozenset[str]:
        return _once(self._names, source, self._discovery.names)

    def calls(self, source: bytes) -> frozenset[str]:
        return _once(self._calls, source, self._discovery.calls)


def _once(known: dict[bytes, T], source: bytes, read: Callable[[bytes], T]) -> T:
    if source not in known:
        known[source] = read(source)
    return known[source]
