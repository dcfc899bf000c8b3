"""Intake: decides which part of a patch is judged. Runs nothing of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.judging.submission import policy
from harness.judging.submission.extraction import MAX_CHANGED_BYTES
from harness.judging.submission.policy import DamagedPatch, unpacked_bytes
from harness.sandbox.git import GitTooMuchWork, PatchError
from harness.sandbox.git_tree import Change, GitTree
from harness.specs.reasons import Note, NoteCode, Reason, ReasonCode, Stage
from harness.specs.repo import Repo

MAX_PATCH_BYTES = 5_000_000
MAX_FILES = 500
MAX_FILE_BYTES = 2_000_000
MAX_UNPACKED_BYTES = 2 * MAX_CHANGED_BYTES
"""Bytes of a patch's binary changes, in both directions, and of the files that it starts from."""
REGULAR_MODES = ("100644", "100755")


@dataclass(frozen=True)
class FileChange:
    """A file of the tests before and after the submission. `old` or `new` is None where the file is absent."""

    path: str
    old: bytes | None
    new: bytes | None
    executable: bool = False


@dataclass(frozen=True)
class Intake:
    """The part of a submission that is judged: changes below the repo's test paths, sorted by path.

    `patch` is that part as a patch; with `reasons` there is nothing more to judge.
    """

    changes: tuple[FileChange, ...] = ()
    patch: bytes = b""
    notes: tuple[Note, ...] = ()
    reasons: tuple[Reason, ...] = ()

    @property
    def files(self) -> dict[str, bytes]:
        """The files that are written over the tree: path -> bytes."""
        return {change.path: change.new for change in self.changes if change.new is not None}

    @property
    def deleted(self) -> tuple[str, ...]:
        """Paths of the files that the submission takes away."""
        return tuple(change.path for change in self.changes if change.new is None)


class _Refused(Exception):
    def __init__(self, code: ReasonCode, words: str, subject: str = "") -> None:
        super().__init__(words)
        self.reason = Reason(code=code, stage=Stage.INTAKE, subject=_shown(subject), words=words)


async def ingest(tree: GitTree, repo: Repo, patch: bytes) -> Intake:
    """Check a patch against the pristine tree, and leave out what isn't a test.

    Args:
        tree: The task's.
        repo: Its test paths say what is a test.
        patch: Hostile bytes; caps on size, paths and modes are applied here.

    Returns:
        The changes that are judged, or the reasons why none are.

    Raises:
        GitFailed: Git or this machine fails. A patch is only refused for what it is itself.
    """
    outside: list[str] = []
    try:
        paths = await _paths(tree, patch)
        outside += _stripped(repo, paths)
        applied = await tree.changes(await _apply(tree, patch, outside))
        # Only now is the other end of a rename seen: git's patch commands know the new name alone.
        outside += _stripped(repo, [change.path for change in applied])
        changes = [change for change in applied if change.path not in outside]
        await _check(tree, changes)
        judged = await tree.with_entries({change.path: change.new for change in changes})
        return Intake(
            changes=await _read(tree, changes),
            patch=await tree.diff(judged),
            notes=_notes(repo, outside),
        )
    except _Refused as refused:
        return Intake(notes=_notes(repo, outside), reasons=(refused.reason,))
    except GitTooMuchWork as error:
        reason = Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.INTAKE, words=str(error))
        return Intake(notes=_notes(repo, outside), reasons=(reason,))


async def _paths(tree: GitTree, patch: bytes) -> list[str]:
    if not patch.strip():
        raise _Refused(ReasonCode.EMPTY_SUBMISSION, "the patch is empty")
    if len(patch) > MAX_PATCH_BYTES:
        raise _Refused(ReasonCode.PATCH_TOO_LARGE, f"the patch has more than {MAX_PATCH_BYTES} bytes")
    if patch.count(b"\n+++ ") + patch.count(b"\ndiff --git ") > 4 * MAX_FILES:
        raise _Refused(ReasonCode.PATCH_TOO_LARGE, f"the patch touches more than {MAX_FILES} files")
    if reason := unpacking_fault(patch):
        raise _Refused(reason.code, reason.words)
    try:
        paths = await tree.touched(patch)
        read = await tree.touched(patch, reverse=True)
    except PatchError as error:
        if error.is_unsafe:
            raise _Refused(ReasonCode.UNSAFE_PATH, "the patch names a path outside the repository") from None
        words = f"this is not a patch that git can read: {_words(error)}"
        raise _Refused(ReasonCode.PATCH_DOES_NOT_APPLY, words) from None
    for path in [*paths, *read]:
        if fault := policy.unsafe(path):
            raise _Refused(ReasonCode.UNSAFE_PATH, f"the path {fault}", path)
    if len(paths) > MAX_FILES:
        raise _Refused(ReasonCode.PATCH_TOO_LARGE, f"the patch touches more than {MAX_FILES} files")
    await _check_read(tree, read)
    return paths


