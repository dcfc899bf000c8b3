"""The applications beside tests: repositories of files that come with this package, around ours or another's release."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from harness.sandbox.images.own_source import own_repo
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.repo import Repo

PROGRAM = ("serve_app.py", "--port", "{port}", "--data", "{data}")
HEALTH = "/"
READY_SECONDS = 30
RELEASE = "release.lock"
"""The pin of a release that others made, where the application is one."""
_DESCRIPTION = "repo.yaml"
_SOURCE_ALONE = "--no-binary :all:"
"""The first line of such a pin, where the release has no wheel."""
_AS_SOURCE = {
    "--only-binary :all:": "--no-build-isolation",
    "python3 -m zipfile --extract /tmp/wheel/*.whl /release": (
        "tar --extract --file /tmp/wheel/*.tar.gz --strip-components 1 --directory /release"
    ),
}
"""How such a release is unpacked; its `setup.py` is asked for its name by the setuptools of requirements.lock."""


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


@cache
def application_repo(name: str) -> Repo:
    """Return an application's repository; its recipe is laid out where it isn't there.

    All have one Dockerfile, one conftest.py and pytest.ini; `serve_app.py` of each starts it, with fresh data.

    Raises:
        UserError: A file that its image needs isn't there.
    """
    own = application_directory(name)
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        dockerfile, tree = Path(scratch) / "Dockerfile", Path(scratch) / "app"
        dockerfile.write_text(_dockerfile(own))
        files = [dockerfile, own / _DESCRIPTION, *sorted(own.glob("*.lock"))]
        for part in (data_directory() / "shared", own / "app"):
            shutil.copytree(part, tree, dirs_exist_ok=True)
        return own_repo(files, tree, "browser")


def _dockerfile(own: Path) -> str:
    """Return the Dockerfile of all, with another way to unpack a release of source alone."""
    text, pin = (data_directory() / "Dockerfile").read_text(), own / RELEASE
    if pin.is_file() and pin.read_text().startswith(_SOURCE_ALONE):
        for of_wheel, of_source in _AS_SOURCE.items():
            text = text.replace(of_wheel, of_source)
    return text
