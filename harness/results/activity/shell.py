"""Splits shell text into the commands that it runs, with a parser of bash's grammar."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_LONGEST = 200_000
"""Characters of one command that are parsed; what an agent writes into files by here-documents may be long."""
_SHORT = 500
"""Characters of a command that is remembered with what it runs."""
_DEEPEST = 3
"""The depth to which `bash -c 'bash -c ...'` is followed."""
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ash", "ksh"})


@dataclass(frozen=True)
class AtomicCommand:
    """One program or builtin with its arguments, quotes removed where that is plain.

    `writes` and `reads` are files of its redirections. `text` is the command as it stands, `body` that of a
    here-document that it is given. `is_filter`: it reads what another command prints.
    """

    name: str
    arguments: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    text: str = ""
    body: str = ""
    is_filter: bool = False

    @property
    def operands(self) -> tuple[str, ...]:
        """The command's arguments without options."""
        return tuple(item for item in self.arguments if not item.startswith("-"))

    @property
    def program(self) -> str:
        """The command's name without a directory."""
        return self.name.rpartition("/")[2]


def atomic_commands(text: str) -> tuple[AtomicCommand, ...]:
    """Return a text's single commands in order, those that `bash -c`, `timeout`, `xargs` and so on run among them.

    Text that isn't bash gives what the parser makes of it, at worst nothing. Never raises.
    """
    return _often_asked(text) if len(text) <= _SHORT else tuple(_commands(text[:_LONGEST], _DEEPEST))


@lru_cache(4096)
def _often_asked(text: str) -> tuple[AtomicCommand, ...]:
    """Return the commands of a text, remembered: agents look at the same files and run the same tests."""
    return tuple(_commands(text, _DEEPEST))


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def _commands(text: str, depth: int) -> Iterator[AtomicCommand]:
    for found in _parsed(text):
        inner = unwrapped(found)
        script = _script(inner)
        if script is not None and depth > 1:
            yield from _commands(script, depth - 1)
        elif inner.name or inner.writes:
            yield inner


def _parsed(text: str) -> list[AtomicCommand]:
    """Parse without recursion: an agent's text may be nested as deep as it likes."""
    found: dict[int, AtomicCommand] = {}
    ends: dict[int, int] = {}
    filters: set[int] = set()
    redirections: list[tuple[Node, _Redirections]] = []
    pending = [_parser().parse(text.encode(errors="replace")).root_node]
    while pending:
        node = pending.pop()
        if node.type == "command":
            found[node.start_byte], ends[node.start_byte] = _command(node), node.end_byte
        elif node.type == "pipeline":
            filters |= {_first_command(part) for part in node.named_children[1:]}
        elif node.type == "redirected_statement":
            redirections.append((node, _redirected(node)))
        elif node.type == "test_command":
            continue
        pending += node.children
    for node, redirected in redirections:
        _redirect(found, ends, node, redirected)
    commands = sorted(found.items())
    return [replace(command, is_filter=True) if start in filters else command for start, command in commands]


def _first_command(part: Node) -> int:
    """Return where a part of a pipeline begins, if it is one command; else -1."""
    while part.type == "redirected_statement" and (body := part.child_by_field_name("body")):
        part = body
    return part.start_byte if part.type == "command" else -1


class _Redirections(NamedTuple):
    writes: tuple[str, ...]
    reads: tuple[str, ...]
    body: str


def _redirect(found: dict[int, AtomicCommand], ends: dict[int, int], node: Node, redirected: _Redirections) -> None:
    """Note a redirection: of several commands at the last one; of none, as a command by itself."""
    body = node.child_by_field_name("body")
    start, after = node.start_byte, -1
    for inside in sorted(start for start in found if body and body.start_byte <= start < body.end_byte):
        if inside >= after:  # not a substitution in the arguments of the one before
            start, after = inside, ends.get(inside, inside)
    own = found.get(start, AtomicCommand("", text=_text(node)))
    found[start] = replace(
        own,
        writes=(*own.writes, *redirected.writes),
        reads=(*own.reads, *redirected.reads),
        body=own.body or redirected.body,
    )


def _redirected(node: Node) -> _Redirections:
    writes: list[str] = []
    reads: list[str] = []
    body = ""
    for child in node.children_by_field_name("redirect"):
        if child.type == "file_redirect":
            operator = next((_text(part) for part in child.children if _text(part)[:1] in "<>&"), "")
            target = child.child_by_field_name("destination")
            name = _plain(target) if target else ""
            if name.startswith("/dev/") or operator.endswith("&"):
                continue
            (reads if operator.startswith("<") else writes).append(name)
        elif child.type == "heredoc_redirect":
            body = next((_text(part) for part in child.children if part.type == "heredoc_body"), "")
            # `cat <<EOF > file` has the file inside the here-document's node
            writes += [
                _plain(target)
                for part in child.children
                if part.type == "file_redirect" and (target := part.child_by_field_name("destination"))
            ]
    return _Redirections(tuple(writes), tuple(reads), body)


def _command(node: Node) -> AtomicCommand:
    name = node.child_by_field_name("name")
    arguments = [_plain(child) for child in node.children_by_field_name("argument")]
    return AtomicCommand(_plain(name) if name else "", tuple(arguments), text=_text(node))


def _plain(node: Node) -> str:
    text = _text(node)
    if node.type == "raw_string" or (node.type == "string" and "$" not in text and "`" not in text):
        return text[1:-1]
    if not any(mark in text for mark in "'\"\\"):
        return text
    try:
        words = shlex.split(text, posix=True)
    except ValueError:
        return text
    return words[0] if len(words) == 1 else text


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


_WITH_VALUE = {
    "timeout": {"-s", "--signal", "-k", "--kill-after"},
    "nice": {"-n"},
    "xargs": {"-I", "-n", "-P", "-d", "-L", "-a", "-E", "-s"},
    "sudo": {"-u", "-g"},
    "env": {"-u", "-C"},
    "stdbuf": {"-i", "-o", "-e"},
}
"""Programs that run another, and their options that take the next word."""
_PLAIN_WRAPPERS = frozenset(
    {"nohup", "time", "command", "exec", "setsid", "builtin", "unbuffer", "ionice", "eatmydata"}
)
_FIRST_OPERAND_ITS_OWN = frozenset({"timeout"})


def unwrapped(command: AtomicCommand) -> AtomicCommand:
    """Return what a wrapper such as `timeout 60 env A=1` runs; the command itself where it is none."""
    while command.program in _WITH_VALUE or command.program in _PLAIN_WRAPPERS:
        rest = _wrapped(command.program, list(command.arguments))
        if not rest:
            return command
        is_filter = command.is_filter and command.program != "xargs"  # what xargs runs reads files
        command = replace(command, name=rest[0], arguments=tuple(rest[1:]), is_filter=is_filter)
    return command


def _wrapped(program: str, words: list[str]) -> list[str]:
    takes = _WITH_VALUE.get(program, set())
    own = program in _FIRST_OPERAND_ITS_OWN
    while words:
        word = words[0]
        if word in takes:
            words = words[2:]
        elif word.startswith("-") or (program in ("env", "sudo") and "=" in word):
            words = words[1:]
        elif own:
            own, words = False, words[1:]
        else:
            break
    return words


def _script(command: AtomicCommand) -> str | None:
    """Return what `bash -c` or `bash <<EOF` or `eval` runs."""
    if command.program == "eval":
        return " ".join(command.arguments)
    if command.program not in _SHELLS:
        return None
    for place, word in enumerate(command.arguments):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return next(iter(command.arguments[place + 1 :]), None)
    return command.body or None if not command.operands else None
