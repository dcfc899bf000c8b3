"""A catalog with one bug and the task that it was made from, to be spoilt."""

import shutil
from pathlib import Path

from harness.specs.catalog import default_directory

BASE, BUG = "itsdangerous-expiring-tokens", "itsdangerous-clock-ahead"


def bug_catalog(directory: Path) -> Path:
    """Copy both tasks with what they need; return the catalog's folder."""
    built_in = default_directory()
    for name in ("repos/itsdangerous", f"tasks/{BASE}", f"tasks/{BUG}", "scaffolds", "models"):
        shutil.copytree(built_in / name, directory / name)
    (directory / "rubrics").mkdir()
    shutil.copy(built_in / "rubrics" / f"{BASE}.yaml", directory / "rubrics")
    return directory
