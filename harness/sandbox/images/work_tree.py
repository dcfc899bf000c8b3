"""A task's tree: upstream's without the withheld tests, and the repository around it that the agent sees.

The cache keeps of an image its trusted git directory, and the id of the build that was seen.
"""

import hashlib
import io
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from harness.sandbox.git import GitError, run_git
from harness.sandbox.git_tree import EXCLUDED, GitTree
from harness.sandbox.host import cache_directory
from harness.sandbox.protocol import Image
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.specs.yaml_files import FileModel

AGENT_ID = 1000
"""User and group of everything in the work tree."""
FILE_TIME = 978_307_200
"""2001-01-01, the base commit's date. One time for all files: none tells when or in what order it was made."""

REPOSITORY_CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
"""
# As in our own git directories: what the tree's .gitattributes would do to line ends and keywords is off, so
# that the files as they lie are clean.
_ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding\n"


async def task_tree(upstream: GitTree, task: Task, directory: Path) -> GitTree:
    """Return a new git directory with the task's tree: upstream's own, where the task's kind withholds nothing.

    Raises:
        UserError: withheld.patch doesn't apply.
    """
    withheld = task.patch("withheld.patch")
    needed = bool(withheld) or "withheld.patch" in task.NEEDED
    try:
        changed = await upstream.apply(withheld) if needed else "HEAD"
    except GitError as error:
        path, repo = task.directory / "withheld.patch", task.repo
        raise UserError(f"{path}: it doesn't apply to {repo.name} {repo.version}: {error}") from None
    return await upstream.copy(directory, changed)


async def head_commit(tree: GitTree) -> str:
    """Return the id of the one commit."""
    return (await run_git(f"--git-dir={tree.directory}", "rev-parse", "HEAD")).decode().strip()


async def tree_digest(tree: GitTree) -> str:
    """Return the sha256 over the sorted (path, mode, sha256) of a tree's files."""
    entries = await tree.entries()
    contents = await tree.read_all(entries)
    whole = hashlib.sha256()
    for path in sorted(entries):
        line = f"{path}\0{entries[path].mode}\0{hashlib.sha256(contents[path]).hexdigest()}\n"
        whole.update(line.encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


async def write_work_tree(tree: GitTree, destination: Path) -> None:
    """Check the tree out at `destination`, with an ordinary repository of its one commit at `.git`.

    Objects are packed; the index has no stat data of this machine, and git fills it in at its first status.
    """
    await tree.check_out(destination)
    repository = destination / ".git"
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        (repository / name).mkdir(parents=True)
    (repository / "HEAD").write_text("ref: refs/heads/main\n")
    (repository / "config").write_text(REPOSITORY_CONFIG)
    (repository / "info" / "attributes").write_text(_ATTRIBUTES)
    (repository / "info" / "exclude").write_text("\n".join(EXCLUDED) + "\n")
    pack = repository / "objects" / "pack" / "pack"
    await run_git(
        f"--git-dir={tree.directory}", "pack-objects", "--quiet", "--revs", "--threads=1", str(pack), stdin=b"HEAD\n"
    )
    commit = await head_commit(tree)
    (repository / "refs" / "heads" / "main").write_text(f"{commit}\n")
    await run_git(f"--git-dir={repository}", "read-tree", "HEAD")
    _set_times(destination)


def pack_tree(root: Path, name: str, archive: Path, uid: int = AGENT_ID, gid: int = AGENT_ID) -> None:
    """Write a directory as a tar that is the same on every machine.

    Args:
        root: The directory.
        name: Its name in the tar.
        archive: The tar.
        uid: The number of the user who owns the files.
        gid: The number of their group.
    """
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as tar:
        for path in [root, *_below(root)]:
            relative = path.relative_to(root).as_posix()
            entry = tar.gettarinfo(path, arcname=name if relative == "." else f"{name}/{relative}")
            entry.uid, entry.gid = uid, gid
            entry.uname = entry.gname = ""
            entry.mtime = FILE_TIME
            entry.pax_headers = {}
            if not entry.issym():
                entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            tar.addfile(entry, io.BytesIO(path.read_bytes()) if entry.isreg() else None)


def unpack_tree(archive: BinaryIO, destination: Path) -> None:
    """Unpack a tar with one top directory as `destination`, and nothing outside it."""
    with tempfile.TemporaryDirectory(prefix="testwright-", dir=destination.parent) as scratch:
        with tarfile.open(fileobj=archive) as tar:
            tar.extractall(scratch, filter="tar")  # links may lead anywhere: nothing here follows one
        (top,) = Path(scratch).iterdir()
        top.rename(destination)


def _below(root: Path) -> Iterator[Path]:
    for directory, names, files in os.walk(root):
        names.sort()
        yield from sorted(Path(directory) / name for name in [*names, *files])


def _set_times(root: Path) -> None:
    for path in [*_below(root), root]:
        os.utime(path, (FILE_TIME, FILE_TIME), follow_symlinks=False)


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
    """Return the record of an image that came from here: to keep with a run, and to compare."""
    return _read(image.tree.parent)


@dataclass(frozen=True)
class ImageFolder:
    """The folder of one image in the cache. `name` is also its lock's."""

    reference: str
    directory: Path

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.directory.name

    @property
    def tree(self) -> Path:
        """The git directory of the image's tree."""
        return self.directory / "tree.git"

    def record(self) -> ImageRecord | None:
        """Return None where the folder is empty or incomplete: the record is written last."""
        return _read(self.directory) if self.tree.is_dir() else None

    def scratch(self) -> "tempfile.TemporaryDirectory[str]":
        """Return a directory on the same file system, from where a finished tree is renamed into the folder."""
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


def image_place(tag: str) -> ImageFolder:
    """Return the folder that the cache has for an image."""
    return ImageFolder(tag, cache_directory() / "images" / tag.removeprefix("testwright/").replace(":", "-"))


def _read(directory: Path) -> ImageRecord | None:
    """Return None where there is none, or one of another version of ours."""
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
