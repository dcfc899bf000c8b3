"""The files that a patch of a published task touches, as far as the patch itself tells."""

from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from harness.authoring.published_check.nearest import last_part
from harness.specs.errors import UserError
from harness.specs.task import Task


@dataclass(frozen=True)
class Patched:
    """`text` is all of a new file; of another one the lines that the patch shows, context included."""

    path: str
    is_new: bool
    is_gone: bool
    text: bytes

    def shows(self, test: str) -> bool:
        """Whether the last part of a test's name stands in the text."""
        return last_part(test).encode() in self.text


def patched_files(task: Task, part: str) -> dict[str, Patched]:
    """By path. Raises UserError for what is no unified diff."""
    text = task.patch(part).decode("utf-8", "surrogateescape")
    try:
        return {file.path: _patched(file) for file in PatchSet(text)}
    except UnidiffParseError as error:
        raise UserError(f"{task.path(part)}: not a unified diff: {error}") from None


def _patched(file: PatchedFile) -> Patched:
    lines = [line.value for hunk in file for line in hunk if not line.is_removed]
    headings = [] if file.is_added_file else [f"{hunk.section_header}\n" for hunk in file]
    text = "".join([*headings, *lines]).encode("utf-8", "surrogateescape")
    return Patched(file.path, file.is_added_file, file.is_removed_file, text)
