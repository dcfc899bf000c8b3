"""Check records: what a full check of a task showed, and of which version of the task."""

from pathlib import Path

from harness import PROTOCOL_VERSION, __version__
from harness.specs.errors import UserError
from harness.specs.loading import FileModel, load_yaml
from harness.specs.problem import Problem
from harness.specs.task import Task
from harness.specs.task_facts import CheckedStep, Counts, Level, StepId, TaskCheck

REFERENCE_TIMES = 3
_AGAIN = "run make check-tasks"


class CheckRecord(FileModel):
    """`ID.json`, written for a task that passed a full check. Its problems are warnings."""

    task: str
    task_digest: str
    image_digest: str
    isolation: str
    protocol_version: int
    harness_version: str
    seconds: float
    counts: Counts
    steps: tuple[CheckedStep, ...]

    @property
    def reference_seconds(self) -> float:
        """Of one judging of the reference."""
        return sum(step.seconds / REFERENCE_TIMES for step in self.steps if step.id is StepId.REFERENCE)


def check_record_of(check: TaskCheck) -> CheckRecord:
    return CheckRecord(
        task=check.task,
        task_digest=check.task_digest,
        image_digest=check.image_digest,
        isolation=check.isolation,
        protocol_version=PROTOCOL_VERSION,
        harness_version=__version__,
        seconds=round(check.seconds, 1),
        counts=check.counts,
        steps=check.steps,
    )


def write_check_record(directory: Path, check: TaskCheck) -> bool:
    """Only of a full check that a task passed; whether it was."""
    if check.level is not Level.FULL or not check.passed:
        return False
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{check.task}.json").write_text(check_record_of(check).model_dump_json(indent=2) + "\n")
    return True


def read_check_record(directory: Path, task: str) -> CheckRecord | None:
    """None where there is none. Raises UserError for a file that is no check record."""
    path = directory / f"{task}.json"
    return load_yaml(path, CheckRecord) if path.is_file() else None


def check_record_problems(directory: Path, task: Task) -> list[Problem]:
    """One line where a task has no check record, or one of another version of it."""
    where = f"{directory}/{task.id}.json"
    try:
        record = read_check_record(directory, task.id)
    except UserError as error:
        return [Problem(where=where, message=f"{str(error).partition(': ')[2]}; {_AGAIN}")]
    if record is None:
        return [Problem(where=where, message=f"is missing: the task was never checked in full; {_AGAIN}")]
    if record.task_digest != task.digest:
        words = f"its digest is not the task's, which has changed since it was checked in full; {_AGAIN}"
        return [Problem(where=f"{where}:4", message=words)]
    if record.protocol_version != PROTOCOL_VERSION:
        words = f"it was checked under protocol {record.protocol_version}, and this is {PROTOCOL_VERSION}; {_AGAIN}"
        return [Problem(where=where, message=words)]
    return []
