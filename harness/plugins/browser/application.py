"""The applications beside tests: repositories of files of this package, around ours or another's release."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from harness.sandbox.images.frames import DOCKERFILE
from harness.sandbox.images.own_source import own_repo
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


def application_directory(name: str) -> Path:
    """Return the folder of an application: its recipe, and in `app/` what our own files of its tree are.

    Raises:
        UserError: There is none of that name.
    """
    known = sorted(path.parent.name for path in data_directory().glob(f"*/{_DESCRIPTION}"))
    if name not in known:
        raise UserError(f"{data_directory()}: no application {name!r}; there are {', '.join(known)}")
    return data_directory() / name


def is_release(name: str) -> bool:
    """Return whether others made the application, so that its image alone has its source."""
    return any((application_directory(name) / lock).is_file() for lock in _RELEASES)


@cache
def application_repo(name: str) -> Repo:
    """Return an application's repository; its recipe is laid out where it isn't there.

    All have one conftest.py and pytest.ini; `serve_app.py` of each starts it, with fresh data.

    Raises:
        UserError: A file that its image needs isn't there.
    """
    own = application_directory(name)
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        dockerfile, tree = Path(scratch) / DOCKERFILE, Path(scratch) / "app"
        dockerfile.write_bytes(b"".join(_stage(own, part).read_bytes() for part in _STAGES))
        files = [dockerfile, own / _DESCRIPTION, *sorted(own.glob("*.lock")), *sorted(own.glob("package*.json"))]
        for part in (data_directory() / "shared", own / "app"):
            shutil.copytree(part, tree, dirs_exist_ok=True)
        return own_repo(files, tree, "browser")


def _stage(own: Path, name: str) -> Path:
    return own / name if (own / name).is_file() else data_directory() / name
