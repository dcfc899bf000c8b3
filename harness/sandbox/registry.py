"""Sandboxes by name. A name may carry an argument after a colon: `swerex:http://127.0.0.1:8000`.

Makes an engine from a sandbox's name.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.sandbox.protocol import Engine, Image
from harness.specs.errors import UserError
from harness.specs.registry import Registry
from harness.specs.task import Task

AUTO = "auto"

ImageSource = Callable[[Task], Awaitable[Image]]
"""Makes or finds a task's image. Raises ImageUnavailable, UserError."""


@dataclass(frozen=True)
class ImageSources:
    """Sources of images: `container` makes one of a Docker engine, `directory` one of this machine."""

    container: ImageSource
    directory: ImageSource


class SandboxFactory(Protocol):
    """A function that makes an engine.

    `argument` is what followed the name's colon; `images` make what its sandboxes start from. Calling it raises
    UserError
    where it can't work on this machine, or can't use the argument.
    """

    def __call__(self, argument: str, images: ImageSources) -> Engine: ...


SANDBOXES: Registry[SandboxFactory] = Registry(
    "sandbox",
    "testwright.sandboxes",
    {
        AUTO: "harness.sandbox.builtin:auto",
        "docker": "harness.sandbox.builtin:docker",
        "local": "harness.sandbox.builtin:local",
    },
)


def split(name: str) -> tuple[str, str]:
    """Return a sandbox's name and its argument, which is empty where there is none.

    Raises:
        UserError: Nobody registered the name.
    """
    kind, _, argument = name.partition(":")
    return SANDBOXES.check(kind), argument


def make_engine(name: str, images: ImageSources) -> Engine:
    """Return the engine that `--sandbox NAME` names.

    Raises:
        UserError: There is none, or it can't work here.
    """
    kind, argument = split(name)
    return SANDBOXES.get(kind)(argument, images)


def check_sandbox(name: str) -> str:
    """Return the name of a sandbox, with a file in it made absolute: a run goes on from anywhere.

    Raises:
        UserError: Nobody registered it.
    """
    kind, argument = split(name)
    if argument and Path(argument).is_file():
        return f"{kind}:{Path(argument).absolute()}"
    return name


def make_engines(images: ImageSources) -> list[Engine]:
    """Return one engine of each sandbox that works here without an argument."""
    found = []
    for name in SANDBOXES.names:
        try:
            found.append(SANDBOXES.get(name)("", images))
        except UserError:
            continue
    return found
