"""Paths of any language as far as a file writes them: joined, added, with constants and strings filled in. Pure."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.dotted_names import bare, name_of, parts_of
from harness.judging.languages.escapes import unescaped
from harness.judging.languages.found import text_of

UNKNOWN = "$"
"""Text for what isn't written in the file."""
Constants = Mapping[str, Node | str]
"""By a name: what it stands for, as an expression or as its text."""


class Names(NamedTuple):
    """Meanings of a file's names, where the place of a name or the file's imports count."""

    value: Callable[[Node], Node | str | None]
    """A name's meaning, as an expression or as its text."""
    whole: Callable[[str], str] = str
    """A dotted name by the file's imports."""


_JOINING = frozenset({"Path", "PosixPath", "PurePath", "PurePosixPath", "join", "joinpath", "Join", "str", "fspath"})
"""Names of calls that make a path of what they are given."""
_SAME = frozenset(
    {"abspath", "realpath", "normpath", "normalize", "resolve", "fileURLToPath", "absolute", "expanduser", "as_posix"}
)
"""Names of calls that give the same path in another form."""
_FOLDERS = frozenset({"dirname", "with_name"})
"""Names of calls of which a path's folder is left."""
_OF_OBJECT = frozenset({"joinpath", "resolve", "absolute", "expanduser", "as_posix", "with_name"})
"""Methods of Python's paths."""
_FILE = f"./{UNKNOWN}"
_KNOWN = {
    **dict.fromkeys(("os.sep", "os.path.sep", "posixpath.sep", "path.sep", "path.posix.sep"), "/"),
    **dict.fromkeys(("__dirname", "import.meta.dirname", "os.curdir", "os.path.curdir"), "."),
    **dict.fromkeys(("__file__", "__filename", "import.meta.filename", "import.meta.url"), _FILE),
    "os.pardir": "..",
}
_HERE = frozenset({"os.getcwd", "pathlib.Path.cwd", "Path.cwd", "process.cwd", "importlib.resources.files"})
"""Calls that tell a folder of the repository."""
_TEXTS = frozenset(
    {"string", "template_string", "interpreted_string_literal", "raw_string_literal", "string_literal"}
)
_COMPUTED = frozenset({"interpolation", "template_substitution"})
_MEMBERS = frozenset({"attribute", "member_expression"})
_PLACE = re.compile(r"%s|\{\d?\}")
"""Where a format takes a text."""
_DEEPEST = 12
_MOST_PIECES = 50
_MOST_NODES = 300
_LONGEST_VALUE = 10_000
"""Bytes of what a name stands for: each place where the name is would take its text again."""


def written(node: Node, constants: Constants | Names) -> str:
    """Return the text that an expression of strings and paths comes to, with `UNKNOWN` for each other part."""
    if isinstance(constants, Names):
        return _Text(constants).of(node, _DEEPEST)
    return _Text(Names(lambda name: constants.get(text_of(name)))).of(node, _DEEPEST)


def joins(node: Node, whole: Callable[[str], str] = str) -> bool:
    """Return whether a node is a call that makes a path of what it is given."""
    return (last := _last_of(node, whole)) in _JOINING or last in _FOLDERS or last in _SAME or last == "format"


