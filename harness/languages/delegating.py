"""Discovery that asks another one: the base of those that change a part of its answers."""

from harness.languages.found import TestFile
from harness.languages.protocol import Discovery


class DelegatingDiscovery:
    """See `Discovery`. All answers are the other's."""

    def __init__(self, discovery: Discovery) -> None:
        self._discovery = discovery

    @property
    def FILE_RULE(self) -> str:
        return self._discovery.FILE_RULE

    def is_test_file(self, path: str) -> bool:
        return self._discovery.is_test_file(path)

    def discover(self, source: bytes, path: str) -> TestFile:
        return self._discovery.discover(source, path)

    def names(self, source: bytes) -> frozenset[str]:
        return self._discovery.names(source)

    def calls(self, source: bytes) -> frozenset[str]:
        return self._discovery.calls(source)

    def reaches_folder(self, path: str, source: bytes) -> bool:
        return self._discovery.reaches_folder(path, source)
