"""Absent names in what compilers and linkers say of a suite. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from harness.plugins.names.findings import Finding, Kind


class _Saying(NamedTuple):
    """A compiler's words of an absent name; the group `name` is that name."""

    words: re.Pattern[str]
    kind: Kind


def _saying(words: str, kind: Kind = Kind.MEMBER) -> _Saying:
    return _Saying(re.compile(words), kind)


_GO = (
    _saying(r"undefined: (?:[\w.]+\.)?(?P<name>\w+)"),
    _saying(r"undefined \(type .+ has no (?:field or )?method (?P<name>\w+)"),
    _saying(r"undefined \(type .+ has no field (?:or method )?(?P<name>\w+)"),
    _saying(r"unknown field '?(?P<name>\w+)'? in struct literal"),
    _saying(r"\(missing (?:method )?(?P<name>\w+)(?: method)?\)"),
    _saying(r"package (?P<name>\S+) is not in (?:GOROOT|std)", Kind.MODULE),
    _saying(r"no required module provides package (?P<name>[^\s;:]+)", Kind.MODULE),
    _saying(r"cannot find package \"?(?P<name>[^\s\"]+)\"?", Kind.MODULE),
    _saying(r"cannot find module providing package (?P<name>[^\s:]+)", Kind.MODULE),
)
_C = (
    _saying(r"implicit declaration of function '(?P<name>\w+)'"),
    _saying(r"'(?P<name>\w+)' undeclared"),
    _saying(r"unknown type name '(?P<name>\w+)'"),
    _saying(r"has no member named '(?P<name>\w+)'"),
    _saying(r"incomplete typedef '(?:struct |union |enum )?(?P<name>\w+)'"),
    _saying(r"invalid use of undefined type '(?:struct |union |enum )?(?P<name>\w+)'"),
    _saying(r"undefined reference to `(?P<name>\w+)'"),
    _saying(r"fatal error: (?P<name>[^:\s]+): No such file or directory", Kind.MODULE),
)
_PLACE = re.compile(
    r"^(?:/usr/bin/ld: )?(?P<file>[^\s:]+\.(?:go|[ch])):(?P<line>\d+):(?:(?P<column>\d+):)? ?(?P<said>.*)$"
)
_UNPLACED = re.compile(r"^(?:/usr/bin/ld: )?.*?(?P<file>[^\s:(]+\.c):\(\.text[^)]*\): ?(?P<said>.*)$")
_LONGEST = 200


def go_findings(log: bytes, texts: Mapping[str, bytes]) -> Iterator[Finding]:
    """Yield what `go test` says of names in a suite's files.

    Args:
        log: Its output.
        texts: The suite's files by path.
    """
    yield from _findings(log, texts, _GO)


def c_findings(log: bytes, texts: Mapping[str, bytes]) -> Iterator[Finding]:
    """Yield what gcc and ld say of names in a suite's files. For arguments see `go_findings`."""
    yield from _findings(log, texts, _C)


def _findings(log: bytes, texts: Mapping[str, bytes], sayings: tuple[_Saying, ...]) -> Iterator[Finding]:
    last: re.Match[str] | None = None
    for line in log.decode("utf-8", "replace").replace("\u2018", "'").replace("\u2019", "'").splitlines():
        place = _PLACE.match(line) or _UNPLACED.match(line)
        if place:
            last = place
        elif last and line.startswith("\t"):  # the rest of what is said of that place
            place = last
        else:
            continue
        said = line.strip() if line.startswith("\t") else place["said"]
        for saying in sayings:
            found = saying.words.search(said)
            if not found:
                continue
            path = _path_of(place["file"], texts)
            number = _number(place, found["name"], texts.get(path, b""))
            if path and number:
                evidence = said.removeprefix("error: ").removeprefix("warning: ")[:_LONGEST]
                yield Finding(file=path, line=number, kind=saying.kind, name=found["name"], evidence=evidence)
            break


def _path_of(said: str, texts: Mapping[str, bytes]) -> str:
    """Return the suite's file that a compiler names, by whatever path; empty where it is none of the suite's."""
    plain = said.removeprefix("./")
    return next(
        (path for path in texts if plain == path or plain.endswith(f"/{path}") or path.endswith(f"/{plain}")), ""
    )


def _number(place: re.Match[str], name: str, text: bytes) -> int:
    """Return the line that is said, else the first that has the name; 0 where none has."""
    if said := place.groupdict().get("line"):
        return int(said)
    word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
    return next((number for number, line in enumerate(text.splitlines(), start=1) if word.search(line)), 0)
