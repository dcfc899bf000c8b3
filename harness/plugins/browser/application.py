"""The applications beside tests: repositories of files of this package, around ours or another's release."""

import tempfile
from functools import cache
from pathlib import Path

from harness.sandbox.images.frames import DOCKERFILE
from harness.sandbox.images.own_source import copy_source, own_repo
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.repo import Repo

PROGRAM = ("serve_app.py", "--port", "{port}", "--data", "{data}")
HEALTH = "/"
READY_SECONDS = 30
_RELEASES = ("release.lock", "package-lock.json")
"""The pins of a release that others made, where the application is one: of PyPI, of npm."""
_STAGES = ("Dockerfile.tests", "Dockerfile.release", "Dockerfile.repo")
"""The parts of an image's recipe, in their order. All applications have one of each, or their own of that name."""
_DESCRIPTION = "repo.yaml"


def data_directory() -> Path:
    """Return where the applications and the tasks lie that come with this package."""
    return default_directory() / "browser"


def application_directory(name: str, task: Path | None = None) -> Path:
    """Return the folder of an application: its recipe, and in `app/` what our own files of its tree are.

    Args:
        name: The application's.
        task: The directory of a task. One beside it, or beside the folder that it lies in, comes before this
            package's; so does one in `browser/` of its catalog.

    Raises:
        UserError: There is none of that name.
    """
    places = [data_directory()]
    if task:
        places = [task.parent, task.parent.parent, task.parent.parent / "browser", *places]
    for place in places:
        if (place / name / _DESCRIPTION).is_file() and (place / name / "app").is_dir():
            return place / name
    known = ", ".join(sorted(path.parent.name for path in data_directory().glob(f"*/{_DESCRIPTION}")))
    beside = f", and none beside {task}" if task else ""
    raise UserError(f"{data_directory()}: no application {name!r}; there are {known}{beside}")


def is_release(application: Path) -> bool:
    """Return whether others made the application in a folder, so that its image alone has its source."""
    return any((application / lock).is_file() for lock in _RELEASES)


@cache
def application_repo(own: Path) -> Repo:
    """Return the repository of the application in a folder; its recipe is laid out where it isn't there.

    All have one conftest.py and pytest.ini; `serve_app.py` of each starts it, with fresh data.

    Raises:
        UserError: A file that its image needs isn't there.
    """
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        dockerfile, tree = Path(scratch) / DOCKERFILE, Path(scratch) / "app"
        dockerfile.write_bytes(b"".join(_stage(own, part).read_bytes() for part in _STAGES))
        files = [dockerfile, own / _DESCRIPTION, *sorted(own.glob("*.lock")), *sorted(own.glob("package*.json"))]
        for part in (data_directory() / "shared", own / "app"):
            copy_source(part, tree)
        return own_repo(files, tree, "browser")


def _stage(own: Path, name: str) -> Path:
    return own / name if (own / name).is_file() else data_directory() / name
