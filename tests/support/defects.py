"""Defects planted in the files of a copied task, and what its check without containers says of them."""

import shutil
from collections.abc import Callable
from pathlib import Path

from harness.authoring.task_check.check import check_tasks
from harness.specs.catalog import Catalog
from harness.specs.problem import Severity
from harness.specs.task_facts import Level

Plant = Callable[[Path], object]
"""A change of the task that lies in a directory."""


def edit(name: str, old: str, new: str) -> Plant:
    def plant(task: Path) -> None:
        text = (task / name).read_text()
        assert old in text
        (task / name).write_text(text.replace(old, new, 1))

    return plant


def write(name: str, text: str) -> Plant:
    def plant(task: Path) -> None:
        (task / name).parent.mkdir(parents=True, exist_ok=True)
        (task / name).write_text(text)

    return plant


def line(name: str, begins: str, text: str) -> Plant:
    """A line of a file that begins so is this one; empty takes it out."""

    def plant(task: Path) -> None:
        lines = (task / name).read_text().splitlines()
        [at] = [number for number, each in enumerate(lines) if each.lstrip().startswith(begins)]
        (task / name).write_text("\n".join([*lines[:at], *filter(None, [text]), *lines[at + 1 :], ""]))

    return plant


def remove(name: str) -> Plant:
    """A file isn't there, or a folder with all that is in it."""

    def plant(task: Path) -> None:
        path = task / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return plant


def errors(task: Path, address: str, catalog: Catalog | None = None) -> list[str]:
    """Return the errors that the check of files alone finds, by paths below the task's directory.

    Args:
        task: Its directory.
        address: What a command calls it.
        catalog: Where it lies; the one of this checkout by default.
    """
    catalog = catalog or Catalog()
    [done] = check_tasks(catalog, {address: Level.QUICK}, 1, lambda task, part: None, lambda done: None)
    shown = f"{task.relative_to(catalog.directory) if task.is_relative_to(catalog.directory) else task}/"
    return [str(problem).removeprefix(shown) for problem in done.problems if problem.severity is Severity.ERROR]
