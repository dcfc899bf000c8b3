"""Where each page lies in the site's folder, and how one is linked to from another."""

from pathlib import Path, PurePosixPath
from urllib.parse import quote

from harness.analysis.rows import TrialRow
from harness.runs.plan import slug

FRONT, TASKS = "index.html", "tasks.html"


def tasks_page(number: int) -> str:
    """The matrix of tasks, from 1."""
    return TASKS if number == 1 else f"tasks-{number}.html"


def task_page(task: str) -> str:
    return f"tasks/{task}.html"


def trial_page(run: str, trial: TrialRow, part: int = 1) -> str:
    """`run` is empty where the site has one run. Further parts have the rest of a long trajectory."""
    more = "" if part == 1 else f"-part-{part}"
    return str(PurePosixPath("trials", run, f"{trial.trial}{more}.html"))


def file_of(page: str, name: str) -> str:
    """A text file that belongs to a page."""
    return f"files/{page.removesuffix('.html')}/{name}"


def comparison_page(first: str, second: str) -> str:
    return f"compare/{slug(first)}-and-{slug(second)}.html"


def flip_page(first: str, second: str, task: str) -> str:
    return f"compare/{slug(first)}-and-{slug(second)}/{task}.html"


def link(page: str) -> str:
    """A page's path as part of a URL, relative to the site's folder."""
    return quote(page)


def root_of(page: str) -> str:
    """What leads from a page to the site's folder: `../../`, or nothing."""
    return "../" * page.count("/")


def run_names(directories: list[Path]) -> list[str]:
    """A name for each run: the last part of its path, numbered where several have it."""
    found: list[str] = []
    for directory in directories:
        plain = slug(directory.resolve().name) or "run"
        number, name = 1, plain
        while name in found:
            number += 1
            name = f"{plain}-{number}"
        found.append(name)
    return found