class _Text:
    """The text of one expression, of which no more than so many nodes are looked at."""

    def __init__(self, names: Names) -> None:
        self._names, self._left = names, _MOST_NODES

    def of(self, node: Node, deepest: int) -> str:
        node = bare(node)
        self._left -= 1
        if deepest == 0 or self._left < 0:
            return UNKNOWN
        if node.type in _TEXTS:
            return self._literal(node, deepest)
        if node.type == "concatenated_string":
            return "".join(self.of(child, deepest - 1) for child in node.named_children[:_MOST_PIECES])
        if node.type == "identifier":
            return self._named(node, deepest)
        if node.type in _MEMBERS:
            return self._member(node, deepest)
        if (operator := node.child_by_field_name("operator")) is not None:
            return self._operation(node, text_of(operator), deepest - 1)
        if node.type == "new_expression":
            return self._address(node, deepest - 1)
        return self._call(node, deepest - 1) if node.child_by_field_name("function") is not None else UNKNOWN

    def _named(self, node: Node, deepest: int) -> str:
        value = self._names.value(node)
        if value is None:
            return _KNOWN.get(self._names.whole(text_of(node)), UNKNOWN)
        if isinstance(value, str):
            return value if len(value) <= _LONGEST_VALUE else UNKNOWN
        return self.of(value, deepest - 1) if value.end_byte - value.start_byte <= _LONGEST_VALUE else UNKNOWN

    def _member(self, node: Node, deepest: int) -> str:
        last = text_of(next(parts_of(node), None))
        if last == "parent" and (folder := node.child_by_field_name("object")) is not None:
            return _folder(self.of(folder, deepest - 1))
        if last == "rootpath":
            return "."
        return _FILE if last == "__file__" else _KNOWN.get(self._names.whole(name_of(node)), UNKNOWN)

    def _operation(self, node: Node, operator: str, deepest: int) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or operator not in ("/", "+", "%"):
            return UNKNOWN
        if operator == "%":
            given = right.named_children[:_MOST_PIECES] if right.type == "tuple" else [right]
            return self._filled(left, given, deepest)
        sides = [right]
        while len(sides) < _MOST_PIECES and text_of(left.child_by_field_name("operator")) == operator:
            node, left = left, left.child_by_field_name("left") or left
            sides.append(node.child_by_field_name("right") or node)
        pieces = [self.of(side, deepest) for side in (left, *reversed(sides))]
        return "".join(pieces) if operator == "+" else _joined(pieces, starts_anew=True)

    def _call(self, call: Node, deepest: int) -> str:
        last, given = _last_of(call, self._names.whole), _given(call)
        function = bare(call.child_by_field_name("function") or call)
        of = function.child_by_field_name("object")
        if self._names.whole(name_of(function)) in _HERE:
            return "."
        if of is not None and last == "format":
            return self._filled(of, given, deepest)
        if of is not None and bare(of).type == "string" and last == "join":
            listed = given[0].named_children[:_MOST_PIECES] if given and given[0].type in ("list", "tuple") else given
            return self.of(of, deepest).join(self.of(each, deepest) for each in listed)
        if of is not None and bare(of).type == "array" and last == "join":
            listed = bare(of).named_children[:_MOST_PIECES]
            return (self.of(given[0], deepest) if given else ",").join(self.of(each, deepest) for each in listed)
        if last not in _JOINING and last not in _SAME and last not in _FOLDERS:
            return UNKNOWN
        is_of_object = call.type == "call" and last in _OF_OBJECT
        pieces = [self.of(piece, deepest) for piece in ([of] if of is not None and is_of_object else []) + given]
        if last in _FOLDERS:
            pieces[:1] = [_folder(pieces[0])] if pieces else []
        return _joined(pieces, starts_anew=call.type == "call" or last == "resolve") or ("" if pieces else ".")

    def _address(self, node: Node, deepest: int) -> str:
        """Return the path of `new URL(path, file)`."""
        given = _given(node)
        if text_of(node.child_by_field_name("constructor")) != "URL" or not given:
            return UNKNOWN
        base = [_folder(self.of(given[1], deepest))] if len(given) > 1 else []
        return _joined([*base, self.of(given[0], deepest)], starts_anew=True).removeprefix("file://")

    def _filled(self, form: Node, given: list[Node], deepest: int) -> str:
        """Return a format with what it is given."""
        pieces = iter([self.of(each, deepest) for each in given])
        return _PLACE.sub(lambda _: next(pieces, UNKNOWN), self.of(form, deepest))

    def _literal(self, node: Node, deepest: int) -> str:
        """Return a string's text with what is computed in it."""
        if not any(child.type in _COMPUTED for child in node.children):
            return _plain(node)
        is_raw = "r" in text_of(node.children[0]).lower()
        return "".join(self._piece(child, deepest - 1, is_raw) for child in node.children[1:-1])

    def _piece(self, child: Node, deepest: int, is_raw: bool) -> str:
        if child.type not in _COMPUTED:
            return text_of(child) if is_raw else unescaped(text_of(child))
        inner = [part for part in child.named_children if not part.is_extra]
        return self.of(inner[0], deepest) if inner else UNKNOWN


def _plain(node: Node) -> str:
    """Return the text of a string that has nothing computed in it."""
    whole = text_of(node)
    start = min((place for quote in "\"'`" if (place := whole.find(quote)) >= 0), default=0) + 1
    quotes = 3 if whole[start - 1 : start + 2] in ('"""', "'''") and len(whole) >= start + 5 else 1
    text = whole[start - 1 + quotes : -quotes]
    is_raw = node.type == "raw_string_literal" or "r" in whole[: start - 1].lower()
    return text if is_raw else unescaped(text)


def _joined(pieces: list[str], *, starts_anew: bool) -> str:
    """Return a path of pieces, where one from the root may leave out those before."""
    first = next((place for place in range(len(pieces) - 1, 0, -1) if pieces[place].startswith("/")), 0)
    return "/".join(pieces[first:] if starts_anew else pieces)


def _folder(path: str) -> str:
    return path if path in (UNKNOWN, ".") else posixpath.dirname(path) or "."


def _last_of(call: Node, whole: Callable[[str], str]) -> str:
    """Return the last part of what is called, also of a member of any expression."""
    function = call.child_by_field_name("function")
    if function is None or not (name := name_of(function)):
        return ""
    last = text_of(next(parts_of(function), None))
    return whole(last).rpartition(".")[2] if name == last else last


def _given(call: Node) -> list[Node]:
    arguments = call.child_by_field_name("arguments")
    return list(_plain_ones(arguments))[:_MOST_PIECES] if arguments is not None else []


def _plain_ones(arguments: Node) -> Iterator[Node]:
    return (child for child in arguments.named_children if not child.is_extra and child.type != "keyword_argument")
