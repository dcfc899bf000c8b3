"""The image that applications are built and run in: a kit of interpreters and packages, and the brief's files.

Its recipe is laid out in the cache for each brief, beside an archive of what an agent begins with.
"""

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

from harness.sandbox.host import cache_directory
from harness.sandbox.images.recipe import ARCHIVE
from harness.sandbox.images.work_tree import pack_tree
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.yaml_files import parse_yaml, read_text

KIT = "kit"
_LOCKS = ("requirements.lock", "package.json", "package-lock.json", "kit.lock", "express.lock")
_RECIPE = ("Dockerfile", *_LOCKS, "repo.yaml")


def briefs_directory() -> Path:
    """Return where the briefs lie that come with this package, and the kit beside them."""
    return default_directory() / "briefs"


def kit_repo(tree: Path) -> Repo:
    """Return the repository that an agent starts from: the kit, and the files in `tree`. Raises UserError."""
    own = briefs_directory() / KIT
    for path in (*(own / name for name in _RECIPE), tree):
        if not path.exists():
            raise UserError(f"{path}: the brief's image needs it, and it isn't there")
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        archive = Path(scratch) / ARCHIVE
        clean = Path(scratch) / "app"
        shutil.copytree(tree, clean)
        pack_tree(clean, "app", archive)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        whole = hashlib.sha256(b"".join([digest.encode(), *((own / name).read_bytes() for name in _RECIPE)]))
        place = cache_directory() / "build" / whole.hexdigest()[:16]
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
