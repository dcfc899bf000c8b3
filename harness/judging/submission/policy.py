"""Paths that a submission may touch, and those that make its patch invalid.

The sizes that a patch's binary changes declare for their unpacked data, read before anything is unpacked.

git writes a binary change as base85 lines of zlib data under a header, `literal SIZE` or `delta SIZE`. A delta is a
short program; the size of what it makes stands at its beginning.
"""

import base64
import binascii
import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator

from harness.specs.repo import Repo, matches

BUILD_PRODUCTS = ("**/__pycache__/**", "**/*.pyc", "**/*.pyo", "**/.pytest_cache/**", "**/node_modules/**")
"""Never part of a submission: code that was compiled somewhere else."""
_CONFIGURATIONS = ("pytest.toml", ".pytest.toml", "**/pytest.toml", "**/.pytest.toml")
"""Configurations that pytest reads since its version 9; a list of `runner_files` may be older."""

MAX_PATH_BYTES = 1_000
MAX_NAME_BYTES = 200


def unsafe(path: str) -> str:
    """Return why a path must not be in a patch, or an empty string."""
    parts = path.split("/")
    if path.startswith("/") or "\\" in path:
        return "is not relative to the repository"
    if ".." in parts or "." in parts or "" in parts:
        return "leaves the repository or is not in its shortest form"
    if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        return "is too long"
    if any(len(part.encode("utf-8", "surrogateescape")) > MAX_NAME_BYTES for part in parts):
        return "has a name that is too long"
    if any(part.lower().rstrip(". ") == ".git" for part in parts):
        return "lies inside .git"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in path):
        return "has control or invisible characters"
    return ""


def is_runner_file(repo: Repo, path: str) -> bool:
    """Return whether the path steers how tests are run, so that no submission may change it."""
    return any(matches(path, globs) for globs in (repo.runner_files, BUILD_PRODUCTS, _CONFIGURATIONS))


def is_test_path(repo: Repo, path: str) -> bool:
    """Return whether a repository's test paths cover a path."""
    return matches(path, repo.test_paths) and not is_runner_file(repo, path)


def case_collision(path: str, others: Iterable[str]) -> str | None:
    """Return another path that a file system which ignores case would take for this one; None where there is none."""
    folded = path.casefold()
    return next((other for other in others if other != path and other.casefold() == folded), None)


_SECTION = b"GIT binary patch"
_HEADER = re.compile(rb"(literal|delta) (\d{1,12})")
_MAX_SIZES_BYTES = 20
"""Bytes of the two numbers with which a delta begins, seven bits to a byte."""


class DamagedPatch(Exception):
    """A binary change is not as git writes it. The message names the line."""


def unpacked_bytes(patch: bytes) -> int:
    """Return the bytes that all binary changes of a patch unpack to, in linear time.

    Deltas and what they make count, both ways: git allocates what is declared, and refuses data that unpack to more.

    Raises:
        DamagedPatch: Git couldn't read the patch.
    """
    if _SECTION not in patch:
        return 0
    total = 0
    lines = patch.split(b"\n")
    inside = False
    for number, line in enumerate(lines, start=1):
        if line == _SECTION:
            inside = True
        elif line.startswith(b"diff --git "):
            inside = False
        elif inside and line.startswith((b"literal ", b"delta ")):
            header = _HEADER.fullmatch(line)
            if not header:
                raise DamagedPatch(f"line {number} of the patch is damaged")
            total += int(header[2])
            if header[1] == b"delta":
                total += _size_of_result(lines, number)
    return total


def _size_of_result(lines: list[bytes], start: int) -> int:
    """Return what the delta whose data begin at `lines[start]` makes."""
    sizes = iter(_beginning(lines, start))
    try:
        _number(sizes)
        return _number(sizes)
    except StopIteration:
        raise DamagedPatch(f"line {start + 1} of the patch is damaged") from None


def _number(data: Iterator[int]) -> int:
    value = shift = 0
    while True:
        byte = next(data)
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value


def _beginning(lines: list[bytes], start: int) -> bytes:
    """Return the first bytes of zlib data in base85 lines."""
    unpacked, stream = b"", zlib.decompressobj()
    for number in range(start, len(lines)):
        line = lines[number]
        if not line or len(unpacked) >= _MAX_SIZES_BYTES:
            break
        try:
            unpacked += stream.decompress(_decoded(line), _MAX_SIZES_BYTES - len(unpacked))
        except (ValueError, zlib.error, binascii.Error):
            raise DamagedPatch(f"line {number + 1} of the patch is damaged") from None
    return unpacked


def _decoded(line: bytes) -> bytes:
    """Return a letter that tells how many bytes follow, A for 1 and z for 52, and those in base85."""
    length = line[0] - ord("A") + 1 if line[:1].isupper() else line[0] - ord("a") + 27
    return base64.b85decode(line[1:])[:length]
