"""The application that the tasks of technique test: its repository, made of files that come with this package."""

from functools import cache
from pathlib import Path

from harness.sandbox.images.own_source import own_repo
from harness.specs.catalog_places import default_directory
from harness.specs.repo import Repo

COMMAND = ("python3", "-m", "deskapp", "--port", "{port}", "--data", "{data}")
HEALTH = "/healthz"
READY_SECONDS = 30
_RECIPE = ("Dockerfile", "requirements.lock", "repo.yaml")


def data_directory() -> Path:
    """Return where the applications and the tasks lie that come with this package."""
    return default_directory() / "browser"


@cache
def application_repo() -> Repo:
    """Return the application's repository; its recipe is laid out where it isn't there.

    Raises:
        UserError: A file that its image needs isn't there.
    """
    own = data_directory() / "deskapp"
    return own_repo(own, _RECIPE, own / "app", "browser")
