"""A sandbox's directory on a deployment.

An image's files as one archive, which a deployment unpacks for each sandbox.
"""

import asyncio
import base64
import hashlib
import json
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.plugins.swerex.configuration import SwerexConfiguration
from harness.plugins.swerex.deployments import Host
from harness.sandbox.archives import pack, parents
from harness.sandbox.deadline import Use
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.work_tree import pack_tree, write_work_tree
from harness.sandbox.options import mapped
from harness.sandbox.protocol import AGENT_LOGS, Image, PlacedFile, SandboxOptions
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import SandboxLost


class TreeArchive(NamedTuple):
    """An archive of an image's tree. It holds `sandbox/files/WORKDIR` and `sandbox/bin`."""

    path: Path
    sha256: str


class Archives:
    """Made once for each image, kept until `close`."""

    def __init__(self) -> None:
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._made: dict[str, asyncio.Task[TreeArchive]] = {}

    async def of(self, image: Image) -> TreeArchive:
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

    async def _make(self, image: Image) -> TreeArchive:
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
        return TreeArchive(archive, await asyncio.to_thread(_sha256, archive))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


HOME = "/home/agent"
_BYTES_PER_FILE = 512
"""Bytes of an inode and its name, so that a million empty files are not free."""
_NOT_THERE = 3


