"""Facts of an image: its user, its bash and its directories.

The engine tells a file's owner only by a tar of it, out of a container: some 50 ms of its own CPU for each
(docs/performance.md), and a job asks for a dozen. An image never changes, so the answers are kept in the cache
directory, under the image's id.
"""

import contextlib
import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.sandbox.archives import MTIME, first_file, first_member
from harness.sandbox.docker.client import Docker
from harness.sandbox.docker.connection import Archive
from harness.sandbox.docker.init import BASH
from harness.sandbox.host import cache_directory
from harness.sandbox.protocol import Image
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import UserError

ROOT_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")
"""Capabilities of root in images that others made for root. Their test runs start servers by `service` and `su`:
these take on a server's user (SETGID, SETUID), make it directories of its own (CHOWN, FOWNER), read and write
files of all users (DAC_OVERRIDE) and stop it (KILL)."""
_WRITTEN_BY_ENGINES = ("/etc",)
"""Directories whose time is that of the container: an engine makes files of its own there (`hosts`) in each."""


class User(NamedTuple):
    """The user whose commands run. `name` is as the image's configuration says it."""

    name: str
    uid: int
    gid: int


class _Directory(BaseModel):
    """A directory of an image, by what a tar has of it: `mtime` in seconds since 1970."""

    model_config = ConfigDict(extra="forbid")

    uid: int
    gid: int
    mode: int
    mtime: float


class _Facts(BaseModel):
    """Facts of one image, None where they aren't known.

    `user`: its ids. `bash`: the SHA-256 of its bytes, empty without one. A directory that isn't there is None.
    """

    model_config = ConfigDict(extra="forbid")

    user: tuple[int, int] | None = None
    bash: str | None = None
    directories: dict[str, _Directory | None] = {}


class _Known(NamedTuple):
    """An image as the engine has it. `id` has a hash of all that is in it; `user` is the configured one."""

    id: str
    user: str
    facts: _Facts


class ImageFacts:
    """Facts of images about their users and directories, asked once per image of one engine."""

    def __init__(self, docker: Docker) -> None:
        self._docker = docker
        self._known: dict[str, _Known] = {}
        self._bash: dict[str, bytes] = {}

    async def user_name(self, image: Image) -> str:
        """Return the user that an image is configured for.

        Raises:
            UserError: The user is root.
            ImageUnavailable: The image isn't on the engine.
        """
        return (await self._image(image)).user

    async def capabilities(self, image: Image) -> tuple[str, ...]:
        """Return what a container's processes may beyond an ordinary user's. Raises as `user_name`."""
        return ROOT_CAPABILITIES if _is_root(await self.user_name(image)) else ()

    async def user(self, image: Image, container: str) -> User:
        """Return the configured user's ids, looked up in a container of the image that has not started yet."""
        known = await self._image(image)
        if known.facts.user is None:
            passwd = await self._table(container, "/etc/passwd")
            group = await self._table(container, "/etc/group")
            known.facts.user = _resolve(known.user, passwd, group)
            _keep(known)
        return User(known.user, *known.facts.user)

    async def bash(self, image: Image, container: str) -> bytes:
        """Return the image's bash, empty where it is not at its usual place; `container` has not started yet."""
        known = await self._image(image)
        if known.facts.bash is None or (found := self._bash_of(known.facts.bash)) is None:
            found = await self._file(container, BASH)
            known.facts.bash = hashlib.sha256(found).hexdigest() if found else ""
            self._bash[known.facts.bash] = found
            if found:
                _write(_bash_path(known.facts.bash), found)
            _keep(known)
        return found

    async def directory(self, image: Image, container: str, path: str) -> tarfile.TarInfo | None:
        """Return a directory as it is in the image, None where it isn't; `container` has not started yet."""
        known = await self._image(image)
        directories = known.facts.directories
        if path not in directories:
            directories[path] = await self._docker.call(self._entry, container, path)
            _keep(known)
        return _member(path, directories[path])

    async def _image(self, image: Image) -> _Known:
        if image.digest not in self._known:
            told = await self._docker.call(self._docker.api.inspect_image, image.reference)
            user = str(told["Config"].get("User") or "")
            if _is_root(user) and not image.may_be_root:
                raise UserError(f"image {image.reference}: its user is root; end its Dockerfile with 'USER agent'")
            self._known[image.digest] = _Known(str(told["Id"]), user, _kept(str(told["Id"])))
        return self._known[image.digest]

    def _bash_of(self, digest: str) -> bytes | None:
        """Return the bash with a digest, None where it isn't at hand."""
        if not digest:
            return b""
        if digest not in self._bash:
            with contextlib.suppress(OSError):
                data = _bash_path(digest).read_bytes()
                if hashlib.sha256(data).hexdigest() == digest:
                    self._bash[digest] = data
        return self._bash.get(digest)

    def _entry(self, container: str, path: str) -> _Directory | None:
        try:
            with Archive(self._docker.address, container, path) as archive:
                found = first_member(archive.chunks)
        except FileNotFoundError:
            return None
        if found is None:
            return None
        mtime = MTIME if path in _WRITTEN_BY_ENGINES else found.mtime
        return _Directory(uid=found.uid, gid=found.gid, mode=found.mode, mtime=mtime)

    async def _table(self, container: str, path: str) -> list[list[str]]:
        text = (await self._file(container, path)).decode(errors="replace")
        return [line.split(":") for line in text.splitlines()]

    async def _file(self, container: str, path: str) -> bytes:
        """Return a regular file's bytes, none where there is none."""

        def read() -> bytes:
            try:
                with Archive(self._docker.address, container, path) as archive:
                    return first_file(archive.chunks)
            except FileNotFoundError:
                return b""

        return await self._docker.call(read)


