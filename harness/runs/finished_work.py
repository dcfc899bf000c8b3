"""An agent's finished work: `agent.json`, and work that couldn't be read, which is kept for a later start.

The work is paid even if the cache's disk is full or a tool fails; the run's directory may be on another disk.
"""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from harness.judging.submission.extraction import MAX_EXPORT_BYTES
from harness.runs.records import MANIFEST, PATCH, naming, read_record, write_whole
from harness.sandbox.archives import capped
from harness.sandbox.protocol import AGENT_LOGS, Sandbox
from harness.specs.usage import Usage
from harness.specs.yaml_files import FileModel

_CHUNK = 1 << 20
_WHOLE = "agent.json"


class AgentFile(FileModel):
    """`agent.json`: written once the submission is safely on disk. The agent is never paid again after that.

    `identity` is the trial's. `message` says more of an ending than its name. `seconds` is wall time, with the
    sandbox's start and the reading of the submission. `counted_seconds` is what the agent's clock showed,
    `model_seconds` the part of it in which a model composed an answer; `waiting_seconds` of failed requests and rate
    limits are in neither. `format_errors` are malformed calls; null where the agent doesn't tell of them.
    `patch_sha256` and `manifest_sha256` are of the files in `submission/`; earlier versions didn't write them.
    """

    identity: str = ""
    ending: str
    message: str = ""
    steps: int
    usage: Usage
    seconds: float
    refusal: str = ""
    remarks: tuple[str, ...] = ()
    counted_seconds: float = 0.0
    model_seconds: float = 0.0
    waiting_seconds: float = 0.0
    failed_requests: int = 0
    format_errors: int | None = None
    patch_sha256: str = ""
    manifest_sha256: str = ""

    def sums(self) -> Iterator[tuple[str, str]]:
        """Yield each file in `submission/` whose sha256 is known, and that."""
        if self.patch_sha256:
            yield PATCH, self.patch_sha256
        if self.manifest_sha256:
            yield MANIFEST, self.manifest_sha256


class SubmissionUnread(Exception):
    """An agent has done its work, and nothing could be made of it here and now. It isn't paid again for that."""


class UnreadWork:
    """A directory with the tars of one sandbox. It is there once `agent` says so, which is written last."""

    def __init__(self, folder: Path, workdir: str) -> None:
        self._folder = folder
        self._tars = {AGENT_LOGS: folder / "logs.tar", workdir: folder / "tree.tar"}

    def agent(self) -> AgentFile | None:
        """Return how the agent ended; None where nothing is kept."""
        return read_record(self._folder / _WHOLE, AgentFile)

    async def keep(self, sandbox: Sandbox, agent: AgentFile) -> None:
        """Copy what a killed sandbox holds. Raises OSError, SandboxLost, LimitReached."""
        self._folder.mkdir(exist_ok=True)
        for path, tar in self._tars.items():
            try:
                async with sandbox.export_tree(path, MAX_EXPORT_BYTES) as chunks:
                    with naming(tar), tar.open("wb") as file:
                        async for chunk in chunks:
                            file.write(chunk)
            except FileNotFoundError:
                continue
        write_whole(self._folder / _WHOLE, agent.model_dump_json(indent=2) + "\n")

    @asynccontextmanager
    async def export_tree(self, path: str, limit: int) -> AsyncIterator[AsyncIterator[bytes]]:
        """See `Sandbox`."""
        with self._tars[path].open("rb") as file:

            async def chunks() -> AsyncIterator[bytes]:
                while chunk := file.read(_CHUNK):
                    yield chunk

            yield capped(chunks(), limit)

    def remove(self) -> None:
        """Remove the file, once it has been read."""
        shutil.rmtree(self._folder, ignore_errors=True)
