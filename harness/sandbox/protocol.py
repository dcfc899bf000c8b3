"""The protocol of engines. There are two ways to run code: a sandbox to work in, and jobs that run once.

An agent works in a `Sandbox`: commands over one channel. The agent can forge it, so verdicts never use data from
this channel. A verification arm is a `Job`: the main command of a fresh container, whose exit status
comes from the engine and whose report is read after it has stopped.
"""

import math
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.specs.errors import InfrastructureError
from harness.specs.task import Task

AGENT_LOGS = "/logs/agent"
"""The directory in which the agent leaves its manifest."""
GATEWAY_PORT = 47115
"""The gateway's port on a sandbox's loopback: one that tests hardly ever use themselves."""
MANIFEST_NAMES = ("manifest.yaml", "manifest.yml", "manifest.txt")
"""Names of the manifest there; the first that exists counts."""
MAX_OUTPUT_BYTES = 1_000_000
"""Bytes that are kept of one command's or job's output, half of them from the head and half from the tail."""


class LimitReached(InfrastructureError):
    """A sandbox was ended by one of its own limits. `limit` is `memory`, `disk`, `pids` or `export`."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class MadeUnusable(InfrastructureError):
    """A sandbox that works, in which its own processes let nothing more be done. What lies in it can be read."""


@dataclass(frozen=True)
class Capabilities:
    """Limits that an engine can enforce, and options that it offers.

    The limits that it can't enforce stay without effect, and so do `hidden` without `hiding` and `own_user` without
    `own_users`; any other option that it can't fulfil is refused. With `read_only_root` it offers jobs
    `SandboxOptions.writable` and `Job.unpacked`.
    """

    network_isolation: bool
    memory: bool
    pids: bool
    disk: bool
    separate_user: bool
    gateway: bool = False
    mounts: bool = False
    hiding: bool = False
    companions: bool = False
    own_users: bool = False
    read_only_root: bool = False


@dataclass(frozen=True)
class Image:
    """The start of sandboxes and jobs: a task's tree and its environment.

    `reference` is an engine's image tag or a local directory; `digest` is ours, over recipe and tree;
    `tree` is a trusted git directory whose `HEAD` is the tree at `workdir`; `env` is set in every process.
    `may_be_root` is True for images that others made for root; an engine leaves it few capabilities.
    """

    reference: str
    digest: str
    workdir: str
    tree: Path
    env: Mapping[str, str] = field(default_factory=dict)
    may_be_root: bool = False


@dataclass(frozen=True)
class Limits:
    """Limits of a container: memory in MiB, cores, processes, and disk in MiB."""

    memory_mb: int = 2048
    cpus: float = 2
    pids: int = 512
    disk_mb: int = 2048


class Network(StrEnum):
    """The network of a sandbox's processes beside their own loopback: none, or what its gateways lead to."""

    NONE = "none"
    GATEWAY = "gateway"


@dataclass(frozen=True)
class Gateway:
    """A way out: what connects to `port` of a sandbox's own loopback reaches `socket`, a Unix socket here.

    There is one to a model and one to package registries. `python` is a Python of the sandbox, 3.11 or newer, that
    runs the forwarder. The socket stands alone in its directory, which an engine may show to its sandboxes.
    """

    socket: Path
    port: int = GATEWAY_PORT
    python: str = "python3"


@dataclass(frozen=True)
class Volume:
    """A volume that an engine keeps under a name: it need not share a file system with this machine."""

    name: str


@dataclass(frozen=True)
class Mount:
    """A file, a directory or a volume of the engine's machine, shown at `target`. The disk limit doesn't count it."""

    source: Path | Volume
    target: str
    read_only: bool = True


