"""The application that the tasks of technique test: its repository, made of files that come with this package.

Its image is an ordinary one. The recipe is laid out in the cache, beside an archive of the source as it lies here.
"""

import hashlib
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from harness.sandbox.host import cache_directory
from harness.sandbox.images.recipe import ARCHIVE
from harness.sandbox.images.work_tree import pack_tree
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.yaml_files import parse_yaml, read_text

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
    for name in _RECIPE:
        if not (own / name).is_file():
            raise UserError(f"{own / name}: the application's image needs it, and it isn't there")
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        archive = _archive(own / "app", Path(scratch))
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        whole = hashlib.sha256(b"".join([digest.encode(), *((own / name).read_bytes() for name in _RECIPE)]))
        place = cache_directory() / "browser" / whole.hexdigest()[:16]
        if not (place / ARCHIVE).is_file():
            place.mkdir(parents=True, exist_ok=True)
            for name in _RECIPE:
                shutil.copy(own / name, place / name)
            new = place / f"{ARCHIVE}.new"
            shutil.copy(archive, new)
            new.replace(place / ARCHIVE)
    told: Any = parse_yaml(read_text(own / "repo.yaml"), str(own / "repo.yaml"))[0]
    source = {"kind": "archive", "package": told["name"], "version": told["version"], "sha256": digest}
    return Repo.model_validate({**told, "source": source, "directory": place})


def _archive(app: Path, scratch: Path) -> Path:
    """Return a tar of the source, the same on every machine."""
    clean = scratch / "app"
    shutil.copytree(app, clean, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", "*.pyc"))
    pack_tree(clean, "app", scratch / ARCHIVE)
    return scratch / ARCHIVE
