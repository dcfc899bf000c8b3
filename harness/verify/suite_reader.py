"""How the tests of a submission are found in its files: the seam between a track and the reading of suites."""

from typing import Protocol

from harness.languages.protocol import Language
from harness.languages.registry import language_of
from harness.specs.task import Task
from harness.verify.arms import ArmContext
from harness.verify.intake import Intake


class SuiteReader(Protocol):
    """Gives the language that a submission's tests are read in, made for this submission if need be."""

    async def __call__(self, task: Task, intake: Intake, manifest: bytes, context: ArmContext, /) -> Language:
        """May run the submission's tests. Raises SandboxLost, UserError."""
        ...


async def by_grammar(task: Task, _intake: Intake, _manifest: bytes, _context: ArmContext, /) -> Language:
    """That of the task's repository: a test is what its text says."""
    return language_of(task.repo)
