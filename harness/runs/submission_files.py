"""The files of a submission in a trial's directory: their room on the disk, their sums, and how they are read again.

They are `submission/patch.diff`, `submission/manifest.yaml`, `submission/refusal.txt` and the trial's `agent.json`.
"""

import errno
import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.agents.trajectory import EndRecord
from harness.judging.submission.extraction import Submission
from harness.runs.finished_work import AgentFile
from harness.runs.records import MANIFEST, PATCH, give_back, is_there, reserve, write_whole
from harness.specs.errors import ToolFailed

_ROOM_FOR_A_RECORD = 1 << 16
_REFUSAL = "refusal.txt"


class SubmissionDamaged(Exception):
    """A file that an agent handed in is gone, can't be read or isn't what was written. It is never judged."""


@dataclass(frozen=True)
class SubmissionFiles:
    """The submission of one trial. `directory` is the trial's."""

    directory: Path

    @property
    def _folder(self) -> Path:
        return self.directory / "submission"

    @property
    def _with_room(self) -> tuple[Path, Path, Path]:
        return self._folder / PATCH, self._folder / MANIFEST, self.directory / "agent.json"

    @property
    def are_begun(self) -> bool:
        """Return whether any file of a submission is there."""
        return any(is_there(self._folder / name) for name in (PATCH, MANIFEST, _REFUSAL))

    def reserve(self, largest_patch: int, largest_manifest: int) -> None:
        """Take room for a submission, so that a disk that fills up doesn't have an agent paid twice.

        Raises:
            ToolFailed: There is no room.
        """
        sizes = dict(zip(self._with_room, (largest_patch, largest_manifest, _ROOM_FOR_A_RECORD), strict=True))
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for path, size in sizes.items():
                reserve(path, size)
        except OSError as error:
            self.give_back()
            words = error.strerror or str(error)
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                words += f": no room for a submission of up to {sum(sizes.values()) / 1e6:.0f} MB"
            raise ToolFailed(f"{self.directory}: {words}; make room or name another disk with -o") from error

    def give_back(self) -> None:
        """Let go of the room that no submission has used."""
        for path in self._with_room:
            give_back(path)
        with suppress(OSError):  # it is there no longer, or has a submission
            self._folder.rmdir()

    def keep(self, submission: Submission, agent: AgentFile) -> None:
        """Write the manifest after patch and refusal, and `agent.json` last: once it is there, the agent is done."""
        self._folder.mkdir(exist_ok=True)
        write_whole(self._folder / PATCH, submission.patch)
        if submission.refusal:
            write_whole(self._folder / _REFUSAL, submission.refusal)
        write_whole(self._folder / MANIFEST, submission.manifest)
        sums = {"patch_sha256": _sha256(submission.patch), "manifest_sha256": _sha256(submission.manifest)}
        whole = agent.model_copy(update={"refusal": submission.refusal, **sums})
        write_whole(self.directory / "agent.json", whole.model_dump_json(indent=2) + "\n")

    def read(self, agent: AgentFile | None) -> Submission:
        """Return what was handed in.

        Args:
            agent: Its record, which has the files' sums; without it they are taken as they are.

        Raises:
            SubmissionDamaged: A file is gone, can't be read or has another sum.
        """
        sums = dict(agent.sums()) if agent else {}
        patch, manifest = (self._part(name, sums.get(name, "")) for name in (PATCH, MANIFEST))
        return Submission(patch, manifest, agent.refusal if agent else "")

    def _part(self, name: str, sha256: str) -> bytes:
        path = self._folder / name
        gone = f"put it back from a copy; only without one remove {self.directory}, and its agent is paid again"
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise SubmissionDamaged(f"{path}: it is gone; {gone}") from None
        except OSError as error:
            remedy = "make it readable, and start again; the agent's work isn't lost"
            raise SubmissionDamaged(f"{path}: {error.strerror or error}; {remedy}") from None
        if sha256 and _sha256(data) != sha256:
            raise SubmissionDamaged(f"{path}: it isn't what was handed in (sha256 in agent.json); {gone}")
        return data

    def damaged(self, agent: AgentFile) -> list[str]:
        """Return which of them aren't what was handed in, as far as `agent` says."""
        return [name for name, sha256 in agent.sums() if not _is_as_written(self._folder / name, sha256)]

    def recovered(self, identity: str, end: EndRecord) -> AgentFile | None:
        """Rebuild a damaged `agent.json` from the trajectory's end; None where patch or manifest is missing."""
        if not all(is_there(self._folder / name) for name in (PATCH, MANIFEST)):
            return None
        refusal = self._folder / _REFUSAL
        return AgentFile(
            identity=identity,
            ending=end.ending,
            message=end.message,
            steps=end.steps,
            usage=end.usage,
            seconds=round(end.counted_seconds + end.waiting_seconds, 3),
            refusal=refusal.read_text() if is_there(refusal) else "",
            counted_seconds=end.counted_seconds,
            model_seconds=end.model_seconds,
            waiting_seconds=end.waiting_seconds,
            failed_requests=end.failed_requests,
            format_errors=end.format_errors,
        )


def _is_as_written(path: Path, sha256: str) -> bool:
    """Return whether a file has this sum; not where it can't be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except OSError:
        return False


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
