"""What a repo's images are built from, and the tags computed from it."""

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.specs.catalog import default_directory
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.task import Task

BASE_RECIPE = Path("scripts/base-image")
_TASK_LAYOUT = "3"
"""Of what we put around a task's tree, in the image and in our own git directory; a change makes new images."""
_TAG_DIGITS = 12
_OWN_FILES = ("*.lock", "package.json", "package-lock.json", "*.mjs")
"""What a repo's Dockerfile may have beside itself and run_tests.sh: locks, and modules of the latter."""


@dataclass(frozen=True)
class Recipe:
    """A repo's recipe: `files` by name are all that a build can see, `digest` is over them and the source pin."""

    repo: Repo
    files: Mapping[str, Path]
    digest: str

    def tag(self, target: str) -> str:
        """The image of a target of the Dockerfile: `dependencies` or `repo`."""
        return f"testwright/{self.repo.name}-{target}:{self.digest[:_TAG_DIGITS]}"

    @property
    def arguments(self) -> dict[str, str]:
        """The Dockerfile's arguments: the source as repo.yaml pins it."""
        source = self.repo.source
        return {
            "SOURCE_PACKAGE": source.package,
            "SOURCE_VERSION": source.version,
            "SOURCE_SHA256": source.sha256,
        }

    def lay_out(self, context: Path) -> None:
        """Copy the files to an empty directory: a build that needs another one fails here, not elsewhere."""
        for name, path in self.files.items():
            shutil.copy(path, context / name)


def read_recipe(repo: Repo) -> Recipe:
    """Raises UserError where a file is absent."""
    own = (path.name for pattern in _OWN_FILES for path in repo.directory.glob(pattern))
    names = ["Dockerfile", "run_tests.sh", *sorted(own)]
    files = {name: repo.directory / name for name in names}
    for path in files.values():
        if not path.is_file():
            raise UserError(f"{path}: an image needs it, and it isn't there")
    parts = {name: path.read_bytes() for name, path in files.items()}
    parts["source"] = repo.source.model_dump_json().encode()
    parts["base"] = base_recipe().read_bytes()
    return Recipe(repo, files, digest_of(parts))


def task_tag(task: Task, recipe: Recipe) -> str:
    """A task image follows from the repo's recipe and what is withheld."""
    parts = {
        "recipe": recipe.digest.encode(),
        "withheld.patch": task.patch("withheld.patch"),
        "workdir": task.repo.workdir.encode(),
        "layout": _TASK_LAYOUT.encode(),
    }
    return f"testwright/{task.id}-task:{digest_of(parts)[:_TAG_DIGITS]}"


def digest_of(parts: Mapping[str, bytes]) -> str:
    """sha256 over named parts; no part can pass for another."""
    whole = hashlib.sha256()
    for name, data in sorted(parts.items()):
        whole.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return whole.hexdigest()


def base_recipe() -> Path:
    """The script that makes the base image where none can be pulled."""
    return default_directory() / BASE_RECIPE
