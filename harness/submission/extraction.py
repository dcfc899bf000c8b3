"""From a killed sandbox to a submission: only bytes come out, and only our own git sees them."""

import asyncio
import hashlib
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness.sandbox.git_tree import Entry, GitTree
from harness.sandbox.protocol import AGENT_LOGS, Image, LimitReached, Sandbox
from harness.submission.manifest import MAX_MANIFEST_BYTES

MAX_EXPORT_BYTES = 4_000_000_000
MAX_CHANGED_BYTES = 50_000_000
MAX_CHANGED_FILES = 5_000
MANIFEST_NAMES = ("manifest.yaml", "manifest.yml", "manifest.txt")


@dataclass(frozen=True)
class Submission:
    """What an agent hands in. `refusal` says why its tree was too large to make a patch of."""

    patch: bytes
    manifest: bytes
    refusal: str = ""


class _TooLarge(Exception):
    pass


class _Changes(NamedTuple):
    """`changed[N]` is (path, git mode) of the bytes in file `N`; `removed` are paths of the base that are gone."""

    changed: list[tuple[str, str]]
    removed: list[str]


async def extract(sandbox: Sandbox, image: Image) -> Submission:
    """Read the submission out of a sandbox that has been killed. Raises SandboxLost."""
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        manifest = await _manifest(sandbox, Path(scratch))
        try:
            patch = await _patch(sandbox, image, Path(scratch))
        except (_TooLarge, LimitReached) as error:
            return Submission(b"", manifest, refusal=str(error))
    return Submission(patch, manifest)


async def _manifest(sandbox: Sandbox, scratch: Path) -> bytes:
    archive = scratch / "logs.tar"
    try:
        await sandbox.export_tree(AGENT_LOGS, archive, MAX_CHANGED_BYTES)
    except (FileNotFoundError, LimitReached):
        return b""
    return await asyncio.to_thread(_first_manifest, archive)


def _first_manifest(archive: Path) -> bytes:
    with tarfile.open(archive) as tar:
        members = {PurePosixPath(member.name).name: member for member in tar if member.isreg()}
        for name in MANIFEST_NAMES:
            stream = tar.extractfile(members[name]) if name in members else None
            if stream:
                return stream.read(MAX_MANIFEST_BYTES + 1)
    return b""


async def _patch(sandbox: Sandbox, image: Image, scratch: Path) -> bytes:
    archive, changed = scratch / "tree.tar", scratch / "changed"
    changed.mkdir()
    await sandbox.export_tree(image.workdir, archive, MAX_EXPORT_BYTES)
    tree = GitTree(image.tree)
    base = await tree.entries()
    changes = await asyncio.to_thread(_unpack_changed, archive, base, changed)
    return await tree.diff(await tree.import_changes(changed, changes.changed, changes.removed))


def _unpack_changed(archive: Path, base: Mapping[str, Entry], target: Path) -> _Changes:
    """Write each file that differs from the base to `target/N`.

    A symlink is written as a regular file that holds its target, so that nothing here ever follows it.
    """
    modes: list[tuple[str, str]] = []
    seen: set[str] = set()
    total = 0
    with tarfile.open(archive, errors="surrogateescape") as tar:
        for member in tar:
            path = "/".join(PurePosixPath(member.name).parts[1:])
            if not path or ".git" in path.split("/"):
                continue
            mode, data = _content(tar, member)
            if not mode:
                continue
            seen.add(path)
            if base.get(path) == Entry(mode, _blob_id(data)):
                continue
            (target / str(len(modes))).write_bytes(data)
            modes.append((path, mode))
            total += len(data)
            if total > MAX_CHANGED_BYTES or len(modes) > MAX_CHANGED_FILES:
                limit = f"{MAX_CHANGED_FILES} files or {MAX_CHANGED_BYTES} bytes"
                raise _TooLarge(f"the agent's tree differs from the task's in more than {limit}")
    return _Changes(modes, [path for path in base if path not in seen])


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> tuple[str, bytes]:
    """Git mode and bytes; an empty mode for what is no file (directories, devices, pipes)."""
    if member.issym():
        return "120000", member.linkname.encode("utf-8", "surrogateescape")
    if not (member.isreg() or member.islnk()):
        return "", b""
    if member.size > MAX_CHANGED_BYTES:
        raise _TooLarge(f"a file of {member.size} bytes lies in the agent's tree")
    try:
        stream = tar.extractfile(member)
    except KeyError:
        return "", b""
    return ("100755" if member.mode & 0o100 else "100644"), stream.read() if stream else b""


def _blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
