"""Repositories whose source comes with a package: an application of ours, or what a brief gives.

Their images are ordinary ones. The recipe is laid out in the cache, beside an archive of the source as it lies here.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.sandbox.host import cache_directory
from harness.sandbox.images.recipe import ARCHIVE
from harness.sandbox.images.work_tree import pack_tree
from harness.specs.errors import UserError
from harness.specs.repo import Repo, Source
from harness.specs.yaml_files import check_name, load_yaml

_NO_SOURCE = shutil.ignore_patterns("__pycache__", ".pytest_cache", "*.pyc")


def copy_source(tree: Path, place: Path) -> None:
    """Copy a folder of source into another, which may be there already.

    Raises:
        UserError: A file can't be read; the message names the first.
    """
    try:
        shutil.copytree(tree, place, ignore=_NO_SOURCE, dirs_exist_ok=True)
    except shutil.Error as error:
        [(path, _, why), *_] = error.args[0]
        nowhere = Path(path).is_symlink() and not Path(path).exists()
        raise UserError(f"{path}: {'a link that leads nowhere' if nowhere else why}") from None
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror or error}") from None


def own_repo(files: Sequence[Path], tree: Path, kind: str, name: str = "") -> Repo:
    """Lay out the recipe of a repository of ours, where it isn't there, and return the repository.

    Args:
        files: Those that its image is made by; `repo.yaml` is among them.
        tree: The folder of its source.
        kind: The folder of the cache that has such recipes.
        name: The repository's; that of the folder of `repo.yaml` where none is given.

    Raises:
        UserError: A file that the image needs isn't there, or `repo.yaml` is wrong.
    """
    for path in (*files, tree):
        if not path.exists():
            raise UserError(f"{path}: an image needs it, and it isn't there")
    repo = _described(next(path for path in files if path.name == "repo.yaml"), name)
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        archive, clean = Path(scratch) / ARCHIVE, Path(scratch) / "app"
        copy_source(tree, clean)
        pack_tree(clean, "app", archive)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        whole = hashlib.sha256(b"".join([digest.encode(), *(path.read_bytes() for path in files)]))
        place = cache_directory() / kind / whole.hexdigest()[:16]
        if not (place / ARCHIVE).is_file():
            place.mkdir(parents=True, exist_ok=True)
            for path in files:
                shutil.copy(path, place / path.name)
            new = place / f"{ARCHIVE}.new"
            shutil.copy(archive, new)
            new.replace(place / ARCHIVE)
    source = Source(kind="archive", package=repo.name, version=repo.version, sha256=digest)
    return repo.model_copy(update={"source": source, "directory": place})


def _described(path: Path, name: str) -> Repo:
    """Return a repository by its `repo.yaml`, which names no source: that lies beside it, and is pinned later."""
    later = {"kind": "archive", "package": "later", "version": "", "sha256": "0" * 64}
    repo = load_yaml(path, Repo, {"source": later})
    if repo.name != name:
        check_name(path, repo.name)
    return repo
