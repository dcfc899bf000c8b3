"""Options of sandboxes: those that a repository asks for; refuses options that an engine doesn't offer.

Maps fixed paths, such as the tree's, for sandboxes that have them elsewhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path, PurePosixPath

from harness.sandbox.protocol import Capabilities, Companion, Job, Limits, Mount, Network, SandboxOptions
from harness.specs.errors import UserError
from harness.specs.repo import Repo


def repo_options(repo: Repo) -> SandboxOptions:
    """Return the options that containers of a repository get: its limits, no network, no mounts."""
    limits = repo.limits
    return SandboxOptions(Limits(limits.memory_mb, limits.cpus, limits.pids, limits.disk_mb))


class ContainerRole(StrEnum):
    """The use of a container."""

    AGENT = "agent"
    ARM = "arm"


def options_for(repo: Repo, role: ContainerRole) -> SandboxOptions:
    """Return the options of a container of a repository's tasks, by what the container is for."""
    return arm_options(repo) if role is ContainerRole.ARM else repo_options(repo)


def arm_options(repo: Repo) -> SandboxOptions:
    """Return the options that arms get: the repository's, without the paths that it hides, and users of their own."""
    return replace(repo_options(repo), hidden=repo.arms.hidden, own_user=True)


def check_options(engine: str, capabilities: Capabilities, options: SandboxOptions) -> SandboxOptions:
    """Check that an engine offers all options of a sandbox.

    Args:
        engine: Its name, for messages.
        capabilities: Its own.
        options: For one sandbox.

    Returns:
        The same options.

    Raises:
        UserError: One isn't offered, or two contradict each other.
    """
    if options.network is Network.GATEWAY and not capabilities.gateway:
        raise UserError(f"sandbox {engine!r} offers no network through a gateway")
    if options.mounts and not capabilities.mounts:
        raise UserError(f"sandbox {engine!r} can't mount {options.mounts[0].source}: it offers no mounts")
    if (options.network is Network.GATEWAY) != bool(options.gateways):
        raise UserError(f"sandbox {engine!r}: the network through a gateway and a gateway go together")
    if options.writable is not None:
        raise UserError(f"sandbox {engine!r}: only a job can have a root that is read-only")
    for mount in options.mounts:
        _check_mount(mount)
    return options


def check_job_options(engine: str, capabilities: Capabilities, options: SandboxOptions, job: Job) -> SandboxOptions:
    """Check that an engine offers all options of a job, which reaches no model and may have a companion.

    Returns:
        The same options.

    Raises:
        UserError: One isn't offered.
    """
    check_options(engine, capabilities, replace(options, writable=None))
    if options.network is Network.GATEWAY:
        raise UserError(f"sandbox {engine!r} offers no network through a gateway to jobs")
    if (options.writable is not None or job.unpacked) and not capabilities.read_only_root:
        raise UserError(f"sandbox {engine!r} can't mount a job's root read-only; use --sandbox docker")
    if job.companion:
        check_companion(engine, capabilities, job.companion)
    return options


def check_companion(engine: str, capabilities: Capabilities, companion: Companion) -> None:
    """Check that an engine can run a companion beside a job.

    Raises:
        UserError: It can't, it doesn't offer one of the companion's options, or the companion wants one of its own.
    """
    if not capabilities.companions:
        raise UserError(f"sandbox {engine!r} can't run an application beside a job; use --sandbox docker")
    if companion.job.companion:
        raise UserError("a companion can't have a companion of its own")
    check_job_options(engine, capabilities, companion.options, companion.job)


def _check_mount(mount: Mount) -> None:
    target = PurePosixPath(mount.target)
    if not target.is_absolute() or ".." in target.parts or target == PurePosixPath("/"):
        raise UserError(f"mount target {mount.target!r}: it must be an absolute path below / without '..'")
    if isinstance(mount.source, Path) and not mount.source.is_absolute():
        raise UserError(f"mount source {str(mount.source)!r}: it must be an absolute path")


def mapped(value: str, real: Callable[[str], str], tops: Sequence[str]) -> str:
    """Return a value with its paths put where a sandbox has them.

    Args:
        value: One path, or several with colons between them, as in `PATH`.
        real: Says where a path lies in the sandbox.
        tops: Directories below which paths are put elsewhere; others stay.
    """

    def one(part: str) -> str:
        return real(part) if any(part == top or part.startswith(f"{top}/") for top in tops) else part

    return ":".join(map(one, value.split(":")))