@dataclass(frozen=True)
class SandboxOptions:
    """Options of a sandbox or job beside its image. `env` wins over the image's, a job's own over both.

    `hidden` are absolute paths of the image that its processes find empty and can't run; one that isn't there is no
    error. `gateways` belong to the network of that name, which jobs have no use for. With `own_user` a job has a user
    whom no other such job has that runs. `writable`, for jobs alone, are absolute paths of directories: all else is
    mounted read-only, but for /tmp, /dev and the job's outputs.
    """

    limits: Limits = field(default_factory=Limits)
    env: Mapping[str, str] = field(default_factory=dict)
    network: Network = Network.NONE
    mounts: tuple[Mount, ...] = ()
    hidden: tuple[str, ...] = ()
    gateways: tuple[Gateway, ...] = ()
    own_user: bool = False
    writable: tuple[str, ...] | None = None


class CommandResult(NamedTuple):
    """One command's end. `output` is stdout and stderr together, `truncated` bytes dropped from its middle."""

    exit_status: int
    output: bytes
    truncated: int
    timed_out: bool
    seconds: float


class Sandbox(Protocol):
    """A container to work in. Every method but `remove` raises SandboxLost once the container is gone.

    With `Network.GATEWAY` the way to the gateway is open when `start` returns. One that is lost is opened anew; `run`
    raises SandboxLost where it can't be.
    """

    async def start(self) -> None:
        """Make the container and open its channel, and with `Network.GATEWAY` the way to the gateway.

        Raises:
            SandboxLost: The container doesn't start, or ended at once.
            UserError: The image, a mount or a gateway can't be used.
        """
        ...

    async def run(self, command: str, timeout: float) -> CommandResult:
        """Run a command in a new bash in the work directory, with stdin closed.

        Args:
            command: Given to bash as its program, as it is.
            timeout: Seconds by the clock; then every process that the command started is killed before this
                returns.

        Returns:
            Exit status (124 after a timeout) and output, at most `MAX_OUTPUT_BYTES` of it.

        Raises:
            SandboxLost: The container is gone.
            LimitReached: One of its limits ended it.
            MadeUnusable: Its own processes end every shell, or the way to the gateway.
        """
        ...

    async def read(self, path: str, limit: int = MAX_OUTPUT_BYTES) -> bytes:
        """Read the beginning of a file.

        Args:
            path: Absolute, or relative to the work directory.
            limit: Bytes.

        Raises:
            FileNotFoundError: Nothing is there.
            IsADirectoryError: A directory is there.
            SandboxLost: The container is gone.
        """
        ...

    async def write(self, path: str, data: bytes) -> None:
        """Write a file as the sandbox's user, and make its directories.

        Raises:
            OSError: The user can't write there.
            SandboxLost: The container is gone.
        """
        ...

    async def kill(self) -> None:
        """Stop every process. The files stay until `remove`."""
        ...

    def export_tree(self, path: str, limit: int) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Open a directory as an uncompressed tar, in chunks; works after `kill`, and keeps no part of it on a disk.

        Args:
            path: Absolute. The members' names begin with the directory's own name: `app/x` for `/app`.
            limit: Bytes of the tar.

        Returns:
            The chunks. The tar ends with two empty blocks: `read_tar` (sandbox/archives.py) takes one without
            them for
            one that was cut off. Leave the context when no chunk is being waited for.

        Raises:
            FileNotFoundError: On entering: the directory isn't there.
            LimitReached: From the chunks, with the limit `export`: there are more than `limit` bytes.
            SandboxLost: The container is gone.
        """
        ...

    async def remove(self) -> None:
        """Delete the container and its files. Do nothing the second time."""
        ...


class PlacedFile(NamedTuple):
    """A file put into a job's container before it starts. `path` is absolute; the owner is the image's user."""

    path: str
    data: bytes
    mode: int = 0o644


REPORT_DIR = "TESTWRIGHT_REPORT_DIR"


@dataclass(frozen=True)
class Job:
    """A main command. `outputs` is a directory whose regular files are read after the end.

    `seconds` is its time on an idle machine of reference speed; what it comes to on another one says deadline.py.

    The command finds it in the environment as `REPORT_DIR`: some engines have it elsewhere. A job with a `companion`
    begins when that is ready. `unpacked` are tars, each of which is unpacked in the directory that is its path before
    `files` are placed.
    """

    argv: tuple[str, ...]
    files: tuple[PlacedFile, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 120
    outputs: str = "/logs/report"
    companion: "Companion | None" = None
    unpacked: tuple[PlacedFile, ...] = ()


READY = "testwright: ready"
"""A line of its own: with it a companion says that its job may begin."""


@dataclass(frozen=True)
class Companion:
    """A second container beside a job's. They share a loopback network with no way out, and no file.

    Its main command prints the line `READY` when whatever it serves can be reached, for which it has `job.seconds`;
    it is killed when the job has ended. One that ends before is lost, and the job with it.
    """

    image: Image
    job: Job
    options: SandboxOptions = field(default_factory=SandboxOptions)


@dataclass(frozen=True)
class CompanionEnd:
    """The output of a companion: what it printed, and its outputs as a job's."""

    log: bytes = b""
    outputs: Mapping[str, bytes] = field(default_factory=dict)