@dataclass(frozen=True)
class DeployedDirectory:
    """A sandbox's directory on a deployment, `state`, in which `files` stands for `/`.

    In a deployment of its own, `/` is what it says.
    """

    host: Host
    configuration: SwerexConfiguration
    state: str

    @classmethod
    def new(cls, host: Host, configuration: SwerexConfiguration) -> "DeployedDirectory":
        return cls(host, configuration, f"{configuration.root}/sandbox-{secrets.token_hex(8)}")

    @property
    def files(self) -> str:
        return "" if self.configuration.in_place else f"{self.state}/files"

    @property
    def marks(self) -> str:
        """The beginning of the mark of each of its processes."""
        return f"{self.state.rpartition('/')[2]}."

    def real(self, path: str) -> str:
        """Return a path of the contract on the deployment."""
        return f"{self.files}{path}" if path.startswith("/") else path

    async def make(self, image: Image, archive: TreeArchive | None, labels: Mapping[str, str]) -> None:
        """Make the directory, and fill it with the image's tree.

        Raises:
            SandboxLost: The deployment doesn't answer.
        """
        client = self.host.client
        await client.check("make", self.state, base64.b64encode(json.dumps(dict(labels)).encode()).decode())
        if archive is not None:
            await self._unpack(archive)
        own = [] if self.configuration.in_place else [self.real(HOME), self.real("/tmp"), self.real(image.workdir)]
        await client.check("directories", *own, self.real(AGENT_LOGS))

    async def _unpack(self, archive: TreeArchive) -> None:
        """Unpack a tree.

        The archive stays on the deployment for the next sandbox, which checks that it is still the same.
        """
        client = self.host.client
        there = f"{self.configuration.root}/trees/{archive.sha256}.tar"
        if (await client.call("has", there, archive.sha256)).status:
            await client.upload(archive.path, there)
            if (await client.call("has", there, archive.sha256)).status:
                raise SandboxLost("the tree that was uploaded did not arrive whole")
        if await client.long(f"{self.state}/unpacking", "unpack", there, self.state, "1"):
            raise SandboxLost("the tree can't be unpacked on the SWE-ReX deployment")

    async def put(self, files: Sequence[PlacedFile], outputs: str) -> None:
        """Place files; directories above them keep their times where they are ours, new ones get the constant."""
        client = self.host.client
        wanted = sorted(parents([*files, PlacedFile(f"{outputs}/any", b"")]))
        lines = (await client.check("above", *map(self.real, wanted))).splitlines()
        entries: dict[str, tarfile.TarInfo | None] = dict.fromkeys(wanted)
        for line in lines:
            at, user, mode, time, kind = line.split(maxsplit=4)
            entry = tarfile.TarInfo()
            entry.mode, entry.mtime = int(mode, 8), float(time)  # PAX has fractions
            if kind == "directory" and int(user) == self.host.user:
                entries[wanted[int(at)]] = entry
            else:
                del entries[wanted[int(at)]]
        await client.upload(pack(files, self.host.user, 0, entries), f"{self.state}/placed.tar")
        target = self.files or "/"
        if await client.long(f"{self.state}/placing", "unpack", f"{self.state}/placed.tar", target, "0"):
            raise SandboxLost("files can't be placed on the SWE-ReX deployment")

    def mapped(self, value: str, image: Image) -> str:
        """Return paths of the contract in a text, as they are on the deployment."""
        return mapped(value, self.real, (image.workdir, "/logs"))

    def launch(self, image: Image, options: SandboxOptions, env: Mapping[str, str], mark: str) -> list[str]:
        """Return the arguments of `launch` up to the program: see far_side.sh."""
        inherit = self.configuration.inherit_env
        variables = {**self._environment(image, inherit), **self.configuration.env}
        given = {**image.env, **options.env, **env}
        variables |= {name: self.mapped(value, image) for name, value in given.items()}
        kib = 1024
        return [
            f"{self.marks}{mark}",
            self.real(image.workdir),
            str(options.limits.disk_mb * kib),
            str(options.limits.memory_mb * kib),
            str(int(inherit)),
            str(len(variables)),
            *(f"{name}={value}" for name, value in variables.items()),
        ]

    def _environment(self, image: Image, inherit: bool) -> dict[str, str]:
        if self.configuration.in_place:
            return {} if inherit else {"PATH": self.host.path, "LANG": "C.UTF-8"}
        here = Path(image.reference, "venv", "bin")
        path = f"{here}:{self.state}/bin:{self.host.path}"
        own = {"HOME": self.real(HOME), "TMPDIR": self.real("/tmp"), "TESTWRIGHT_AGENT_LOGS": self.real(AGENT_LOGS)}
        return {"PATH": path, "LANG": "C.UTF-8", **own}

    async def pack(self, path: str, limit: int) -> AsyncIterator[bytes]:
        """Yield a tar of a directory, up to one byte more than `limit`, in chunks that come one after the other.

        The tar stays on the deployment until the sandbox goes.

        Raises:
            FileNotFoundError: The directory isn't there.
            SandboxLost: It can't be read.
        """
        client, spool = self.host.client, f"{self.state}/spool"
        status = await client.long(f"{self.state}/packing", "pack", self.real(path), spool, str(limit + 1))
        if status == _NOT_THERE:
            raise FileNotFoundError(f"{path}: not a directory")
        if status:
            raise SandboxLost(f"{path} can't be read on the SWE-ReX deployment")
        return self._pieces(spool)

    async def _pieces(self, file: str) -> AsyncIterator[bytes]:
        number = 0
        while data := (await self.host.client.call("piece", file, str(number))).data:
            yield data
            number += 1

    async def bytes_used(self) -> int:
        """Return the bytes on disk in its directory; 0 in a deployment of its own, which has a disk of its own."""
        if self.configuration.in_place:
            return 0
        used = (await self.host.client.check("usage", self.files)).split()
        if len(used) != 2 or not all(word.isdigit() for word in used):
            return 0
        return int(used[0]) + int(used[1]) * _BYTES_PER_FILE

    async def time_used(self) -> Use:
        """Return the CPU time of its processes, and whether one of them wants a core."""
        used = (await self.host.client.check("used", self.marks)).split()
        if len(used) != 2 or not all(word.isdigit() for word in used):
            raise SandboxLost("the SWE-ReX deployment doesn't say what time a job has used")
        return Use(int(used[0]) / 100, used[1] in ("1", "2"), only_disk=used[1] == "2")

    async def kill(self) -> None:
        """Kill all its processes.

        Raises:
            SandboxLost: The sandbox is gone.
        """
        await self.host.client.check("kill_marked", self.marks)
        await self.host.client.check("there", self.state)

    async def remove(self) -> None:
        """Kill its processes and delete its files, as far as they are there."""
        await self.host.client.check("kill_marked", self.marks)
        await self.host.client.check("discard", self.state)
