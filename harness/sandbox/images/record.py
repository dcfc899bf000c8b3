"""What the cache keeps about an image: its trusted git directory, and the id of the build that was seen."""

import logging
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.sandbox.cache import cache_directory
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Image
from harness.specs.loading import FileModel

_log = logging.getLogger(__name__)
_FILE = "image.json"


class ImageRecord(FileModel):
    """`image.json`. `digest` and `commit` are the same everywhere; the rest may differ between two builds.

    `engine_id` is empty where no engine built it. `packages` has a line for each Debian and Python package,
    with its version.
    """

    reference: str
    digest: str
    commit: str
    engine_id: str
    architecture: str
    packages: tuple[str, ...]


def image_record(image: Image) -> ImageRecord | None:
    """The record of an image that came from here: to keep with a run, and to compare."""
    return _read(image.tree.parent)


@dataclass(frozen=True)
class Place:
    """The folder of one image in the cache. `name` is also its lock's."""

    reference: str
    directory: Path

    @property
    def name(self) -> str:
        return self.directory.name

    @property
    def tree(self) -> Path:
        return self.directory / "tree.git"

    def record(self) -> ImageRecord | None:
        """None where the folder is empty or incomplete: the record is written last."""
        return _read(self.directory) if self.tree.is_dir() else None

    def scratch(self) -> "tempfile.TemporaryDirectory[str]":
        """A directory on the same file system, from where a finished tree is renamed into the folder."""
        self.directory.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix="new-", dir=self.directory)

    def keep(self, tree: GitTree, record: ImageRecord) -> None:
        """Move a tree in, unless it is here already, and write the record. Warns where a rebuild differs."""
        old = self.record()
        if old and old.commit == record.commit:
            _warn_of_differences(old, record)
        elif self.tree != tree.directory:
            shutil.rmtree(self.tree, ignore_errors=True)
            tree.directory.rename(self.tree)
        new = self.directory / f"{_FILE}.new"
        new.write_text(record.model_dump_json(indent=2) + "\n")
        new.replace(self.directory / _FILE)


def image_place(tag: str) -> Place:
    return Place(tag, cache_directory() / "images" / tag.removeprefix("testwright/").replace(":", "-"))


def _read(directory: Path) -> ImageRecord | None:
    """None where there is none, or one of another version of ours."""
    try:
        return ImageRecord.model_validate_json((directory / _FILE).read_bytes())
    except (OSError, ValueError):
        return None


def _warn_of_differences(old: ImageRecord, new: ImageRecord) -> None:
    if old.architecture != new.architecture:
        _log.warning("%s is built for %s now, before for %s", new.reference, new.architecture, old.architecture)
    changed = sorted(set(old.packages) ^ set(new.packages))
    if changed:
        _log.warning("%s has other packages than its last build: %s", new.reference, ", ".join(changed[:10]))
