"""Reading and writing a sandbox's files over its channel: as its user, with its own view of links and paths."""

import base64
import shlex

from harness.sandbox.channel import BoundedOutput, Channel

SECONDS = 60.0
CHUNK_BYTES = 70_000
"""Bytes that fit into one argument as base64: longer commands go a slower way."""
_ABSENT, _DIRECTORY, _SPECIAL = 101, 102, 103


async def read_file(channel: Channel, path: str, limit: int) -> bytes:
    """Return a regular file's first `limit` bytes.

    Raises:
        OSError: It can't be read: FileNotFoundError, IsADirectoryError and so on.
    """
    output = BoundedOutput(head=limit, tail=0)
    command = (
        f"p={_quote(path)}; [[ ! -d $p ]] || exit {_DIRECTORY}; [[ -e $p ]] || exit {_ABSENT}; "
        f'[[ -f $p ]] || exit {_SPECIAL}; exec head -c {limit} <"$p"'
    )
    result = await channel.run(command, SECONDS, output)
    _check(path, result.exit_status, result.output)
    return result.output


async def write_file(channel: Channel, path: str, data: bytes) -> None:
    """Write a regular file, and make its directories.

    Raises:
        OSError: The user can't write there.
    """
    chunks = [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)] or [b""]
    operator = ">"
    for chunk in chunks:
        command = (
            f"p={_quote(path)}; [[ ! -d $p ]] || exit {_DIRECTORY}; [[ ! -e $p || -f $p ]] || exit {_SPECIAL}; "
            f'[[ $p != */* ]] || mkdir -p -- "${{p%/*}}/" || exit 1; '
            f'printf %s {base64.b64encode(chunk).decode()} | base64 -d {operator}"$p"; exit $((PIPESTATUS[1]))'
        )
        result = await channel.run(command, SECONDS)
        _check(path, result.exit_status, result.output)
        operator = ">>"


def _quote(path: str) -> str:
    if not path or "\0" in path:
        raise FileNotFoundError(path)
    return shlex.quote(path)


def _check(path: str, status: int, output: bytes) -> None:
    match status:
        case 0:
            return
        case 101:
            raise FileNotFoundError(path)
        case 102:
            raise IsADirectoryError(path)
        case 103:
            raise OSError(f"{path}: not a regular file")
        case _:
            complaint = output[-200:].decode(errors="replace").strip() or f"status {status}"
            raise OSError(f"{path}: {complaint}")
