"""How the tests of a submission are found in its files: the seam between a track and the reading of suites."""

from pathlib import PurePosixPath
from typing import Protocol

from harness.languages.protocol import Language
from harness.languages.registry import language_of
from harness.sandbox.git_tree import GitTree
from harness.specs.globs import matches
from harness.specs.task import Task
from harness.verify.arms import ArmContext
from harness.verify.inherited_tests import with_inherited
from harness.verify.intake import Intake


class SuiteReader(Protocol):
    """Gives the language that a submission's tests are read in, made for this submission if need be."""

    async def __call__(self, task: Task, intake: Intake, manifest: bytes, context: ArmContext, /) -> Language:
        """May run the submission's tests. Raises SandboxLost, UserError, and TooMuchToRead for what is hostile."""
        ...


MOST_AROUND = 200
"""Files that are read for helpers."""


async def files_around(tree: GitTree, task: Task, intake: Intake, language: Language) -> dict[str, bytes]:
    """Test files of the tree in the folders of the changed ones and above, without those: they may have helpers."""
    changed = {change.path for change in intake.changes}
    folders = {folder for path in changed for folder in PurePosixPath(path).parents}
    near = {
        path: entry
        for path, entry in sorted((await tree.entries()).items())
        if path.endswith(language.suffixes)
        and path not in changed
        and PurePosixPath(path).parent in folders
        and matches(path, task.repo.test_paths)
    }
    return await tree.read_all(dict(list(near.items())[:MOST_AROUND]))


async def by_grammar(task: Task, intake: Intake, _manifest: bytes, context: ArmContext, /) -> Language:
    """That of the task's repository: a test is what its text says, and that of the classes that it inherits from."""
    return await with_inherited(GitTree(context.image.tree), intake.changes, language_of(task.repo))
