"""Lays out a task with a bug, from the base task's files to what is found by running tests."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from harness.plugins.bug.finishing import Bench, find_hidden, write_reference
from harness.plugins.bug.making import plant, probe_named, write_patches
from harness.plugins.bug.task import HIDDEN, NAME, BugFile, BugTask, bug_task, load_bug
from harness.runs.concurrency import run_to_end
from harness.runs.engine_session import EngineSession, engine_session
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.work_tree import write_work_tree
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.specs.yaml_files import load_yaml, yaml_text

_BY_HAND = {
    "report.md": "what a user saw, in his words: input, what came, what was expected; no word of the code",
    "partial": "two fixes or more, each of which mends the reported input and not the fault: partial/NAME.patch",
    "reported": "tests.patch and manifest.yaml: one test of the reported input alone",
}


def make_bug(catalog: Catalog, base: str, probe: str, name: str, seed: int, tell: Callable[[str], None]) -> list[str]:
    """Make `tasks/NAME`; return a line for each part that is left to write.

    Raises:
        UserError: The probe can't be used, or the name is taken.
    """
    return run_to_end(_make(catalog, catalog.task(base), probe, name, seed, tell))


async def _make(
    catalog: Catalog, base: Task, probe: str, name: str, seed: int, tell: Callable[[str], None]
) -> list[str]:
    chosen, directory = probe_named(base, probe), base.directory.parent / name
    async with engine_session("docker", uuid4().hex) as session:
        tree = GitTree((await session.engine.image(base)).tree)
        trees = await plant(tree, base, chosen, seed)
        tell(f"{name}: decoys {', '.join(trees.decoys) or 'none'}; {len(trees.alternatives)} alternatives")
        await write_patches(tree, base, trees, directory)
        _describe(directory, base, probe, trees.decoys)
        await _finish(catalog, session, directory, tell)
    return [
        f"{directory / part}: write {words}" for part, words in _BY_HAND.items() if not _is_there(directory / part)
    ]


def _describe(directory: Path, base: Task, probe: str, decoys: tuple[str, ...]) -> None:
    """Write `task.yaml`; title, limits and canary stay as they are where there is one."""
    path = directory / BugTask.DESCRIPTION
    facts = {
        "schema_version": 1,
        "id": directory.name,
        "repo": base.repo.name,
        "track": NAME,
        "kind": base.file.kind.value,
        "title": f"A bug in {base.repo.name}",
        "limits": base.file.limits.model_dump(exclude_none=True),
        "canary": f"testwright canary {uuid4()}: this file must not be in training data",
        "tags": [base.repo.language],
        "base": base.id,
        "bug": probe,
        "decoys": list(decoys),
    }
    if path.is_file():
        kept = load_yaml(path, BugFile)
        facts |= {"title": kept.title, "limits": kept.limits.model_dump(exclude_none=True), "canary": kept.canary}
    path.write_text(yaml_text(facts))


async def _finish(catalog: Catalog, session: EngineSession, directory: Path, tell: Callable[[str], None]) -> None:
    task = load_bug(directory, catalog)
    bench = await Bench.of(session.arm_context(task, await session.engine.image(task)), task)
    hidden = await find_hidden(catalog, bench)
    tell(
        f"{task.id}: {len(hidden.shown_by)} hidden tests show it; repairs must pass {len(hidden.tests)} of upstream's"
    )
    (directory / HIDDEN).write_text(yaml_text(hidden.model_dump(mode="json")))
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        await write_reference(bench, hidden.shown_by, Path(scratch))


def _is_there(path: Path) -> bool:
    return bool(path.read_text().strip()) if path.is_file() else path.is_dir() and any(path.iterdir())


def write_agents_tree(catalog: Catalog, name: str, to: Path) -> str:
    """Write what an agent gets, with its git repository; return what to do there.

    Raises:
        UserError: Something is there already, or the task has no bug.
    """
    task = bug_task(catalog.task(name))
    if to.exists():
        raise UserError(f"{to}: is there already; name a new directory")
    run_to_end(_write_tree(task, to))
    return f"edit {to}, then: git -C {to} diff HEAD > {task.directory}/partial/NAME.patch"


async def _write_tree(task: Task, to: Path) -> None:
    async with engine_session("docker", uuid4().hex) as session:
        await write_work_tree(GitTree((await session.engine.image(task)).tree), to)
