"""Users of their own for jobs: no two that run at once on this machine have one user.

What the kernel counts for a user (files under way in sockets, message queues, pages of pipes, watches of files) it
counts over all containers, and a process can find out how much it is. A job that runs as another user than all others
finds only what is its own.

The image's user owns files, so a job's image is the task's with one more layer, in which all of them belong to
another number. The engine keeps these images; there are as many of an image as jobs of it ran at once.
"""

import asyncio
import hashlib
import os
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from filelock import FileLock

from harness.sandbox.docker import container as docker_container
from harness.sandbox.docker.client import Docker
from harness.sandbox.docker.container import ContainerSpec
from harness.sandbox.docker.image_facts import ImageFacts
from harness.sandbox.host import cache_directory, held, locked, writing
from harness.sandbox.images.disk_budget import OURS, ImagesInUse
from harness.sandbox.images.engine_images import NOT_A_CONTAINER
from harness.sandbox.protocol import Image, Limits, SandboxOptions
from harness.specs.errors import ImageUnavailable

NUMBERS = range(20_001, 60_000)
"""No user of an image, and also there where a user's own engine has but 65,536 numbers."""
_GIVE = r"""
old=$(id -u "$1" 2> /dev/null || echo "$1") new=$2; shift 2
text=$(sed -E "s/^([^:]*:[^:]*):$old:/\1:$new:/" /etc/passwd) && at=$(stat -c %y /etc/passwd) || exit
printf '%s\n' "$text" > /etc/passwd && touch -d "$at" /etc/passwd || exit
left=()
for path; do left+=(-path "$path" -prune -o); done
find / -xdev "${left[@]}" -user "$old" -exec chown -h "$new" {} +
"""
"""Gives what the user `$1` (a name or a number) owns to the number `$2`, and the name; the paths after it stay."""
_GIVES_AWAY = ("CHOWN", "DAC_OVERRIDE", "FOWNER")
_LIMITS = Limits(disk_mb=1 << 20)
_DIGITS = 12


class OwnUsers:
    """The users of one engine's jobs, and the images that are theirs."""

    def __init__(self, docker: Docker, facts: ImageFacts, in_use: ImagesInUse) -> None:
        self._docker, self._facts, self._in_use = docker, facts, in_use
        self._making = asyncio.Lock()
        self._container = f"testwright-user-{secrets.token_hex(8)}"
        """The name of the container of which an image is made: an engine that is ended may leave it."""
        self._ids: dict[tuple[str, str], str] = {}

    @asynccontextmanager
    async def image(self, image: Image, hidden: Sequence[str]) -> AsyncIterator[Image]:
        """Provide an image as one whose user is no other job's, until it is left. An image of root's stays as it is.

        Args:
            image: The image.
            hidden: Paths that the job finds empty: their owner doesn't matter.

        Raises:
            ImageUnavailable: The image can't be made.
            SandboxLost: The engine doesn't answer.
        """
        if await self._facts.capabilities(image):
            yield image
            return
        number, lock = take_number()
        try:
            tag = await self._tag(image, hidden, number)
            self._in_use.hold(tag)
            try:
                await self._provide(image, hidden, number, tag)
                yield replace(image, reference=tag, digest=f"{image.digest}-{number}")
            finally:
                self._in_use.release(tag)
        finally:
            lock.release()

    async def clean(self) -> None:
        """Remove what an engine that was ended has left of the making of an image."""
        async with self._making:
            await self._docker.remove(self._container)

    async def _tag(self, image: Image, hidden: Sequence[str], number: int) -> str:
        key = image.reference, image.digest
        if key not in self._ids:
            found = await self._docker.call(self._docker.api.inspect_image, image.reference)
            self._ids[key] = str(found["Id"])
        told = "\0".join([self._ids[key], _GIVE, *hidden])
        return f"{OURS}user-{number}:{hashlib.sha256(told.encode()).hexdigest()[:_DIGITS]}"

    async def _provide(self, image: Image, hidden: Sequence[str], number: int, tag: str) -> None:
        if await self._is_there(tag):
            return
        async with self._making, locked(tag.removeprefix(OURS).replace(":", "-")):
            if not await self._is_there(tag):
                await self._make(image, hidden, number, tag)

    async def _is_there(self, tag: str) -> bool:
        try:
            await self._docker.call(self._docker.api.inspect_image, tag)
        except ImageUnavailable:
            return False
        return True

    async def _make(self, image: Image, hidden: Sequence[str], number: int, tag: str) -> None:
        docker = self._docker
        user, _, group = (await self._facts.user_name(image)).partition(":")
        argv, options = ("bash", "-c", _GIVE, "bash", user, str(number), *hidden), SandboxOptions(limits=_LIMITS)
        # Without labels of a run: what is made of the image would have them too.
        spec = ContainerSpec(
            image, options, {}, argv, user="0", capabilities=_GIVES_AWAY, is_job=True, name=self._container
        )
        await docker.remove(self._container)
        async with docker_container.made(docker, spec) as container:
            await docker.call(docker.api.start, container)
            end = await docker.call(docker.api.wait, container)
            if end["StatusCode"]:
                raise ImageUnavailable(f"{image.reference}: its files can't be given to another user")
            repository, _, version = tag.partition(":")
            name = str(number) if user.isdigit() else user
            changes = [f"USER {name}:{group}" if group else f"USER {name}", NOT_A_CONTAINER]
            await docker.call(docker.api.commit, container, repository, version, changes=changes)


def take_number() -> tuple[int, FileLock]:
    """Return a number that no other job of this machine has, and its lock.

    It is drawn among as many as jobs run at once, so that it tells nothing of how many do.
    """
    few = list(NUMBERS[: len(os.sched_getaffinity(0)) + 1])
    secrets.SystemRandom().shuffle(few)
    directory = cache_directory() / "users"
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    for number in (*few, *NUMBERS[len(few) :]):
        if lock := held(directory / f"{number}.lock"):
            return number, lock
    raise ImageUnavailable("all numbers for users of their own are taken")
