"""`testwright task split`: a task as two halves, one to publish and one to keep.

The public half has what an agent's work needs. What judges a suite is in the private one alone: removals, probes,
twins, drawn inputs, reference, rubric and honest suites.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.authoring.task_check.honest_corpus import corpus_of
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR

PUBLIC = (Task.DESCRIPTION, "prompt.md", "withheld.patch")
"""Parts of the public half. Upstream has published the withheld tests; without them there is no task image."""


@dataclass(frozen=True)
class Halves:
    """Two catalogs, made where they aren't there yet."""

    public: Path
    private: Path


def split(catalog: Catalog, patterns: Sequence[str], into: Halves, replace: bool = False) -> list[Path]:
    """Write the public and the private half of tasks, and return the directories written.

    The public half's `private_digest` is that of the whole task, so that nobody changes the private half unseen.

    Args:
        catalog: Where the tasks lie.
        patterns: Which of them.
        into: Two catalogs.
        replace: Whether halves that are there may be replaced.

    Raises:
        UserError: A task can't be split or, without `replace`, is there already.
    """
    tasks = catalog.select(patterns)
    for task in tasks:
        if task.track != BEHAVIOUR or task.is_public_half:
            kind = "a public half already" if task.is_public_half else f"of the track {task.track}"
            raise UserError(f"{task.id}: it is {kind}; whole tasks of the track {BEHAVIOUR} can be split")
        for half in (into.public, into.private):
            if (half / "tasks" / task.id).exists() and not replace:
                raise UserError(f"{half / 'tasks' / task.id}: is there already; --replace writes it anew")
    public, private = into.public.resolve(), into.private.resolve()
    if public.is_relative_to(private) or private.is_relative_to(public):
        raise UserError(f"{into.public}: whoever gets this half must not get {into.private}; name two folders apart")
    for half in (into.public, into.private):
        if half.resolve() in {place.directory for place in catalog.places}:
            raise UserError(f"{half}: is the catalog that is split; name two others")
    return [path for task in tasks for path in (*_publish(task, into.public), *_keep(catalog, task, into.private))]


def _publish(task: Task, place: Path) -> Iterator[Path]:
    directory = _emptied(place / "tasks" / task.id)
    for name in PUBLIC:
        shutil.copyfile(task.directory / name, directory / name)
    description = directory / Task.DESCRIPTION
    text = description.read_text().rstrip("\n")
    description.write_text(f"{text}\nprivate_digest: {task.digest}\n")
    yield directory
    repo = _emptied(place / "repos" / task.repo.name)
    shutil.copytree(task.repo.directory, repo, dirs_exist_ok=True)
    yield repo


def _keep(catalog: Catalog, task: Task, place: Path) -> Iterable[Path]:
    home = catalog.holding(task)
    directory, suites = _emptied(place / "tasks" / task.id), corpus_of(home) / task.id
    shutil.copytree(task.directory, directory, dirs_exist_ok=True)
    (place / "rubrics").mkdir(exist_ok=True)
    rubric = f"rubrics/{task.id}.yaml"
    shutil.copyfile(home.directory / rubric, place / rubric)
    written = [directory, place / rubric]
    if suites.is_dir():
        shutil.copytree(suites, _emptied(place / "honest" / task.id), dirs_exist_ok=True)
        written.append(place / "honest" / task.id)
    return written


def _emptied(directory: Path) -> Path:
    if directory.is_dir():
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    return directory
