"""Assertions of a test, counted in its text and in the functions of its file that it names.

A language's query captures

- `check`: what asserts for certain; `harmless`: what only looks like it
- `call`, `method`: the name of what is called, plain or behind a dot, where it sounds like an assertion. It counts
  unless the file defines it: then what that function does counts
- `name`, `member`: every identifier, plain or behind a dot
- `local`: names of functions that are defined within
- `_`: the whole of each pattern that could nest. Only captures are limited in number, and so the time that they take
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from tree_sitter import Node, Query, QueryCursor

from harness.judging.languages.found import text_of

MAX_STEPS = 1_000_000
"""For one file: names that are looked up. Where thousands of functions name one another, a test's own text counts."""
MAX_OPEN = 1_000
"""Matches that are begun and not ended: more of them, and the outermost are dropped. Honest code has a few dozen."""
WORDS = ("assert", "check", "expect", "verify", "ensure", "should")


def sounding(*words: str, before: str = "_*") -> str:
    """Return a pattern of names that begin with one of these words, or have `assert` or `expect` among theirs."""
    capital = [word.capitalize() for word in words]
    shouted = "|".join(word.upper() for word in words)
    mixed = f"(?:{'|'.join([*words, *capital])})(?![a-z])(?!_future$)"
    return f"^{before}(?:{mixed}|(?:{shouted})(?![A-Z]))|_(?:assert|expect)(?![a-z])|_(?:ASSERT|EXPECT)(?![A-Z])"


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of a file at the bytes `start` to `end`, and its assertions. A member's name begins with a dot."""

    start: int
    end: int
    checks: int
    calls: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()

    def holds(self, other: "Part") -> bool:
        return self.start <= other.start and other.end <= self.end

    def moved(self, by: int) -> "Part":
        """Return the same, its file standing so many bytes further."""
        return replace(self, start=self.start + by, end=self.end + by) if by else self


def look(query: Query, node: Node, named: Iterable[str] = ()) -> Part:
    """Return what a node holds and reaches; `named` are functions that it reaches without naming them."""
    found = QueryCursor(query, match_limit=MAX_OPEN).captures(node)
    harmless = _places(found.get("harmless", ()))
    checks = _places(found.get("check", ())) - harmless
    members = _places(found.get("member", ()))
    plain = {text_of(item) for item in found.get("name", ()) if item.start_byte not in members}
    dotted = {f".{text_of(item)}" for item in found.get("member", ())}
    local = {text_of(item) for item in found.get("local", ())}
    calls = {item.start_byte: text_of(item) for item in found.get("call", ())}
    calls |= {item.start_byte: f".{text_of(item)}" for item in found.get("method", ())}
    return Part(
        node.start_byte,
        node.end_byte,
        len(checks),
        tuple(name for place, name in calls.items() if place not in checks | harmless and name not in local),
        frozenset(plain | dotted | set(named)),
    )


class Tally:
    """A count of assertions in one file."""

    def __init__(self) -> None:
        self._steps = MAX_STEPS

    def of(self, own: Part, functions: Mapping[str, Sequence[Part]], hooks: Iterable[Part] = ()) -> int:
        """Count the assertions of a part and of all that it reaches, each function once.

        `hooks` run with it without being named.
        """
        around = list(islice(hooks, max(self._steps, 0)))
        self._steps -= len(around)
        reached, total = {own, *around}, 0
        waiting = [*(hook for hook in reached if hook is not own), own]
        while waiting and (self._steps > 0 or waiting[-1] is own):
            part = waiting.pop()
            total += part.checks + sum(name not in functions for name in part.calls)
            self._steps -= 1 + len(part.calls) + len(part.names)
            for other in chain.from_iterable(functions.get(name, ()) for name in part.names if self._steps > 0):
                self._steps -= 1
                if other not in reached and not own.holds(other) and not part.holds(other):
                    reached.add(other)
                    waiting.append(other)
        return total


def _places(nodes: Iterable[Node]) -> set[int]:
    return {node.start_byte for node in nodes}
