"""Messages between nodes and driver. Ray carries them pickled, in memory."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import harness
from harness import PROTOCOL_VERSION, __version__
from harness.plugins.ray.mirror import MirrorChange
from harness.runs.executors.protocol import TrialSpec
from harness.runs.outcome import TrialEvent, TrialOutcome
from harness.specs.model_file import RateLimits
from harness.specs.usage import Usage


class Edition(NamedTuple):
    """The version of testwright that a machine has."""

    version: str
    protocol: int
    code: str

    def __str__(self) -> str:
        return f"testwright {self.version} (protocol {self.protocol}, code {self.code})"


@cache
def edition() -> Edition:
    """Return this edition. `code` is a hash of all modules: two checkouts of one version may differ."""
    package, whole = Path(harness.__file__).parent, hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        whole.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    return Edition(__version__, PROTOCOL_VERSION, whole.hexdigest()[:8])


class NodeFacts(NamedTuple):
    """A node's facts about itself. `complaint` is why it can't do trials, empty where it can."""

    edition: Edition
    isolation: str = ""
    complaint: str = ""


@dataclass(frozen=True)
class Assignment:
    """A trial to do. `files` are what earlier starts and other nodes have left of it.

    `fingerprint` says which task, scaffold and model the driver means.
    """

    spec: TrialSpec
    fingerprint: str
    files: MirrorChange


@dataclass(frozen=True)
class Unfit:
    """A node can't do a trial: it has no image of the task, say. Nothing was begun."""

    place: str
    message: str


@dataclass(frozen=True)
class Files:
    """Files of a trial at work."""

    place: str
    change: MirrorChange


@dataclass(frozen=True)
class Ended:
    """A trial is over; without an outcome where it was stopped."""

    place: str
    outcome: TrialOutcome | None


@dataclass(frozen=True)
class Dropped:
    """A node couldn't go on with a trial, by a fault of its own: its disk is full, say. Another one may."""

    place: str
    message: str


@dataclass(frozen=True)
class MayPay:
    """A question: may the next call be made?"""

    number: int


@dataclass(frozen=True)
class Paid:
    """A message: a call has been paid."""

    usage: Usage


@dataclass(frozen=True)
class TurnWanted:
    """A request of about so many tokens waits to be sent."""

    number: int
    model: str
    limits: RateLimits
    tokens: int


@dataclass(frozen=True)
class TurnOver:
    """The answer has come, or nobody waits for it any more."""

    number: int
    tokens: int


Message = TrialEvent | Files | Ended | Dropped | Unfit | MayPay | Paid | TurnWanted | TurnOver
