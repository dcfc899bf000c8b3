"""Tasks as folders that Harbor reads, and a job file that has our sandbox and our verifier in it.

The form is that of Harbor 0.26 (`harbor.models.task`, schema version 1.4).
"""

import json
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from harness import __version__
from harness.plugins.frameworks.instructions import instruction
from harness.runs.concurrency import run_to_end
from harness.runs.records import write_whole
from harness.sandbox.abilities import StoringEngine
from harness.sandbox.options import ContainerRole
from harness.sandbox.protocol import AGENT_LOGS
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.tracks.registry import choose_engine, track_of

ENVIRONMENT = "harness.plugins.frameworks.harbor_environment:TestwrightEnvironment"
VERIFIER = "harness.plugins.frameworks.harbor_verifier:TestwrightVerifier"
JOB = "job.yaml"
SCAFFOLD = "mini"
"""The scaffold whose request an agent of Harbor gets."""
_VERIFIER_SECONDS = 3600
_TEST = """\
#!/bin/sh
# Nothing is judged in the agent's container, where the agent could write the reward itself.
echo "testwright: no verdict here: run this task with harbor run -c job.yaml" >&2
exit 1
"""
_SOLVE = """\
#!/bin/sh
set -e
cd {workdir}
git apply /solution/tests.patch
cp /solution/manifest.yaml {logs}/manifest.yaml
"""


def write_tasks(catalog: Catalog, patterns: Sequence[str], directory: Path, with_solutions: bool) -> dict[str, str]:
    """Write a folder for each task, and the job file. Makes the tasks' images.

    Args:
        catalog: Where the tasks are, and where Harbor's verifier finds them again.
        patterns: Ids, globs or tags of tasks.
        directory: Folder to write into.
        with_solutions: Write the reference submission of each as its solution.

    Returns:
        Image by task.

    Raises:
        UserError: A file can't be written, or a task has what Harbor has no way for.
        ImageUnavailable: An image can't be made.
    """
    tasks = catalog.select(patterns)
    for task in tasks:
        _check(task)
    images = run_to_end(_images(tasks))
    for task in tasks:
        files = task_files(catalog.scaffold(SCAFFOLD), task, images[task.id])
        for name, text in {**files, **(_solution(task) if with_solutions else {})}.items():
            _write(directory / task.id / name, text)
        (directory / task.id / "environment").mkdir(exist_ok=True)
    _write(directory / JOB, _job(directory.absolute() / task.id for task in tasks))
    return images


def _check(task: Task) -> None:
    """Refuse what Harbor has no way for, and what its verifier wouldn't find again. Raises UserError."""
    if task.registries:
        raise UserError(f"{task.id}: its agents may reach package registries, to which Harbor has no way")
    place = task.directory.absolute().parents[1]
    if not (place / "tasks").is_dir() or task.id not in Catalog(place).names("tasks"):
        raise UserError(f"{task.id}: not a task of a catalog; Harbor's verifier wouldn't find it again")


async def _images(tasks: Iterable[Task]) -> dict[str, str]:
    engine, images = choose_engine("docker"), {}
    try:
        for task in tasks:
            image = await engine.image(task)
            images[task.id] = image.reference
            if isinstance(engine, StoringEngine):
                engine.release(image)
    finally:
        await engine.close()
    return images


def task_files(scaffold: Scaffold, task: Task, image: str) -> dict[str, str]:
    """Return a task's files by their paths in its folder."""
    return {
        "task.toml": _toml(task, image),
        "instruction.md": instruction(task, scaffold, task.file.limits, counts_answers=False),
        "tests/test.sh": _TEST,
    }


def _solution(task: Task) -> dict[str, str]:
    reference = task.directory / "reference"
    try:
        files = {f"solution/{name}": (reference / name).read_text() for name in ("tests.patch", "manifest.yaml")}
    except OSError as error:
        raise UserError(
            f"{reference}: no reference ({error.strerror or error}); export without --solutions"
        ) from None
    return {**files, "solution/solve.sh": _SOLVE.format(workdir=shlex.quote(task.repo.workdir), logs=AGENT_LOGS)}


def _toml(task: Task, image: str) -> str:
    limits = track_of(task).options(task, ContainerRole.AGENT).limits
    place = task.directory.absolute().parents[1]
    catalog = "" if place == default_directory() else str(place)
    tables: dict[str, dict[str, object]] = {
        "task": {"name": f"testwright/{task.id}", "description": task.file.title, "keywords": list(task.file.tags)},
        "metadata": {"testwright": __version__, "task": task.id, "digest": task.digest, "catalog": catalog},
        "agent": {"timeout_sec": float(task.file.limits.wall_seconds)},
        "verifier": {"timeout_sec": float(_VERIFIER_SECONDS)},
        "environment": {
            "docker_image": image,
            "network_mode": "no-network",
            "workdir": task.repo.workdir,
            "cpus": limits.cpus,
            "memory_mb": limits.memory_mb,
            "storage_mb": limits.disk_mb,
        },
    }
    lines = ['schema_version = "1.4"']
    for name, values in tables.items():
        # What JSON writes of texts, numbers and lists of texts means the same in TOML.
        lines += [
            "",
            f"[{name}]",
            *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()),
        ]
    return "\n".join(lines) + "\n"


def _job(tasks: Iterable[Path]) -> str:
    told = {
        "environment": {"import_path": ENVIRONMENT},
        "verifier": {"import_path": VERIFIER},
        "tasks": [{"path": str(task)} for task in tasks],
    }
    return yaml.safe_dump(told, sort_keys=False)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
        if path.suffix == ".sh":
            path.chmod(0o755)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
