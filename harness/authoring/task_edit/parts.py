"""The parts of a task that are patches: where each lies, what it applies to, what it may change."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from harness.authoring.task_check.honest_corpus import corpus_of
from harness.languages.registry import language_at
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.images.record import image_place
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.patch_error import PatchError
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.globs import matches
from harness.specs.repo import Repo
from harness.specs.rubric import GradedBy
from harness.specs.task import Task

_WHOLE = {
    "withheld": "withheld.patch",
    "removal": "removal.patch",
    "garbage": "garbage.patch",
    "placebo": "placebo.patch",
    "reference": "reference/tests.patch",
}
_HONEST = re.compile(r"honest/([A-Za-z0-9][A-Za-z0-9._-]*)")
_NAMED = re.compile(r"(probes|twins|probes-on-placebo)/([1-5]\.\d{1,2}(?:-[a-z])?(?:_\d)?)")


@dataclass(frozen=True)
class EditedPart:
    """One patch of a task. `tests` says whether it changes tests or production code."""

    task: Task
    name: str
    path: Path
    tests: bool

    def allows(self, path: str) -> bool:
        """Files that list tests for a build, in no language of ours, go with withheld tests."""
        if self.name == "withheld" and language_at(path) is None:
            return True
        return matches(path, self.task.repo.test_paths) is self.tests


def part_of(catalog: Catalog, task: Task, name: str) -> EditedPart:
    """Raises UserError for a name that is no part, with one that is written alike."""
    name = name.removesuffix(".patch")
    if name in _WHOLE:
        return EditedPart(task, name, task.directory / _WHOLE[name], name in ("withheld", "reference"))
    if found := _NAMED.fullmatch(name):
        _check_criterion(task, found[2].partition("-")[0].partition("_")[0])
        return EditedPart(task, name, task.directory / found[1] / f"{found[2]}.patch", False)
    if found := _HONEST.fullmatch(name):
        return EditedPart(task, name, corpus_of(catalog) / task.id / found[1] / "patch.diff", True)
    known = [*_WHOLE, "probes/1.1", "twins/1.1", "probes-on-placebo/1.1", "honest/a-thorough"]
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    raise UserError(f"unknown part {name!r} of a task; {hint}")


def _check_criterion(task: Task, criterion: str) -> None:
    """Raises UserError for a criterion that no probe decides: nobody could load the task then."""
    if not any(item.id == criterion and GradedBy.PROBE in item.graded_by for item in task.rubric.criteria):
        place = task.directory.parent.parent / "rubrics" / f"{task.id}.yaml"
        raise UserError(f"{place}: no criterion {criterion} that is graded by probe; write it first")


async def base_of(part: EditedPart, made: Mapping[Path, bytes] = MappingProxyType({})) -> tuple[GitTree, str]:
    """The git directory and the tree that the part's patch applies to. Raises UserError, ImageUnavailable.

    `made` are patches that aren't written yet, by where they will lie.
    """
    upstream = await upstream_tree(part.task.repo)
    if part.name == "withheld":
        return upstream, "HEAD"
    base = await applied(upstream, "HEAD", part.task.directory / "withheld.patch", made)
    if not part.name.startswith("probes-on-placebo/"):
        return upstream, base
    placebo = part.task.directory / "placebo.patch"
    if not (placebo in made or placebo.is_file()):
        raise UserError(f"{placebo}: is missing, and {part.name} lies upon it; write it first: task edit ID placebo")
    return upstream, await applied(upstream, base, placebo, made)


async def upstream_tree(repo: Repo) -> GitTree:
    """That of the repository's image: as it was kept when the image was built, else of one that is built now."""
    place = image_place(read_recipe(repo).tag("repo"))
    return GitTree(place.tree if place.record() else (await repo_image(repo)).tree)


async def applied(tree: GitTree, onto: str, path: Path, made: Mapping[Path, bytes] = MappingProxyType({})) -> str:
    """The tree that a patch makes: what `made` has for its path, else the file. Raises UserError where it doesn't."""
    try:
        return await tree.apply(made[path] if path in made else path.read_bytes(), onto=onto)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    except PatchError as error:
        raise UserError(f"{path}: it doesn't apply: {error}; start it anew with --anew") from None