def _member(path: str, found: _Directory | None) -> tarfile.TarInfo | None:
    if found is None:
        return None
    entry = tarfile.TarInfo(path.strip("/"))
    entry.uid, entry.gid, entry.mode, entry.mtime = found.uid, found.gid, found.mode, found.mtime
    return entry


def _path(image_id: str) -> Path:
    return cache_directory() / "image-facts" / f"{image_id.removeprefix('sha256:')}.json"


def _bash_path(digest: str) -> Path:
    return cache_directory() / "image-facts" / f"bash-{digest}"


def _kept(image_id: str) -> _Facts:
    """Return what is kept of an image: nothing where the file is missing or isn't whole."""
    try:
        return _Facts.model_validate_json(_path(image_id).read_bytes())
    except (OSError, ValidationError):
        return _Facts()


def _keep(known: _Known) -> None:
    _write(_path(known.id), known.facts.model_dump_json().encode())


def _write(path: Path, data: bytes) -> None:
    """Write a file whole. One that can't be written costs no more than that the engine is asked again."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        partial.replace(path)


def _is_root(user: str) -> bool:
    """Return whether a user as an image's configuration says it is root."""
    return user.partition(":")[0] in ("", "0", "root")


def _resolve(name: str, passwd: list[list[str]], group: list[list[str]]) -> tuple[int, int]:
    """Return the ids of `USER name|uid[:group|gid]` as the engine understands it; none is root."""
    user, _, wanted = (name or "0").partition(":")
    row = next((row for row in passwd if len(row) > 3 and user in (row[0], row[2])), None)
    uid = int(row[2]) if row else _number(user, name)
    gid = int(row[3]) if row else 0
    if wanted:
        found = next((row for row in group if len(row) > 2 and wanted in (row[0], row[2])), None)
        gid = int(found[2]) if found else _number(wanted, name)
    return uid, gid


def _number(text: str, user: str) -> int:
    if not text.isdigit():
        raise UserError(f"the image's user {user!r} is not in its /etc/passwd and /etc/group")
    return int(text)
