"""The real command line in a process of its own, while the test's event loop serves it."""

import asyncio
import os
import sys
from pathlib import Path
from typing import NamedTuple


class Done(NamedTuple):
    status: int
    output: str
    complaint: str


async def testwright(
    *arguments: str | Path,
    cwd: Path,
    seconds: float = 540,  # noqa: PT028  # a command, not a test
    **env: str,
) -> Done:
    """Keys are there for providers that ask for one; answers are cached in `cwd` unless `env` says where."""
    environment = {
        **os.environ, "OPENAI_API_KEY": "key-for-tests", "ANTHROPIC_API_KEY": "key-for-tests",
        "TESTWRIGHT_CACHE": str(cwd / "cache"), **env,
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "harness.cli", *map(str, arguments),
        cwd=cwd, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(seconds):
            output, complaint = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()  # it removes its containers
            await process.wait()
    assert process.returncode is not None
    return Done(process.returncode, output.decode(), complaint.decode())


testwright.__test__ = False  # type: ignore[attr-defined]  # a command, not a test
