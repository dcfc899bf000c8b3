"""Options of our containers: what they may do and use."""

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from docker.types import LogConfig, Ulimit
from docker.types import Mount as EngineMount

from harness.sandbox.docker import podman
from harness.sandbox.docker.client import Docker
from harness.sandbox.host import cache_directory
from harness.sandbox.protocol import Image, Limits, Mount, PlacedFile, SandboxOptions, Volume

LABEL = "testwright"
HOST_NAME = "box"
_MIB = 1 << 20
_MASKED = (
    "/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
    "/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/sys/devices/virtual/powercap",
    "/sys/firmware",
)  # fmt: skip
"""Paths that engines hide by themselves."""
_COUNTERS = (
    "/proc/buddyinfo", "/proc/diskstats", "/proc/fs", "/proc/irq", "/proc/key-users", "/proc/locks",
    "/proc/pagetypeinfo", "/proc/pressure",
    "/proc/schedstat", "/proc/softirqs", "/proc/sys/fs/dentry-state", "/proc/sys/fs/file-nr", "/proc/sys/fs/inode-nr",
    "/proc/sys/fs/inode-state", "/proc/sys/kernel/pty", "/proc/vmstat", "/proc/zoneinfo", "/sys/devices/pci0000:00",
    "/sys/devices/platform", "/sys/devices/system/node", "/sys/devices/virtual/block", "/sys/fs/btrfs",
    "/sys/fs/ext4", "/sys/fs/xfs", "/sys/kernel/irq", "/sys/kernel/mm",
)  # fmt: skip
"""Counters of the whole host that no runtime needs: one job could read there what another one does."""
_KERNEL_HAS_IPV6 = sys.platform != "linux" or Path("/proc/sys/net/ipv6").exists()
_LOOPBACK_IPV6 = {f"net.ipv6.conf.{name}.disable_ipv6": "0" for name in ("all", "lo") if _KERNEL_HAS_IPV6}
"""Off without a network, by default; on a kernel without it, asking for it would fail."""
_CALLERS_PORTS, _PORTS_LEFT_OUT = range(32_768, 61_000), 4_000
"""The kernel's own range of ports for callers, and how many at most a container lacks at each end of it."""
_HOSTS = f"""\
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
ff00::0\tip6-mcastprefix
ff02::1\tip6-allnodes
ff02::2\tip6-allrouters
127.0.0.1\t{HOST_NAME}
"""
_TEMPORARY = "rw,exec,nosuid,nodev,mode=1777,size=256m"
"""Options of /tmp where the root is read-only. It counts as memory."""
_NO_RESOLVER = "nameserver 192.0.2.1\n"
"""An address of documentation, which nobody has: a look-up fails at once, as without a network it must."""


_PODMAN_FILES, _PODMAN_PROCESSES = 4096, 32768
"""Files of one process, and processes of its user on the engine's machine; a container's own limit is `pids`."""
_UNLIMITED_PROCESSES = 4096
"""The second one where the engine can't limit a container's: a runaway test leaves the machine usable."""


@dataclass(frozen=True)
class ContainerSpec:
    """A container that is to be made.

    `user` is the one whose commands run, empty for the image's own; `capabilities` are all that root in it may, other
    users have none. `argv` is the first process, without the engine's init before it. A job's network is made without
    the engine: see `network_files`. One that is to share the network of a container that runs, `beside`,
    joins it, and has that one's name and no other way out. Where `options` name what is writable its root is
    read-only; `volumes` are mounted beside their mounts. Without a `name` the engine gives it one.
    """

    image: Image
    options: SandboxOptions
    labels: Mapping[str, str]
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    directory: str = "/"
    capabilities: Sequence[str] = ()
    is_job: bool = False
    beside: str = ""
    volumes: Sequence[EngineMount] = ()
    name: str = ""


async def create(docker: Docker, spec: ContainerSpec) -> str:
    """Make a container and return its id; it isn't started.

    Raises:
        ImageUnavailable: The image isn't on the engine.
    """
    image, options, beside = spec.image, spec.options, spec.beside
    answer = await docker.call(
        docker.api.create_container,
        image.reference,
        entrypoint=list(spec.argv),
        environment={**image.env, **options.env, **spec.env},
        labels={**spec.labels, LABEL: "1"},
        hostname=None if beside else HOST_NAME,
        user=spec.user,
        working_dir=spec.directory,
        network_disabled=spec.is_job and not beside and options.writable is None,
        host_config=_restrictions(docker, spec),
        name=spec.name or None,
    )
    return str(answer["Id"])


@asynccontextmanager
async def made(docker: Docker, spec: ContainerSpec) -> AsyncIterator[str]:
    """Provide a created container, removed at the end, also when the caller is cancelled while it is made."""
    creation = asyncio.create_task(create(docker, spec))
    try:
        yield await asyncio.shield(creation)
    finally:
        await asyncio.wait([creation])
        if creation.exception() is None:
            await asyncio.shield(docker.remove(creation.result()))


def network_files() -> tuple[PlacedFile, ...]:
    """Return what an engine writes into a container for its network, to be placed in one of a job, for root.

    A job's container has a network namespace of its own, with the loopback device that the runtime brings up. An
    engine that is asked to manage that namespace writes these files, and starts itself anew as a hook of the runtime:
    half of all that a container's start costs (docs/performance.md).
    """
    return (PlacedFile("/etc/hosts", _HOSTS.encode()), PlacedFile("/etc/resolv.conf", _NO_RESOLVER.encode()))