_TERMINATED = frozenset(128 + number for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGKILL))


@dataclass(frozen=True)
class JobResult:
    """A job's end as the engine reports it. `outputs` maps paths relative to the job's directory to bytes.

    `complete` is False where the outputs were cut by their caps. `seconds` are by the clock, `own_seconds` those that
    the job itself took (`OwnTime`): the same where the sandbox can't tell. `companion` is what the job's one left.
    """

    exit_status: int
    timed_out: bool
    out_of_memory: bool
    log: bytes
    outputs: Mapping[str, bytes]
    complete: bool
    seconds: float
    own_seconds: float = math.inf
    companion: CompanionEnd | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "own_seconds", min(self.own_seconds, self.seconds))

    @property
    def was_terminated(self) -> bool:
        """Return whether a signal that ends processes on request ended the command, and no limit of ours sent it.

        The command's own processes may have sent it, or somebody on the engine's machine: that can't be told apart.
        """
        return self.exit_status in _TERMINATED and not (self.timed_out or self.out_of_memory)


class Engine(Protocol):
    """A maker of sandboxes and runner of jobs. `isolation` is recorded with every result."""

    name: str
    isolation: str
    capabilities: Capabilities

    async def image(self, task: Task) -> Image:
        """Return the task's image; build it if it isn't there.

        Raises:
            ImageUnavailable: It can't be pulled or built.
            UserError: The engine has no images of this repository.
        """
        ...

    def sandbox(self, image: Image, options: SandboxOptions, labels: Mapping[str, str]) -> Sandbox:
        """Return a sandbox that isn't started yet.

        Args:
            image: One that `image` gave.
            options: Checked here, by `check_options`.
            labels: Stored with the container, for `reap` and `remains`.

        Raises:
            UserError: The engine doesn't offer an option.
        """
        ...

    async def run_job(self, image: Image, job: Job, options: SandboxOptions, labels: Mapping[str, str]) -> JobResult:
        """Run a job in a fresh container and remove the container.

        Args:
            image: One that `image` gave.
            job: Its `seconds` are those of an idle machine of reference speed; `sandbox/deadline.py` says how
                many they
                come to on this one.
            options: Checked before anything starts.
            labels: Stored with the container, for `reap` and `remains`.

        Raises:
            SandboxLost: The container was lost; EndedFromOutside where none of the job's own processes and
                limits ended
                it, or where its companion was lost.
            ImageUnavailable: The companion wasn't ready in time.
            UserError: The engine doesn't offer an option.
        """
        ...

    async def reap(self, labels: Mapping[str, str]) -> int:
        """Remove what earlier processes left under these labels.

        Returns:
            The number of containers that were removed.
        """
        ...

    async def close(self) -> None:
        """Give up connections and helper processes. Do nothing the second time."""
        ...