def unpacking_fault(patch: bytes) -> Reason | None:
    """Return why git must not be given this patch.

    Its binary changes would fill this machine's memory when unpacked.
    """
    try:
        size = unpacked_bytes(patch)
    except DamagedPatch as error:
        words = f"this is not a patch that git can read: {error}"
        return Reason(code=ReasonCode.PATCH_DOES_NOT_APPLY, stage=Stage.INTAKE, words=words)
    if size <= MAX_UNPACKED_BYTES:
        return None
    words = f"the binary changes in the patch unpack to {size} bytes, more than {MAX_UNPACKED_BYTES}"
    return Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.INTAKE, words=words)


async def _check_read(tree: GitTree, paths: list[str]) -> None:
    """Refuse copies of too much.

    A copy takes one line and makes a file, so its source counts each time it is named.
    """
    entries = await tree.entries()
    sizes = await tree.sizes({path: entries[path] for path in paths if path in entries})
    if (total := sum(sizes.get(path, 0) for path in paths)) > MAX_UNPACKED_BYTES:
        words = f"the patch starts from files of {total} bytes, more than {MAX_UNPACKED_BYTES}"
        raise _Refused(ReasonCode.PATCH_TOO_LARGE, words)


def _stripped(repo: Repo, paths: list[str]) -> list[str]:
    return [path for path in paths if not policy.is_test_path(repo, path)]


def _notes(repo: Repo, outside: Iterable[str]) -> tuple[Note, ...]:
    return tuple(_note(repo, path) for path in sorted(set(outside)))


def _note(repo: Repo, path: str) -> Note:
    code, words = NoteCode.PRODUCTION_EDIT, "lies outside the repository's test paths"
    if policy.is_runner_file(repo, path):
        code, words = NoteCode.RUNNER_EDIT, "changes how tests are run"
    return Note(code=code, subject=_shown(path), words=f"{words}; this file was left out of the judging")


async def _apply(tree: GitTree, patch: bytes, stripped: list[str]) -> str:
    try:
        return await tree.apply(patch, exclude=stripped)
    except PatchError as error:
        code = ReasonCode.UNSAFE_PATH if error.is_unsafe else ReasonCode.PATCH_DOES_NOT_APPLY
        raise _Refused(code, f"the patch does not apply to the task's tree: {_words(error)}") from None


def _words(error: PatchError) -> str:
    return str(error).replace(error.path, _shown(error.path)) if error.path else str(error)


async def _check(tree: GitTree, changes: list[Change]) -> None:
    if not changes:
        raise _Refused(ReasonCode.EMPTY_SUBMISSION, "nothing below the repository's test paths is added or changed")
    base = set(await tree.entries())
    everything = [*base, *(change.path for change in changes)]
    folders = {parent.as_posix() for path in base for parent in PurePosixPath(path).parents}
    for change in changes:
        above = {parent.as_posix() for parent in PurePosixPath(change.path).parents}
        if above & base or (change.new and change.path in folders):
            words = "it turns a file into a folder, or a folder into a file"
            raise _Refused(ReasonCode.UNSAFE_PATH, words, change.path)
        if change.new and change.new.mode not in REGULAR_MODES:
            raise _Refused(ReasonCode.UNSAFE_PATH, "it is a link or a submodule, not a regular file", change.path)
        if change.old and change.new and change.old.mode != change.new.mode:
            raise _Refused(ReasonCode.UNSAFE_PATH, "its file mode is changed", change.path)
        if other := policy.case_collision(change.path, everything):
            raise _Refused(ReasonCode.UNSAFE_PATH, f"it differs from {_shown(other)} only in case", change.path)


async def _read(tree: GitTree, changes: list[Change]) -> tuple[FileChange, ...]:
    old = await tree.read_all({change.path: change.old for change in changes if change.old})
    new = await tree.read_all({change.path: change.new for change in changes if change.new})
    for path, data in new.items():
        if len(data) > MAX_FILE_BYTES:
            raise _Refused(ReasonCode.PATCH_TOO_LARGE, f"the file has more than {MAX_FILE_BYTES} bytes", path)
    return tuple(
        FileChange(change.path, old.get(change.path), new.get(change.path), _is_executable(change))
        for change in sorted(changes)
    )


def _is_executable(change: Change) -> bool:
    return bool(change.new and change.new.mode == "100755")


def _shown(path: str) -> str:
    """Return a path as it may stand in a verdict: nothing in it acts on a terminal."""
    return path.encode("unicode_escape", "surrogateescape").decode() if policy.unsafe(path) else path


def by_path(changes: tuple[FileChange, ...]) -> Mapping[str, FileChange]:
    """Return changes by their paths."""
    return {change.path: change for change in changes}
