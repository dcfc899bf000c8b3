"""An agent's finished work that could not be read: it is kept, and a later start reads it.

The work is paid even if the cache's disk is full or a tool fails; the run's directory may be on another disk.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harness.runs.agent_file import AgentFile
from harness.runs.records import naming, read_record, write_whole
from harness.sandbox.protocol import AGENT_LOGS, Sandbox
from harness.sandbox.tar_stream import capped
from harness.submission.extraction import MAX_EXPORT_BYTES

_CHUNK = 1 << 20
_WHOLE = "agent.json"


class SubmissionUnread(Exception):
    """An agent has done its work, and nothing could be made of it here and now. It isn't paid again for that."""


class UnreadWork:
    """A directory with the tars of one sandbox. It is there once `agent` says so, which is written last."""

    def __init__(self, folder: Path, workdir: str) -> None:
        self._folder = folder
        self._tars = {AGENT_LOGS: folder / "logs.tar", workdir: folder / "tree.tar"}

    def agent(self) -> AgentFile | None:
        """How the agent ended; None where nothing is kept."""
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
        """Once it has been read."""
        shutil.rmtree(self._folder, ignore_errors=True)
