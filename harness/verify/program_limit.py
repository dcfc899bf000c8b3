"""How many programs may be built of a suite: each of them is built for every variant of the task."""

from collections.abc import Iterable

from harness.languages.registry import language_of
from harness.specs.errors import UserError
from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.task import Task
from harness.submission.line_manifest import listed_tests
from harness.submission.manifest import ManifestError

MOST = 5
"""Unless the task's own tests need more."""


def too_many_programs(task: Task, tests: Iterable[TestId]) -> Reason | None:
    """The reason to refuse a suite, if more would be built of it and of the tests that it reaches than may be.

    Raises UserError where the task's reference has no manifest that can be read.
    """
    builder = language_of(task.repo).toolchain.suites
    needed = builder.programs(tests) if builder else frozenset()
    if builder is None or len(needed) <= MOST:
        return None
    most = max(MOST, len(builder.programs(_reference_tests(task))))
    if len(needed) <= most:
        return None
    words = f"a program is built for each package with tests: {len(needed)} of them, at most {most} are built"
    return Reason(code=ReasonCode.ARM_LIMIT, stage=Stage.MANIFEST, words=words)


def _reference_tests(task: Task) -> tuple[TestId, ...]:
    path = task.path("reference/manifest.yaml")
    try:
        return listed_tests(path.read_bytes(), language_of(task.repo).ids).tests
    except (OSError, ManifestError) as error:
        raise UserError(f"{path}: {error}") from None
