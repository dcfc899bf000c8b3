"""The image that applications are built and run in: a kit of interpreters and packages, and the brief's files."""

from pathlib import Path

from harness.sandbox.images.own_source import own_repo
from harness.specs.catalog_places import default_directory
from harness.specs.repo import Repo

KIT = "kit"
_LOCKS = ("requirements.lock", "package.json", "package-lock.json", "kit.lock", "express.lock")
_RECIPE = ("Dockerfile", *_LOCKS, "repo.yaml")


def briefs_directory() -> Path:
    """Return where the briefs lie that come with this package, and the kit beside them."""
    return default_directory() / "briefs"


def kit_repo(tree: Path) -> Repo:
    """Return the repository that an agent starts from: the kit, and the files in `tree`. Raises UserError."""
    return own_repo([briefs_directory() / KIT / name for name in _RECIPE], tree, "build", "build-kit")
