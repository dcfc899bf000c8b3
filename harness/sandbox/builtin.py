"""Factories of the sandboxes that run on this machine, and the choice between them."""

import logging

from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.local.engine import LocalEngine
from harness.sandbox.protocol import Engine
from harness.sandbox.registry import ImageSources
from harness.specs.errors import UserError

log = logging.getLogger(__name__)


def auto(argument: str, images: ImageSources) -> Engine:
    """Return a Docker engine that answers, else processes under bubblewrap, never unconfined ones.

    Raises:
        UserError: Neither is there.
    """
    _no_argument("auto", argument)
    try:
        return DockerEngine(images.container)
    except UserError as error:
        no_engine = error
    try:
        return LocalEngine(images.directory, bubblewrap=True)
    except UserError as error:
        raise UserError(
            f"no sandbox works here: {no_engine}; {error}. Install Docker or bubblewrap "
            "(Debian: apt-get install docker.io, or bubblewrap); --sandbox local does without, and confines nothing"
        ) from None


def docker(argument: str, images: ImageSources) -> Engine:
    """Return the engine of Docker.

    Raises:
        UserError: No engine answers.
    """
    _no_argument("docker", argument)
    return DockerEngine(images.container)


def local(argument: str, images: ImageSources) -> Engine:
    """Return the local engine: under bubblewrap where that works, else unconfined, with a warning."""
    _no_argument("local", argument)
    engine = LocalEngine(images.directory)
    if not engine.capabilities.network_isolation:
        log.warning(
            "no bubblewrap here: commands run unconfined, with your own rights, your network and your files; "
            "run only what you trust, or see 'testwright doctor'"
        )
    return engine


def _no_argument(name: str, argument: str) -> None:
    if argument:
        raise UserError(f"sandbox {name!r} takes no argument; {name}:{argument} has one")
