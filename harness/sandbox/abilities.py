"""Protocols of what some engines can do beside running jobs: toolboxes, storing, copying, listing."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from harness.sandbox.protocol import Image, Mount
from harness.specs.scaffold import Scaffold


@runtime_checkable
class ToolboxEngine(Protocol):
    """An engine that native scaffolds run on; others refuse them."""

    async def toolbox(self, scaffold: Scaffold) -> Mount:
        """Return a mount of the scaffold's programs with all that they need; install them if they aren't there.

        Raises:
            UserError: What was fetched doesn't match its hashes.
            ImageUnavailable: The programs can't be fetched or installed.
        """
        ...


@runtime_checkable
class StoringEngine(Protocol):
    """An engine that keeps images on a disk."""

    @property
    def storage(self) -> Path | None:
        """The directory in which images and containers lie; None where that is no directory of this machine."""
        ...

    async def shrink(self, most: int) -> list[str]:
        """Remove images that were built here and nobody uses, the least recently used first.

        Args:
            most: Bytes that all images together may take afterwards.

        Returns:
            The names of the removed images.

        Raises:
            ImageUnavailable: The engine doesn't answer.
        """
        ...

    def release(self, image: Image) -> None:
        """Note that an image isn't used any more. Call this once for each time that `Engine.image` gave it."""
        ...


@runtime_checkable
class CopyingEngine(Protocol):
    """An engine whose containers share an image's files, and that can have the same image once more."""

    def second_copy(self, image: Image) -> AbstractAsyncContextManager[Image]:
        """Provide the image on files of its own: what was done with the first one's can't be seen there.

        Raises:
            ImageUnavailable: The copy can't be made.
        """
        ...


class Remains(NamedTuple):
    """A container that is on an engine, at work or left behind. `name` is the engine's own."""

    name: str
    labels: Mapping[str, str]


@runtime_checkable
class ListingEngine(Protocol):
    """An engine that tells what containers of ours it has."""

    async def remains(self) -> list[Remains]:
        """Return all containers of ours that are on the engine, those at work included."""
        ...

    async def discard(self, name: str) -> None:
        """Remove a container by the engine's own name for it. Do nothing where it is gone."""
        ...