def _restrictions(docker: Docker, spec: ContainerSpec) -> dict[str, Any]:
    options, beside = spec.options, spec.beside
    limits, is_read_only = options.limits, options.writable is not None
    # The gateway is reached over a channel of ours.
    sysctls = {**_LOOPBACK_IPV6, "net.ipv4.ip_local_port_range": _own_ports()}
    alone = {"network_mode": "none", "extra_hosts": {HOST_NAME: "127.0.0.1"}, "sysctls": sysctls}
    config: dict[str, Any] = docker.api.create_host_config(
        init=False,
        **({"network_mode": f"container:{beside}"} if beside else alone),
        mounts=[*(_mount(mount) for mount in options.mounts), *_own_files(docker), *spec.volumes],
        read_only=is_read_only,
        tmpfs={"/tmp": _TEMPORARY} if is_read_only else None,
        mem_limit=limits.memory_mb * _MIB,
        memswap_limit=limits.memory_mb * _MIB,  # memory and swap together: no swap
        nano_cpus=_nano_cpus(docker, limits),
        pids_limit=limits.pids,
        cap_drop=["ALL"],
        cap_add=list(spec.capabilities) or None,
        security_opt=["no-new-privileges", *_job_filter(docker, is_job=spec.is_job)],
        # What is printed comes over our own connection; the engine would keep all of it on disk.
        log_config=LogConfig(type=LogConfig.types.NONE),
        ulimits=[Ulimit(name=name, soft=most, hard=most) for name, most in _process_limits(docker, limits).items()],
    )
    hidden = (*options.hidden, *(_COUNTERS if spec.is_job else ()))
    if hidden and docker.is_podman:
        config["SecurityOpt"].append(f"mask={':'.join(hidden)}")
    elif hidden:  # ours take the place of the engine's own list
        config["MaskedPaths"] = [*_MASKED, *hidden]
    return config


def _nano_cpus(docker: Docker, limits: Limits) -> int | None:
    """Return a container's cores: more than there are is an error, and so is any number where none can be limited."""
    return int(min(limits.cpus, docker.cpus) * 1e9) if podman.CPU in docker.limiting.groups else None


def _own_ports() -> str:
    """Return a drawn range of ports for a container's callers.

    From which port a connection comes, the kernel counts on for the whole machine, whatever network asks. It is taken
    modulo the range's length, so what one container has moved it to says nothing where the length is another one.
    """
    low, high = (secrets.randbelow(_PORTS_LEFT_OUT) for _ in range(2))
    return f"{_CALLERS_PORTS[low]} {_CALLERS_PORTS[-1 - high]}"


def _job_filter(docker: Docker, is_job: bool) -> list[str]:
    """Return the filter of a job's system calls: an engine's own one, without ways to learn what another job does.

    All containers of an image share the page cache of its layers: no call evicts pages of it or asks about them. All
    processes of a user share what the kernel counts for the user, and a low limit of one's own would tell how much
    that is: setting one has no effect. Podman takes a file of its own machine there: its jobs have Podman's filter.
    """
    return [f"seccomp={_seccomp_profile()}"] if is_job and not docker.is_podman else []


@cache
def _seccomp_profile() -> str:
    return (resources.files("harness.sandbox.docker") / "seccomp.json").read_text()


def _own_files(docker: Docker) -> list[EngineMount]:
    """Return mounts of files that Podman else fills with this machine's names and the container's: its hosts."""
    if not docker.is_podman:
        return []
    path = cache_directory() / "podman" / "hosts"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".hosts.{os.getpid()}")
        partial.write_text(_HOSTS)
        partial.replace(path)
    return [EngineMount("/etc/hosts", str(path), type="bind", read_only=True)]


def _process_limits(docker: Docker, limits: Limits) -> dict[str, int]:
    """Return the limits of each process, by the names that engines know; sizes in bytes.

    Podman's defaults can be more than its own process may have, which ends a container before it starts. What it
    can't limit for a container is limited for each process (memory) or for all of its user (processes).
    """
    own = {"fsize": limits.disk_mb * _MIB, "core": 0}
    if docker.is_podman:
        is_limited = podman.PIDS in docker.limiting.groups
        own |= {"nofile": _PODMAN_FILES, "nproc": _PODMAN_PROCESSES if is_limited else _UNLIMITED_PROCESSES}
    if podman.MEMORY not in docker.limiting.groups:
        own["data"] = limits.memory_mb * _MIB
    return own


def limited(docker: Docker, limits: Limits, argv: Sequence[str]) -> tuple[str, ...]:
    """Return `argv` under the limits of processes, which it sets itself where the engine sets none."""
    if docker.limiting.processes:
        return tuple(argv)
    told = _process_limits(docker, limits).items()
    own = [f"ulimit -{option} {most // unit}" for name, most in told for option, unit in [_OPTIONS[name]]]
    return ("bash", "-c", " && ".join([*own, 'exec "$@"']), "bash", *argv)


_OPTIONS = {"fsize": ("f", 1024), "core": ("c", 1024), "data": ("d", 1024), "nofile": ("n", 1), "nproc": ("u", 1)}
"""Options of bash's `ulimit`, with the bytes or other things that it counts as one."""


def _mount(mount: Mount) -> EngineMount:
    if isinstance(mount.source, Volume):
        # Without a copy: a volume that was lost isn't filled from what the image has at that place.
        return EngineMount(mount.target, mount.source.name, type="volume", read_only=mount.read_only, no_copy=True)
    return EngineMount(mount.target, str(mount.source), type="bind", read_only=mount.read_only)
