"""Recipes of a repo's images, and the tags computed from them."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.sandbox.images.frames import DOCKERFILE, RUN_SCRIPT, shared_files
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.task import Task

BASE_RECIPE = Path("scripts/base-image")
_TASK_LAYOUT = "3"
"""Version of the files around a task's tree, in the image and in our git directory; another one makes new images."""
_TAG_DIGITS = 12
ARCHIVE = "source.tar"
"""A release that no registry has, however it is compressed."""
_OWN_FILES = ("*.lock", "package.json", "package-lock.json", "*.mjs", ARCHIVE)
"""Files that a Dockerfile may have beside itself and the run script: locks, modules of the latter, an archive."""
_TARGETS = ("dependencies", "repo")


@dataclass(frozen=True)
class Recipe:
    """A repo's recipe: `files` by name are all that a build can see, `digest` is over them and the source pin."""

    repo: Repo
    files: Mapping[str, bytes]
    digest: str

    def tag(self, target: str) -> str:
        """Return the image of a target of the Dockerfile: `dependencies` or `repo`."""
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

    @property
    def steps(self) -> tuple[str, ...]:
        """Digests of the RUN instructions, in one order for all recipes; the same text is the same step."""
        text = re.sub(r"\\\n", "", self.files[DOCKERFILE].decode(errors="replace"))
        found = re.findall(r"(?im)^\s*RUN\s.*", text)
        return tuple(sorted({hashlib.sha256(step.encode()).hexdigest()[:_TAG_DIGITS] for step in found}))

    def lay_out(self, context: Path) -> None:
        """Copy the files to an empty directory: a build that needs another one fails here, not elsewhere."""
        for name, data in self.files.items():
            (context / name).write_bytes(data)
            (context / name).chmod(0o755 if name == RUN_SCRIPT else 0o644)


def read_recipe(repo: Repo) -> Recipe:
    """Read a repository's recipe.

    Raises:
        UserError: A file is absent, or the Dockerfile lacks a target or names what isn't used.
    """
    own = sorted(path for pattern in _OWN_FILES for path in repo.directory.glob(pattern))
    files = shared_files(repo) | {path.name: path.read_bytes() for path in own}
    parts = dict(files)
    parts["source"] = repo.source.as_key()
    parts["base"] = base_recipe().read_bytes()
    recipe = Recipe(repo, files, digest_of(parts))
    _check_dockerfile(recipe, repo.directory / DOCKERFILE)
    return recipe


def _check_dockerfile(recipe: Recipe, path: Path) -> None:
    """Raise UserError for a value that repo.yaml overrides with another one, and for a target that isn't there."""
    text = recipe.files[DOCKERFILE].decode(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        found = re.fullmatch(r"\s*ARG\s+(\w+)=[\"']?(.*?)[\"']?\s*", line, re.IGNORECASE)
        if found and (value := recipe.arguments.get(found[1], found[2])) != found[2]:
            words = f"source.{found[1].removeprefix('SOURCE_').lower()} of repo.yaml is what counts, and it is"
            raise UserError(f"{path}:{number}: {found[1]} is {found[2]!r} here; {words} {value!r}; correct one")
    stages = {name.lower() for name in re.findall(r"(?im)^\s*FROM\s.*\sAS\s+(\S+)", text)}
    for target in _TARGETS:
        if target not in stages:
            raise UserError(f"{path}: has no target {target!r}; a stage must begin with FROM ... AS {target}")


def task_tag(task: Task, recipe: Recipe) -> str:
    """Return a task image follows from the repo's recipe and what is withheld."""
    parts = {
        "recipe": recipe.digest.encode(),
        "withheld.patch": task.patch("withheld.patch"),
        "workdir": task.repo.workdir.encode(),
        "layout": _TASK_LAYOUT.encode(),
    }
    return f"testwright/{task.id}-task:{digest_of(parts)[:_TAG_DIGITS]}"


def digest_of(parts: Mapping[str, bytes]) -> str:
    """Return the sha256 over named parts; no part can pass for another."""
    whole = hashlib.sha256()
    for name, data in sorted(parts.items()):
        whole.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return whole.hexdigest()


def base_recipe() -> Path:
    """Return the script that makes the base image where none can be pulled."""
    return default_directory() / BASE_RECIPE
