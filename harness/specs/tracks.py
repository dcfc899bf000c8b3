"""Tracks by name, and what reading tasks needs to know about them.

A track is a kind of task: what it holds, how it is graded. `harness/tracks/protocol.py` has all of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, Protocol

from pydantic import AfterValidator

from harness.specs.errors import UserError
from harness.specs.registry import Registry
from harness.specs.repo import Repo

BEHAVIOUR = "behaviour"
"""The track of a task that names none: tests for behaviour of a repository."""


@dataclass(frozen=True)
class TaskOptions:
    """Options for reading tasks of other people's making.

    `image_map` is a YAML file that says where their images come from; with `all_criteria`, nice-to-haves count. With
    `one_by_one` a task that can't be read is one nonetheless, that fails where its image is needed: others go on.
    """

    image_map: Path | None = None
    all_criteria: bool = False
    one_by_one: bool = False


class TaskCatalog(Protocol):
    """The part of the catalog that a track is given to read a task."""

    @property
    def directory(self) -> Path:
        """The folder of the catalog."""
        ...

    @property
    def repo(self) -> Callable[[str], Repo]:
        """A function from a repository's name to the repository. It raises UserError for an unknown or wrong one."""
        ...


TRACK_FACTS: Registry[object] = Registry(
    "track",
    "testwright.tracks",
    {BEHAVIOUR: "harness.tracks.behaviour:TRACK"},
)
"""Tracks by name; each is imported when it is first used. Plugins add theirs by entry points.

Behind each name is a `harness.tracks.protocol.Track`; reading tasks needs its `TrackFacts` alone.
"""


class Address(NamedTuple):
    """`TRACK:PLACE`: tasks of the catalog by a glob of their names, else tasks that lie outside of it."""

    track: str
    place: str

    def __str__(self) -> str:
        return f"{self.track}:{self.place}"


def address_of(pattern: str) -> Address | None:
    """Return a pattern as an address; None where it doesn't begin with the name of a track."""
    track, colon, place = pattern.partition(":")
    return Address(track, place) if colon and track in TRACK_FACTS.names else None


def absolute(pattern: str) -> str:
    """Return an address that means the same from any directory; leave any other pattern as it is.

    A place that can only be a path (one with a slash, or one that is there) is made absolute.
    """
    address = address_of(pattern)
    if address is None or not ("/" in address.place or Path(address.place).exists()):
        return pattern
    return str(Address(address.track, str(Path(address.place).absolute())))


def _known(name: str) -> str:
    try:
        return TRACK_FACTS.check(name)
    except UserError as error:
        raise ValueError(str(error)) from None


TrackName = Annotated[str, AfterValidator(_known)]
"""The name of a registered track."""
