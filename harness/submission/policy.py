"""Which paths a submission may touch, and which make its patch invalid."""

import unicodedata
from collections.abc import Iterable

from harness.specs.globs import matches
from harness.specs.repo import Repo

BUILD_PRODUCTS = ("**/__pycache__/**", "**/*.pyc", "**/*.pyo", "**/.pytest_cache/**", "**/node_modules/**")
"""Never part of a submission: code that was compiled somewhere else."""


MAX_PATH_BYTES = 1_000
MAX_NAME_BYTES = 200


def unsafe(path: str) -> str:
    """Why a path must not be in a patch, or an empty string."""
    parts = path.split("/")
    if path.startswith("/") or "\\" in path:
        return "is not relative to the repository"
    if ".." in parts or "." in parts or "" in parts:
        return "leaves the repository or is not in its shortest form"
    if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        return "is too long"
    if any(len(part.encode("utf-8", "surrogateescape")) > MAX_NAME_BYTES for part in parts):
        return "has a name that is too long"
    if any(part.lower().rstrip(". ") == ".git" for part in parts):
        return "lies inside .git"
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in path):
        return "has control or invisible characters"
    return ""


def is_runner_file(repo: Repo, path: str) -> bool:
    """Whether the path steers how tests are run, so that no submission may change it."""
    return matches(path, repo.runner_files) or matches(path, BUILD_PRODUCTS)


def is_test_path(repo: Repo, path: str) -> bool:
    return matches(path, repo.test_paths) and not is_runner_file(repo, path)


def case_collision(path: str, others: Iterable[str]) -> str | None:
    """Another path that a file system which ignores case would take for this one."""
    folded = path.casefold()
    return next((other for other in others if other != path and other.casefold() == folded), None)
