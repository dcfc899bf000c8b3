"""Facts that a C release tells: the sources of its library, how it is configured, what it is built with."""

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from harness.judging.languages.registry import LANGUAGES
from harness.specs.errors import UserError

_MAIN = re.compile(rb"^\s*(?:int|void)?\s*main\s*\(", re.MULTILINE)
_APART = frozenset({"test", "tests", "testing", "example", "examples", "doc", "docs", "fuzz", "bench", "benchmarks"})
_CONFIGURED = (
    ("configure", (), "/tmp/source/configure"),
    ("CMakeLists.txt", ("cmake",), "cmake /tmp/source"),
    (
        "configure.ac",
        ("autoconf", "automake", "libtool", "pkg-config"),
        "{ (cd /tmp/source && autoreconf -fi) && /tmp/source/configure; }",
    ),
)
"""Files at a release's root, the packages that it then needs, and the command."""


class CRelease(NamedTuple):
    """A release of a C library.

    `code` are its sources, which lie in one directory; `needs` are Debian's packages of the libraries that it needs;
    `configure` makes its headers, in an empty directory, with the packages `configures`.
    """

    code: tuple[str, ...]
    needs: tuple[str, ...]
    configures: tuple[str, ...]
    configure: str


def read_release(tree: Path, packaging: Path | None) -> CRelease:
    """Read a release in C.

    Raises:
        UserError: It has no library: a directory of sources that define no program.
    """
    discovery = LANGUAGES.get("c").discovery
    found: dict[str, list[str]] = defaultdict(list)
    for path in (path for path in sorted(tree.rglob("*.c")) if path.is_file()):
        place = path.relative_to(tree)
        is_apart = discovery.is_test_file(place.as_posix()) or not _APART.isdisjoint(place.parts[:-1])
        if not is_apart and not _MAIN.search(path.read_bytes()):
            found[place.parent.as_posix()].append(place.as_posix())
    if not found:
        raise UserError("the release has no C sources of a library: every one is a test or a program")
    code = max(found.values(), key=len)
    packages, command = next(
        ((packages, command) for file, packages, command in _CONFIGURED if (tree / file).is_file()), ((), "true")
    )
    return CRelease(tuple(code), _libraries(packaging), packages, command)


def _libraries(packaging: Path | None) -> tuple[str, ...]:
    control = packaging / "control" if packaging else Path()
    text = control.read_text() if control.is_file() else ""
    needed = re.search(r"^Build-Depends:(.*(?:\n[ \t#].*)*)", text, re.MULTILINE)
    return tuple(sorted(set(re.findall(r"\blib[a-z0-9.+-]+-dev\b", needed[1] if needed else ""))))
