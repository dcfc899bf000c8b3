"""A task with a repo and a rubric, small enough to read, and the scaffolds of the catalog."""

from pathlib import Path

from harness.specs.catalog_places import default_directory
from harness.specs.repo import Repo
from harness.specs.rubric import Rubric
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task, TaskFile
from harness.specs.yaml_files import load_yaml


def small_task(directory: Path, **limits: float) -> Task:
    """`directory` gets the task's prompt; the reference is the test's to write. `limits` are of the trial."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "prompt.md").write_text("I need tests for add().\n")
    repo = Repo.model_validate(
        {
            "name": "sums",
            "language": "python",
            "upstream": "https://example.invalid/sums",
            "version": "1.0",
            "licence": "MIT",
            "source": {"kind": "pypi", "package": "sums", "version": "1.0", "sha256": "0" * 64},
            "report": "junit",
            "test_paths": ["tests/**"],
        }
    )
    criterion = {
        "id": "1.1",
        "axis": 1,
        "importance": "must",
        "statement": "Adds two numbers.",
        "graded_by": ["probe"],
    }
    return Task(
        file=TaskFile.model_validate(
            {"id": "sums-add", "repo": "sums", "kind": "unit", "title": "add", "limits": limits}
        ),
        repo=repo,
        rubric=Rubric.model_validate({"task": "sums-add", "criteria": [criterion]}),
        directory=directory,
    )


def scaffold(name: str, **limits: int) -> Scaffold:
    """One of the catalog's, with other limits where given."""
    directory = default_directory() / "scaffolds" / name
    found = load_yaml(directory / "scaffold.yaml", Scaffold)
    changed = found.limits.model_copy(update=limits)
    return found.model_copy(update={"directory": directory, "limits": changed})
