"""Reading a task of the catalog: its file, its repository, its rubric and its probes."""

from pathlib import Path

from harness.specs.catalog import check_name
from harness.specs.errors import UserError
from harness.specs.loading import load_yaml
from harness.specs.rubric import GradedBy, Rubric
from harness.specs.task import Task, TaskFile
from harness.specs.tracks import TaskCatalog
from harness.specs.variants import VARIANT_NAME


def load_task(directory: Path, catalog: TaskCatalog) -> Task:
    """The task whose `task.yaml` lies in `directory`. Raises UserError."""
    path = directory / Task.DESCRIPTION
    file = load_yaml(path, TaskFile)
    check_name(path, file.id)
    rubric_path = catalog.directory / "rubrics" / f"{file.id}.yaml"
    rubric = load_yaml(rubric_path, Rubric)
    if rubric.task != file.id:
        raise UserError(f"{rubric_path}:1: it is the rubric of {file.id}, but says 'task: {rubric.task}'")
    task = Task(file=file, repo=catalog.repo(file.repo), rubric=rubric, directory=directory)
    _check_probes(task)
    return task


def _check_probes(task: Task) -> None:
    """Every probe file must belong to a criterion that a probe decides."""
    known = {criterion.id for criterion in task.rubric.criteria if GradedBy.PROBE in criterion.graded_by}
    for probe in task.probes:
        if not VARIANT_NAME.fullmatch(probe.name):
            raise UserError(f"{probe.path}: name it CRITERION.patch or CRITERION-SUFFIX.patch; use A-Z a-z 0-9 . _ -")
        if probe.criterion not in known:
            raise UserError(f"{probe.path}: no criterion {probe.criterion!r} graded by probe in the rubric")
