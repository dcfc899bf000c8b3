"""Warming of an image: every page of its files is read into the page cache before the first arm.

Where all pages are there, reading one tells and changes nothing. They are charged to a container of ours that is gone
afterwards, so an arm's own memory limit can't push them out again: that takes a machine that is short of memory.
"""

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path

from harness.sandbox.docker import container as docker_container
from harness.sandbox.docker.client import Docker
from harness.sandbox.docker.container import ContainerSpec
from harness.sandbox.protocol import Image, Limits, SandboxOptions

WARM_SECONDS = 600.0
"""After so long an image's files are read once more: something else on the machine may have needed the memory."""
_READ_ALL = "find / -xdev -type f -print0 | xargs -0 cat > /dev/null"
_LIMITS = Limits(memory_mb=1 << 20)
"""More than there is: a limit would push out what was read first."""
_read_at: dict[tuple[str, str], float] = {}
"""When this process has read an image, by engine and reference."""


class Warming:
    """A process that keeps the images of one engine warm."""

    def __init__(self, docker: Docker) -> None:
        self._docker = docker
        self._lock = asyncio.Lock()

    async def warm(self, image: Image, labels: Mapping[str, str]) -> None:
        """Read every file of an image, unless that was done a short while ago.

        Raises:
            SandboxLost: The container that reads was lost.
        """
        key = self._docker.api.base_url, image.reference
        async with self._lock:
            if time.monotonic() - _read_at.get(key, -WARM_SECONDS) >= WARM_SECONDS:
                await self._read(image, labels)
                _read_at[key] = time.monotonic()

    async def warm_top(self, image: Image, labels: Mapping[str, str]) -> None:
        """Read every file of an image's uppermost layer, as `warm` does: what is below it is warm.

        Raises:
            SandboxLost: The container that reads was lost, where it takes one.
        """
        key = self._docker.api.base_url, image.reference
        if time.monotonic() - _read_at.get(key, -WARM_SECONDS) < WARM_SECONDS:
            return
        facts = await self._docker.call(self._docker.api.inspect_image, image.reference)
        upper = ((facts.get("GraphDriver") or {}).get("Data") or {}).get("UpperDir") or ""
        if upper and os.access(upper, os.R_OK | os.X_OK):
            await asyncio.to_thread(_read_below, Path(upper))
            _read_at[key] = time.monotonic()
        else:
            await self.warm(image, labels)

    async def _read(self, image: Image, labels: Mapping[str, str]) -> None:
        docker = self._docker
        argv, options = ("bash", "-c", _READ_ALL), SandboxOptions(limits=_LIMITS)
        reads_all = ("DAC_READ_SEARCH",)
        spec = ContainerSpec(image, options, labels, argv, user="0", capabilities=reads_all, is_job=True)
        async with docker_container.made(docker, spec) as container:
            await docker.call(docker.api.start, container)
            await docker.call(docker.api.wait, container)


def _read_below(directory: Path) -> None:
    for top, _, names in os.walk(directory):
        for path in (Path(top) / name for name in names):
            if path.is_file() and not path.is_symlink():
                path.read_bytes()
