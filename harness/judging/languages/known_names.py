"""Texts that a file's names stand for, by its functions: all that a name gets count. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from harness.judging.languages.pathnames import UNKNOWN
from harness.judging.languages.scopes import FILE

MOST_TEXT = 4_096
MOST_MEANINGS = 20
"""Meanings of one name in one function that are followed."""
_MOST_ALL = 5_000_000
"""Characters of all texts."""

Key = tuple[int, str]
"""A name, and the number of the function that has it (`Scopes`)."""


class TextsOfNames:
    """The texts of a file's names, of some characters at most."""

    def __init__(self) -> None:
        self._room = _MOST_ALL
        self._texts: dict[Key, list[str]] = {}

    def add(self, key: Key, texts: Iterable[str]) -> None:
        """Take down texts that a name stands for."""
        known = self._texts.setdefault(key, [])
        for text in texts:
            if text not in known and len(known) < MOST_MEANINGS and len(text) <= self._room:
                known.append(text)
                self._room -= len(text)

    def all_of(self, function: int, read: Callable[[Mapping[str, str]], str]) -> list[str]:
        """Return each text that `read` makes of the names as a function sees them, for each of their meanings."""
        known = _Seen(self._texts, function)
        found = {read(known): None}
        while known.which + 1 < known.most:
            known.which += 1
            found.setdefault(read(known))
        return [*found]


class _Seen(Mapping[str, str]):
    """Texts by their names as one function sees them, of several meanings one."""

    def __init__(self, texts: Mapping[Key, list[str]], function: int) -> None:
        self._texts, self._function = texts, function
        self.which, self.most = 0, 1

    def __getitem__(self, name: str) -> str:
        found = [*self._texts.get((self._function, name), ()), *self._texts.get((FILE, name), ())]
        self.most = max(self.most, len(found))
        return found[min(self.which, len(found) - 1)] if found else UNKNOWN

    def __iter__(self) -> Iterator[str]:
        return (name for _, name in self._texts)

    def __len__(self) -> int:
        return len(self._texts)
