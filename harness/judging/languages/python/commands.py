"""Commands that a Python file starts: by lists of words, sums of lists, lines of a shell, and `python -c`. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence

from tree_sitter import Node

from harness.judging.languages.conduct import MOST_GIVEN, command_words, is_source, program_words, shell_words
from harness.judging.languages.dotted_names import bare, name_of
from harness.judging.languages.pathnames import UNKNOWN
from harness.judging.languages.python.calls import first_named
from harness.judging.languages.python.classes import text_of
from harness.judging.languages.python.means import IN_ORDER, MODULES, PRINTERS, PYTHON, SHOWING, SOURCE
from harness.judging.languages.python.repositories import is_own
from harness.judging.languages.python.values import Values

_MOST_SUMS = 10
_BETWEEN = re.compile(r"[;&|\n()`]")
"""A mark between two commands."""
_MOST_LINE = 2_000
_LISTS = frozenset({"list", "tuple"})


class Commands:
    """Programs that calls run, by a file's values and imports."""

    def __init__(self, values: Values, whole: Callable[[str], str], code_words: Callable[[str], str]) -> None:
        """Take what tells a dotted name by the imports, and what a text of Python shows in words."""
        self._values, self._whole, self._code_words = values, whole, code_words
        self._call: Node | None = None
        """The call that is looked at."""
        self.leads_elsewhere = False
        """Whether the file has anything by which git may work in another folder."""

    def words(self, call: Node, runner: str, given: list[Node]) -> str:
        """Return in words what a call runs of the listed programs; empty for none."""
        given = given[1:] if IN_ORDER.fullmatch(runner) else given
        arguments = call.child_by_field_name("arguments")
        for item in first_named(arguments) if given else ():
            if text_of(item.child_by_field_name("name")) == "executable":
                program = item.child_by_field_name("value")
                found = (program_words(text) for text in self._values.texts(program)) if program is not None else ()
                if words := next(filter(None, found), ""):
                    return words
        commands = self._values.meant(given[0]) if given else []
        self._call = call
        return next((words for command in commands if (words := self._of(command, given[1:]))), "")

    def _of(self, command: Node, rest: list[Node]) -> str:
        command = _split(_first_of_sum(command))
        if command.type not in _LISTS:
            if words := next((words for text in self._values.texts(command) if (words := _line_words(text))), ""):
                return words
            rest = [inner for item in rest[:MOST_GIVEN] for inner in _parts(item)]
            return self._of_words([command, *rest])
        return self._of_words([*first_named(command), *rest])

    def _of_words(self, nodes: list[Node]) -> str:
        nodes = nodes[:MOST_GIVEN]
        words = [_known(self._values.texts(node)) for node in nodes]
        is_python = bool(nodes) and self._whole(name_of(nodes[0])) == "sys.executable"
        if nodes and (is_python or PYTHON.fullmatch(words[0] or "")):
            return self._of_python(words[1:])
        if self._call is not None and not self.leads_elsewhere and is_own(self._call, words, nodes):
            return ""
        return command_words(words) or _printed(words)

    def _of_python(self, words: list[str | None]) -> str:
        """Return what a command line runs by `python`: its code is looked at."""
        option = next((place for place, word in enumerate(words) if word in ("-c", "-m")), None)
        given = words[option + 1] if option is not None and option + 1 < len(words) else None
        if option is None or given is None:
            return ""
        if words[option] == "-m":
            return f"runs python -m {given}" if MODULES.fullmatch(given) or given in SHOWING else ""
        found = self._code_words(given)
        return f"runs python -c, which {found}" if found else ""


def _line_words(line: str) -> str:
    """Return in words what a line of a shell shows, by any of its commands."""
    commands = (command.split() for command in _BETWEEN.split(line[:_MOST_LINE]))
    return shell_words(line) or next((words for command in commands if (words := _printed(command))), "")


def _printed(command: Sequence[str | None]) -> str:
    """Return in words whether a command prints a file of code."""
    program, *given = command or [None]
    is_printer = (program or "").rpartition("/")[2] in PRINTERS
    return "reads a file of code" if is_printer and any(is_source(word, SOURCE) for word in given if word) else ""


def _known(texts: list[str]) -> str | None:
    return texts[0] if texts[0] != UNKNOWN else None


def _parts(node: Node) -> Iterator[Node]:
    """Yield the words of a list: `os.execvp` takes the program first."""
    if node.type in _LISTS:
        yield from first_named(node)[1:MOST_GIVEN]
    else:
        yield node


def _first_of_sum(command: Node) -> Node:
    """Return the first list of a sum of lists, else the command itself."""
    node = command
    for _ in range(_MOST_SUMS):
        left = node.child_by_field_name("left") if node.type == "binary_operator" else None
        if left is None:
            break
        node = bare(left)
    return node if node.type in _LISTS else command


def _split(command: Node) -> Node:
    """Return the line that `line.split()` or `shlex.split(line)` makes a command of."""
    function = bare(command.child_by_field_name("function") or command)
    arguments = command.child_by_field_name("arguments")
    if command.type != "call" or text_of(function.child_by_field_name("attribute")) != "split":
        return command
    of = function.child_by_field_name("object")
    if of is not None and name_of(of) != "shlex":
        return bare(of)
    given = first_named(arguments)
    return bare(given[0]) if given else command
