"""The engine that `--sandbox swerex:...` names. Apart from the engine, which takes long to import."""

from typing import TYPE_CHECKING

from harness.sandbox.registry import ImageSources
from harness.sandbox.swerex.configuration import read_configuration

if TYPE_CHECKING:
    from harness.sandbox.swerex.engine import SwerexEngine


def swerex(argument: str, images: ImageSources) -> "SwerexEngine":
    """`swerex:URL` or `swerex:FILE`. Raises UserError; no deployment is reached or started yet."""
    configuration = read_configuration(argument)
    from harness.sandbox.swerex.engine import SwerexEngine

    return SwerexEngine(configuration, images.container if configuration.in_place else images.directory)
