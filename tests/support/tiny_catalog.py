"""The tiny repo and its task as a catalog on disk, for commands."""

import shutil
from pathlib import Path

import yaml

from harness.specs.catalog_places import default_directory
from harness.specs.task import Task
from tests.support.tiny_repo import RUN_TESTS, tiny_repo, tiny_task


def tiny_catalog(directory: Path, nonce: str, run_tests: str = RUN_TESTS) -> Task:
    """`directory` becomes a catalog of one repo and one task, with the scaffolds that are shipped."""
    task = tiny_task(
        tiny_repo(directory / "repos" / "tiny", nonce=nonce, run_tests=run_tests), directory / "tasks" / "tiny-add"
    )
    (task.directory / "task.yaml").write_text(yaml.safe_dump(task.file.model_dump(mode="json")))
    (task.directory / "prompt.md").write_text("I need tests for add().\n")
    (directory / "rubrics").mkdir()
    rubric = task.rubric.model_dump(mode="json", exclude_none=True)
    (directory / "rubrics" / "tiny-add.yaml").write_text(yaml.safe_dump(rubric))
    shutil.copytree(default_directory() / "scaffolds", directory / "scaffolds")
    return task
