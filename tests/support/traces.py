"""Where a text has left traces on this machine: in files, in processes and their memory, in containers."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import docker

_RECORDER = """#!/bin/bash
tr '\\0' '\\n' < /proc/$$/environ >> "$(dirname "$0")/seen-by-{name}"
exec {real} "$@"
"""


def record_environments(directory: Path, *programs: str | Path) -> dict[str, str]:
    """An environment in which each start of these programs first writes what it was given to `seen-by-NAME` here."""
    directory.mkdir()
    for program in programs:
        name = Path(program).name
        if real := shutil.which(program):
            (directory / name).write_text(_RECORDER.format(name=name, real=real))
            (directory / name).chmod(0o755)
    return {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}


def files_with(token: bytes, directory: Path, since: float = 0) -> list[Path]:
    """Files below a directory, hidden ones too, whose name or contents have `token`; those since `since` alone."""
    found = []
    for path in sorted(directory.rglob("*")):
        try:
            old = path.lstat().st_ctime < since
            if not old and (token in bytes(path) or (path.is_file() and token in path.read_bytes())):
                found.append(path)
        except FileNotFoundError:  # somebody else's, gone meanwhile
            continue
    return found


def descendants(root: int) -> list[int]:
    """The processes that came from `root` and still live, itself left out."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found, waiting = [], [root]
    while waiting:
        born = children.get(waiting.pop(), [])
        found += born
        waiting += born
    return found


def core(pid: int) -> bytes:
    """What a core dump would hold: command line, environment and all memory that is the process's own.

    Empty for one that is gone. Raises PermissionError where it is not ours to look at.
    """
    process = Path(f"/proc/{pid}")
    try:
        parts = [(process / "cmdline").read_bytes(), (process / "environ").read_bytes()]
        regions = (process / "maps").read_text().splitlines()
        with (process / "mem").open("rb", buffering=0) as memory:
            parts += [_region(memory, line) for line in regions if re.search(r" rw", line) and "[v" not in line]
    except (FileNotFoundError, ProcessLookupError):
        return b""
    return b"".join(parts)


def _region(memory: object, line: str) -> bytes:
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    try:
        memory.seek(start)  # type: ignore[attr-defined]
        data: bytes = memory.read(end - start)  # type: ignore[attr-defined]
    except (OSError, OverflowError):  # it has gone since
        return b""
    return data


def container_traces(client: docker.DockerClient, container: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of all that a container shows: its settings, its files as exported, its processes."""
    yield "inspect", str(client.api.inspect_container(container)).encode()
    yield "export", b"".join(client.api.export(container))
    for row in client.api.top(container)["Processes"] or []:
        yield f"process {row[-1]}", core(int(row[1]))
