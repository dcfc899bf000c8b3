"""The way from a killed sandbox to a submission: only bytes come out, and only our own git sees them.

The files that differ from the task's tree are read from a tar in one pass, within limits. Bytes are counted where
they are read. A hard link has no bytes of its own: it counts as much as the file it names.
"""

import hashlib
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, Protocol

from harness.judging.submission.manifest import MAX_MANIFEST_BYTES
from harness.sandbox.archives import members, read_tar
from harness.sandbox.git import GitTooMuchWork
from harness.sandbox.git_tree import Entry, GitTree, NewFile
from harness.sandbox.host import scratch_directory, writing
from harness.sandbox.protocol import AGENT_LOGS, MANIFEST_NAMES, Image, LimitReached
from harness.sandbox.tarfiles import tarfile

MAX_CHANGED_BYTES = 50_000_000
MAX_CHANGED_FILES = 5_000
MAX_MEMBERS = 1_000_000
_CHUNK_BYTES = 1 << 20
_LINK = "120000"


class TreeTooLarge(Exception):
    """An agent's tree that is past a limit. The message says which one."""


class _Blob(NamedTuple):
    """A file as git would store it. `content` is the file with its bytes, or None where it is the base's own."""

    mode: str
    oid: str
    size: int
    content: Path | None


class _HardLink(NamedTuple):
    path: str
    mode: str


