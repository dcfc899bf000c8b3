"""An image's files as one archive, which a deployment unpacks for each sandbox."""

import asyncio
import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.work_tree import pack_tree, write_work_tree
from harness.sandbox.protocol import Image


class Archive(NamedTuple):
    """`path` holds `sandbox/files/WORKDIR` and `sandbox/bin`."""

    path: Path
    sha256: str


class Archives:
    """Made once for each image, kept until `close`."""

    def __init__(self) -> None:
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._made: dict[str, asyncio.Task[Archive]] = {}

    async def of(self, image: Image) -> Archive:
        if image.digest not in self._made:
            self._made[image.digest] = asyncio.create_task(self._make(image))
        try:
            return await asyncio.shield(self._made[image.digest])
        except Exception:
            self._made.pop(image.digest, None)
            raise

    async def close(self) -> None:
        if self._made:
            await asyncio.wait(self._made.values())
        if self._directory is not None:
            self._directory.cleanup()

    async def _make(self, image: Image) -> Archive:
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory(prefix="testwright-swerex-")
        top = Path(tempfile.mkdtemp(dir=self._directory.name))
        tree = top / "sandbox" / "files" / image.workdir.lstrip("/")
        reference = Path(image.reference)
        tree.parent.mkdir(parents=True)
        if (reference / "tree").is_dir():
            await asyncio.to_thread(shutil.copytree, reference / "tree", tree, symlinks=True)
            await asyncio.to_thread(shutil.copytree, reference / "bin", top / "sandbox" / "bin")
        else:
            await write_work_tree(GitTree(image.tree), tree)
            (top / "sandbox" / "bin").mkdir()
        archive = top / "archive.tar"
        await asyncio.to_thread(pack_tree, top / "sandbox", "sandbox", archive)
        await asyncio.to_thread(shutil.rmtree, top / "sandbox")
        return Archive(archive, await asyncio.to_thread(_sha256, archive))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
