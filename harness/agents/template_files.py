"""Where a scaffold's templates lie."""

from pathlib import Path

from harness.specs.catalog import default_directory
from harness.specs.scaffold import Scaffold

REQUEST = "request.j2"
"""What every agent is told. A scaffold that has no such file of its own shares the one beside all scaffolds."""


def template_path(scaffold: Scaffold, file: str) -> Path:
    """A template by its file's name, whether or not it is there.

    What a run puts in its place comes first, then the scaffold's own, then the request that all share.
    """
    for name, path in scaffold.ablation.templates.items() if scaffold.ablation else ():
        if file == template_file(scaffold, name):
            return path
    own = scaffold.directory / file
    if file != REQUEST or own.is_file():
        return own
    beside = scaffold.directory.parent / REQUEST
    return beside if beside.is_file() else default_directory() / "scaffolds" / REQUEST


def template_file(scaffold: Scaffold, name: str) -> str | None:
    """The file's name of the template `name`; None where the scaffold names none."""
    return scaffold.templates.get(name, REQUEST if name == "request" else None)
