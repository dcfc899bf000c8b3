"""Fresh names of a function's own words: no mark tells them from those that its author gave."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from random import Random

_IDENTIFIER = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")
_PREFIX = re.compile(rb"\b([A-Za-z]+)_\w*\s*\(")
"""Of functions: another file may have more of them, and macros, whose names begin so."""
_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_FEWEST = 6
"""Words of a vocabulary: a shorter one is filled up."""
_COMMON = ("next", "count", "current", "last", "item", "start", "kind", "size", "left", "state")


def snake_case(words: Sequence[str]) -> str:
    return "_".join(words)


def camel_case(words: Sequence[str]) -> str:
    return words[0] + "".join(word.capitalize() for word in words[1:])


class Names:
    """Names that occur in none of some texts, of the words of known ones.

    `join` makes a name of words in the language's way.
    """

    def __init__(
        self, known: Iterable[str], texts: Iterable[bytes], join: Callable[[Sequence[str]], str], chance: Random
    ) -> None:
        self._join, self._chance, texts = join, chance, list(texts)
        self._taken = set[str]().union(*map(_identifiers, texts))
        self._prefixes = frozenset[str]().union(*map(_prefixes, texts))
        self._words = _words(known)

    def fresh(self) -> str:
        """Another name each time."""
        while True:
            words = self._chance.sample(self._words, self._chance.choice((2, 2, 2, 3)))
            name = self._join(words)
            if name not in self._taken and not (words[0] in self._prefixes and name.startswith(f"{words[0]}_")):
                self._taken.add(name)
                return name
            self._words.append(f"{self._chance.choice(_COMMON)}{self._chance.randint(2, 99)}")


@lru_cache(maxsize=256)  # all variants of a task share a family of texts
def _identifiers(text: bytes) -> frozenset[str]:
    return frozenset(name.decode() for name in set(_IDENTIFIER.findall(text)))


@lru_cache(maxsize=256)
def _prefixes(text: bytes) -> frozenset[str]:
    return frozenset(word.decode().lower() for word in set(_PREFIX.findall(text)))


def _words(known: Iterable[str]) -> list[str]:
    words = dict.fromkeys(word.lower() for name in sorted(set(known)) for word in _WORD.findall(name))
    return list(words) if len(words) >= _FEWEST else list(dict.fromkeys([*words, *_COMMON]))
