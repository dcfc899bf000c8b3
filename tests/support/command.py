"""The command line as it is typed: in this process, and in one of its own where a process is what is tested.

A process of its own takes half a second before it has done anything, and 5 s where it imports clients of models. It
is for signals, for what a start imports, and for commands that are killed.
"""

import asyncio
import io
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from harness.cli.main import status


class Done(NamedTuple):
    status: int
    output: str
    complaint: str


def typed(*arguments: str | Path, cwd: Path, environment: Mapping[str, str] | None = None) -> Done:
    """Run a command in this process, in `cwd`, with nothing to read.

    Args:
        arguments: What follows `testwright`.
        cwd: Where it is typed.
        environment: All of its variables; those of this process by default, which are the same again afterwards.
    """
    output, complaint = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        chdir(cwd), _variables(environment), _nothing_to_read(), redirect_stdout(output), redirect_stderr(complaint)
    ):  # fmt: skip
        found = status([*map(str, arguments)])
    return Done(found, *(str(each.buffer.getvalue(), "utf-8") for each in (output, complaint)))  # type: ignore[attr-defined]


async def typed_beside(*arguments: str | Path, cwd: Path, **env: str) -> Done:
    """Run a command in a thread of this process, while the test's event loop serves it; see `testwright`."""
    return await asyncio.to_thread(typed, *arguments, cwd=cwd, environment=_environment(cwd, env))


@contextmanager
def _variables(environment: Mapping[str, str] | None) -> Iterator[None]:
    before = dict(os.environ)
    try:
        if environment is not None:
            _become(environment)
        yield
    finally:
        _become(before)


def _become(environment: Mapping[str, str]) -> None:
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    os.environ.update(environment)


@contextmanager
def _nothing_to_read() -> Iterator[None]:
    before = sys.stdin
    with Path(os.devnull).open() as sys.stdin:
        try:
            yield
        finally:
            sys.stdin = before


def _environment(cwd: Path, env: Mapping[str, str]) -> dict[str, str]:
    return {
        **os.environ, "OPENAI_API_KEY": "key-for-tests", "ANTHROPIC_API_KEY": "key-for-tests",
        "TESTWRIGHT_CACHE": str(cwd / "cache"), **env,
    }  # fmt: skip


async def testwright(
    *arguments: str | Path,
    cwd: Path,
    seconds: float = 540,  # noqa: PT028  # a command, not a test
    **env: str,
) -> Done:
    """Run a command in a process of its own, while the test's event loop serves it.

    Keys are there for providers that ask for one; answers are cached in `cwd` unless `env` says where.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "harness.cli", *map(str, arguments),
        cwd=cwd, env=_environment(cwd, env), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
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
