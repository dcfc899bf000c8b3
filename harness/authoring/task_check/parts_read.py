"""The files of a task that each part of its check reads, as a digest for each part that starts containers.

What is remembered of a part, and what a check record says of it, is valid while that digest is the same: a changed
fuzz file leaves the judgings of a task of behaviour as they were.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from harness.authoring.task_check.subject import Subject
from harness.sandbox.images.recipe import digest_of
from harness.specs.task import Task
from harness.specs.task_facts import StepId

_CONTROLS = ("prompt.md", "fuzz/")
_NOT_READ: Mapping[StepId, tuple[str, ...]] = {
    StepId.IMAGE: _CONTROLS,
    StepId.OTHER_COPIES: _CONTROLS,
    StepId.AGENT_VIEW: (),
    StepId.REFERENCE: _CONTROLS,
    StepId.REFERENCE_ONCE: _CONTROLS,
    StepId.NOP: _CONTROLS,
    StepId.WORTHLESS_SUBMISSIONS: _CONTROLS,
    StepId.HONEST_SUITES: (*_CONTROLS, "reference/"),
    StepId.FUZZ: ("prompt.md",),
    StepId.UPSTREAM_TESTS: _CONTROLS,
    StepId.ALTERNATIVE_FIXES: _CONTROLS,
    StepId.WRONG_FIX: _CONTROLS,
    StepId.ACCEPTANCE: _CONTROLS,
}
"""The parts that start containers, and what of a task's files each has nothing to do with."""
Elsewhere = Callable[[Task, StepId], str]
"""A function that gives a digest of what a part reads beside the task's own files; empty where that is nothing."""


def whole_digest(task: Task, _step: StepId) -> str:
    """Return the task's digest, whatever the part: it covers all that can change a verdict."""
    return task.digest


def parts_read(subject: Subject, suites: Path, elsewhere: Elsewhere) -> dict[StepId, str]:
    """Return a digest over all that each part reads of a task.

    Args:
        subject: The task.
        suites: The folder of its honest suites.
        elsewhere: Its track's, for what lies outside the task's folder.

    Raises:
        OSError: A file can't be read.
    """
    task = subject.task
    files = _texts("task", task.directory)
    honest = _texts("honest", suites)
    rubric = subject.rubric.read_bytes() if subject.rubric.is_file() else b""
    digests = {}
    for step, not_read in _NOT_READ.items():
        unread = tuple(f"task/{name}" for name in not_read)
        read = {name: data for name, data in files.items() if not name.startswith(unread)}
        if "fuzz/" not in not_read:
            read["drawing"] = task.drawing.source if task.drawing else b""
        more = honest if step is StepId.HONEST_SUITES else {}
        more = {**more, "rubric": rubric if step is StepId.AGENT_VIEW else must_haves(task)}
        digests[step] = digest_of({**read, **more, "elsewhere": elsewhere(task, step).encode()})
    return digests


def must_haves(task: Task) -> bytes:
    """Return the criteria that verdicts depend on, as they are in the rubric."""
    return json.dumps([item.model_dump(mode="json") for item in task.rubric.must_haves]).encode()


def files_below(directory: Path) -> Iterator[Path]:
    """Return all files of a folder, in order; none where there is no such folder."""
    return (path for path in sorted(directory.rglob("*")) if path.is_file())


def _texts(name: str, folder: Path) -> dict[str, bytes]:
    return {f"{name}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files_below(folder)}