class ChangedFiles:
    """The files of an agent's tree that differ from the base.

    `changed` are those that `base` has not, or has otherwise; their bytes are in files below `directory`. A symlink
    becomes a file that holds its target, so that nothing here ever follows it.
    """

    def __init__(self, base: Mapping[str, Entry], directory: Path) -> None:
        self.changed: list[NewFile] = []
        self._base = base
        self._directory = directory
        self._total = 0
        self._links = 0
        self._missing = set(base)
        self._seen: dict[str, _Blob] = {}
        self._unresolved: dict[str, list[_HardLink]] = {}

    @property
    def removed(self) -> list[str]:
        """Paths of the base that are gone."""
        return sorted(self._missing)

    @property
    def is_complete(self) -> bool:
        """Return whether nothing is left for `read_linked`: no hard link names a skipped file below `.git`."""
        return not self._unresolved

    def read(self, tar: tarfile.TarFile) -> None:
        """Read a whole tree.

        Raises:
            TreeTooLarge: It is past a limit.
            ToolFailed: This machine's disk is full.
        """
        for count, member in enumerate(members(tar), start=1):
            if count > MAX_MEMBERS:
                raise TreeTooLarge(f"more than {MAX_MEMBERS} files are in the agent's tree")
            path = _path(member.name)
            if path and not _is_of_git(path):
                self._read_member(tar, member, path)

    def read_linked(self, tar: tarfile.TarFile) -> None:
        """Read the files below `.git` that hard links name, from the same tree's tar once more.

        Raises:
            TreeTooLarge: It is past a limit.
            ToolFailed: This machine's disk is full.
        """
        for member in members(tar):
            for number, link in enumerate(links := self._unresolved.pop(_path(member.name), [])):
                if number == 0:
                    self._read_member(tar, member, link.path)
                else:
                    self._read_hard_link(link, links[0].path)
        self._unresolved.clear()

    def _read_member(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        mode = "100755" if member.mode & 0o100 else "100644"
        if member.issym():
            target = member.linkname.encode("utf-8", "surrogateescape")
            self._read_content(path, _LINK, len(target), io.BytesIO(target))
        elif member.isreg() and (stream := tar.extractfile(member)):
            self._read_content(path, mode, member.size, stream)
        elif member.islnk():
            self._read_hard_link(_HardLink(path, mode), _path(member.linkname))

    def _read_content(self, path: str, mode: str, size: int, stream: IO[bytes]) -> None:
        if size > MAX_CHANGED_BYTES:
            raise TreeTooLarge(f"a file of {size} bytes is in the agent's tree")
        # The next file writes over it, unless this one is kept.
        content = self._directory / str(len(self.changed))
        hashed = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with writing(content), content.open("wb") as file:
            while data := stream.read(_CHUNK_BYTES):
                hashed.update(data)
                file.write(data)
        self._add(path, _Blob(mode, hashed.hexdigest(), size, content))

    def _read_hard_link(self, link: _HardLink, target: str) -> None:
        if blob := self._seen.get(target):
            self._add(link.path, blob if blob.mode == _LINK else blob._replace(mode=link.mode))
        else:
            self._unresolved.setdefault(target, []).append(link)
            self._links += 1
            self._check_limits()

    def _add(self, path: str, blob: _Blob) -> None:
        self._missing.discard(path)
        if self._base.get(path) == Entry(blob.mode, blob.oid):
            self._seen[path] = blob._replace(content=None)
            return
        self._seen[path] = blob
        self._total += blob.size
        self.changed.append(NewFile(path, blob.mode, blob.content or blob.oid))
        self._check_limits()

    def _check_limits(self) -> None:
        if self._total > MAX_CHANGED_BYTES or max(len(self.changed), self._links) > MAX_CHANGED_FILES:
            limit = f"{MAX_CHANGED_FILES} files or {MAX_CHANGED_BYTES} bytes"
            raise TreeTooLarge(f"the agent's tree differs from the task's in more than {limit}")


def _is_of_git(path: str) -> bool:
    """Return whether git refuses to take a path into a tree, in whatever case its name is written."""
    return any(part.lower() == ".git" for part in path.split("/"))


def _path(name: str) -> str:
    """Return a member's path without the exported directory's own name."""
    return "/".join(PurePosixPath(name).parts[1:])


MAX_EXPORT_BYTES = 4_000_000_000
MAX_PATCH_BYTES = MAX_CHANGED_BYTES * 5 // 4
"""Room for a patch of the most bytes that a submission may change, with marks at its lines and base 85 of what isn't
text. One that also takes out large files of the task can be longer."""


@dataclass(frozen=True)
class Submission:
    """A patch and a manifest, as an agent hands them in.

    `refusal` says why no patch could be made of its tree; empty where one was.
    """

    patch: bytes
    manifest: bytes
    refusal: str = ""


class Exports(Protocol):
    """A sandbox whose processes are dead, or what was kept of one."""

    def export_tree(self, path: str, limit: int) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """See `Sandbox`."""
        ...


async def extract(sandbox: Exports, image: Image) -> Submission:
    """Read the submission out of a sandbox that has been killed.

    Args:
        sandbox: Its files; the agent's `.git` is never read.
        image: What the sandbox was started from: the patch is against its tree.

    Raises:
        SandboxLost: The container is gone.
        ToolFailed: This machine's disk is full, or git fails.
    """
    manifest = await _manifest(sandbox)
    try:
        patch = await _patch(sandbox, image)
    except (TreeTooLarge, LimitReached, GitTooMuchWork) as error:
        return Submission(b"", manifest, refusal=str(error))
    except FileNotFoundError:  # the work tree itself is gone
        return Submission(b"", manifest)
    return Submission(patch, manifest)


async def _manifest(sandbox: Exports) -> bytes:
    try:
        async with sandbox.export_tree(AGENT_LOGS, MAX_EXPORT_BYTES) as chunks:
            return await read_tar(chunks, _first_manifest)
    except (FileNotFoundError, LimitReached):
        return b""


def _first_manifest(tar: tarfile.TarFile) -> bytes:
    """Return the manifest among the files directly in the directory: files below it are the agent's own affair."""
    found: dict[str, bytes] = {}
    for member in members(tar):
        folder, _, name = member.name.rpartition("/")
        if name in MANIFEST_NAMES and folder == PurePosixPath(AGENT_LOGS).name and member.isreg():
            stream = tar.extractfile(member)
            found[name] = stream.read(MAX_MANIFEST_BYTES + 1) if stream else b""
    return next((found[name] for name in MANIFEST_NAMES if name in found), b"")


async def _patch(sandbox: Exports, image: Image) -> bytes:
    tree = GitTree(image.tree)
    with scratch_directory() as scratch:
        files = ChangedFiles(await tree.entries(), scratch)
        async with sandbox.export_tree(image.workdir, MAX_EXPORT_BYTES) as chunks:
            await read_tar(chunks, files.read)
        if not files.is_complete:
            async with sandbox.export_tree(image.workdir, MAX_EXPORT_BYTES) as chunks:
                await read_tar(chunks, files.read_linked)
        return await tree.diff(await tree.import_changes(files.changed, files.removed))
