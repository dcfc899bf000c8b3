"""From a killed sandbox to a submission: only bytes come out, and only our own git sees them."""

import tarfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from harness.sandbox.git import GitTooMuchWork
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import AGENT_LOGS, MANIFEST_NAMES, Image, LimitReached
from harness.sandbox.scratch import scratch_directory
from harness.sandbox.tar_stream import members, read_tar
from harness.submission.changed_files import ChangedFiles, TreeTooLarge
from harness.submission.manifest import MAX_MANIFEST_BYTES

MAX_EXPORT_BYTES = 4_000_000_000


@dataclass(frozen=True)
class Submission:
    """What an agent hands in. `refusal` says why its tree was too large to make a patch of."""

    patch: bytes
    manifest: bytes
    refusal: str = ""


class Exports(Protocol):
    """A sandbox whose processes are dead, or what was kept of one."""

    def export_tree(self, path: str, limit: int) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """See `Sandbox`."""
        ...


async def extract(sandbox: Exports, image: Image) -> Submission:
    """Read the submission out of a sandbox that has been killed. Raises SandboxLost, ToolFailed."""
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
    """Of the files directly in the directory: what lies below it is the agent's own affair."""
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
