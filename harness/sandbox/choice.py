"""Makes an engine from a sandbox's name."""

from pathlib import Path

from harness.sandbox.protocol import Engine
from harness.sandbox.registry import SANDBOXES, ImageSources, split
from harness.specs.errors import UserError


def make_engine(name: str, images: ImageSources) -> Engine:
    """The engine that `--sandbox NAME` names. Raises UserError where there is none or it can't work here."""
    kind, argument = split(name)
    return SANDBOXES.get(kind)(argument, images)


def check_sandbox(name: str) -> str:
    """`name`, with a file that it names made absolute: a run goes on from anywhere. Raises UserError if unknown."""
    kind, argument = split(name)
    if argument and Path(argument).is_file():
        return f"{kind}:{Path(argument).absolute()}"
    return name


def make_engines(images: ImageSources) -> list[Engine]:
    """One engine of each sandbox that works here without an argument."""
    found = []
    for name in SANDBOXES.names:
        try:
            found.append(SANDBOXES.get(name)("", images))
        except UserError:
            continue
    return found
