"""Stubs: functions whose signature stays and whose behaviour is gone, made on the syntax tree of any language."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from tree_sitter import Node

from harness.judging.languages.functions import Edit
from harness.specs.errors import UserError

MESSAGE = "this part is not available"
"""The message of a stub that refuses."""


class StubKind(StrEnum):
    """The two kinds of removal. What each comes to is up to the language."""

    REFUSES = "refuses"
    """Raises, panics, throws, aborts or returns an error."""
    GARBAGE = "garbage"
    """Gives something of the right type, and something else at the next call."""


class CannotStub(UserError):
    """A symbol that isn't there, or one whose body can't be taken out safely. One line, with the reason."""


class Stubbed(NamedTuple):
    """A text with stubs in it. `warnings` are one for each symbol that a legitimate test could take for right."""

    text: bytes
    warnings: tuple[str, ...]


class Stubs(Protocol):
    """A language's way to take bodies out. Pure, and linear to the text."""

    @property
    def COMPILE(self) -> str:
        """A shell command that compiles the files that it is given, at the root of a work tree in its image."""
        ...

    def symbols(self, source: bytes, path: str) -> Mapping[str, str]:
        """Return every function of a text by its qualified name, and why it can't be stubbed; empty where it can."""
        ...

    def stub(self, source: bytes, path: str, names: Sequence[str], kind: StubKind) -> Stubbed:
        """Return a text without what the named functions do.

        Args:
            source: The file's text.
            path: The file's.
            names: Qualified names of functions in it.
            kind: How they are taken out.

        Raises:
            CannotStub: One of them can't be.
        """
        ...


@dataclass(frozen=True)
class Target:
    """A function to be stubbed. Several of one name (a property and its setter) are stubbed together.

    `refusal` is why its body can't be taken out; empty where it can.
    """

    name: str
    node: Node
    body: Node | None
    refusal: str = ""


class StubChange(NamedTuple):
    """The edits of one target; none where its body stays. `warning` says what a test could take for right."""

    edits: tuple[Edit, ...]
    warning: str = ""


def by_name(targets: Sequence[Target]) -> dict[str, list[Target]]:
    """Return targets by qualified name, in the order of the text."""
    found: dict[str, list[Target]] = {}
    for target in targets:
        found.setdefault(target.name, []).append(target)
    return found


def refusals(targets: Sequence[Target]) -> dict[str, str]:
    """See `Stubs.symbols`. A name can be stubbed where one of its functions can."""
    found: dict[str, str] = {}
    for name, mine in by_name(targets).items():
        found[name] = "" if any(not each.refusal for each in mine) else mine[0].refusal
    return found


def chosen(targets: Sequence[Target], names: Sequence[str], path: str) -> list[Target]:
    """Return the targets of these names, each once.

    Raises:
        CannotStub: There is no such function, or it can't be taken out.
    """
    known, found = by_name(targets), []
    for name in dict.fromkeys(names):
        if name not in known:
            raise CannotStub(f"{path}: no function {name!r}{_near(name, list(known))}")
        stubbable = [target for target in known[name] if not target.refusal]
        if not stubbable:
            raise CannotStub(f"{path}: {name} can't be stubbed: {known[name][0].refusal}")
        found += stubbable
    outer = [(each.node.start_byte, each.node.end_byte) for each in found]
    return [each for each in found if not any(_within(each.node, span) for span in outer)]


def _within(node: Node, span: tuple[int, int]) -> bool:
    """Return whether it lies in another function that is stubbed too."""
    return span[0] <= node.start_byte and node.end_byte <= span[1] and span != (node.start_byte, node.end_byte)


def _near(name: str, known: Sequence[str]) -> str:
    short = {each: each.rpartition(".")[2] for each in known}
    same_end = [each for each, end in short.items() if end == name.rpartition(".")[2]]
    near = list(dict.fromkeys([*same_end, *difflib.get_close_matches(name, known, n=3, cutoff=0.5)]))[:3]
    return f"; did you mean {', '.join(near)}?" if near else ""


def indent_of(source: bytes, at: int) -> str:
    """Return the white space that the line of an offset begins with."""
    line = source[source.rfind(b"\n", 0, at) + 1 : at]
    text = line.decode("utf-8", "replace")
    return text[: len(text) - len(text.lstrip())]
