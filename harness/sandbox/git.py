"""Running git: with no configuration of this machine's, a deadline, and limits where it reads an agent's data.

git's exit status is an answer only where the caller asks a question that can be answered with no; everything else
that
goes wrong is the machine's fault and can be tried again. Of the messages of `git apply` only some sentences are an
answer about a patch; every other end is a failure of git or of the machine: a full disk must never look like a bad
patch.
"""

import asyncio
import mmap
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.specs.errors import ToolFailed

GIT_SECONDS = 600.0
"""The wall time that any call of git may take. A machine under load needs more of it than another, so going past it
says nothing about a submission."""
HOSTILE_CPU_SECONDS = 60
"""The processor time that one call may need on an agent's data."""
HOSTILE_MEMORY_KB = 1 << 20
"""The memory that one call may need on an agent's data, in KiB."""

_GAVE_UP = re.compile(r"^(?:BUG: |.*: Assertion .* failed)", re.MULTILINE)
"""Messages of git that has ended itself because of what it has read: they come again at each try."""
_NO_MEMORY = re.compile(r"^(?:fatal|error): (?:Out of memory|.*: Cannot allocate memory$)", re.MULTILINE)
"""Messages of git where `HOSTILE_MEMORY_KB` isn't enough."""
_LIMITED = f'ulimit -S -t {HOSTILE_CPU_SECONDS}; ulimit -d {HOSTILE_MEMORY_KB} 2>/dev/null; exec git "$@"'


class GitError(Exception):
    """git says no to what it was given. `complaint` is all that it wrote."""

    def __init__(self, message: str, complaint: str = "") -> None:
        super().__init__(message)
        self.complaint = complaint


class GitFailed(ToolFailed):
    """git could not do its work: it is missing, was killed, took too long, or the disk is full."""


class GitTooMuchWork(GitError):
    """git needed more on an agent's data than `HOSTILE_CPU_SECONDS` or `HOSTILE_MEMORY_KB`, on any machine."""


async def run_git(
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    directory: Path | None = None,
    accept: Sequence[int] = (0,),
    may_refuse: bool = False,
    hostile: bool = False,
) -> bytes:
    """Run git and return its output.

    Args:
        *arguments: The command and its arguments.
        stdin: Bytes for its standard input.
        env: Variables beside those that git gets anyway.
        directory: Where it runs; None: `/`.
        accept: Exit statuses that are an answer.
        may_refuse: An exit status that isn't in `accept` raises GitError instead of GitFailed.
        hostile: git reads an agent's data, so its time and memory are limited.

    Raises:
        GitError: git refuses, where it may.
        GitFailed: git or this machine fails.
        GitTooMuchWork: Hostile data take more than their limits.
    """
    call = _described(arguments)
    command = ("/bin/sh", "-c", _LIMITED, "git") if hostile else ("git",)
    try:
        process = await asyncio.create_subprocess_exec(
            *command, "-c", "core.quotePath=false", "-c", "core.hooksPath=/dev/null", *arguments,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**_environment(), **(env or {})}, cwd=directory or "/",
        )  # fmt: skip
    except OSError as error:
        raise GitFailed(f"git can't be started: {error.strerror or error}") from None
    try:
        async with asyncio.timeout(GIT_SECONDS):
            output, written = await process.communicate(stdin)
    except TimeoutError:
        raise GitFailed(f"{call} was not done after {GIT_SECONDS:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    if process.returncode in accept:
        return output
    raise _failure(call, process.returncode, written.decode("utf-8", "surrogateescape"), may_refuse, hostile)


def _described(arguments: Sequence[str]) -> str:
    """Return `git VERB (DIRECTORY)`: which call it was, for messages."""
    verb = next(argument for argument in arguments if not argument.startswith("-") and "=" not in argument)
    places = [argument.partition("=")[2] for argument in arguments if argument.startswith("--git-dir=")]
    return " ".join(["git", verb, *(f"({place})" for place in places)])


def _failure(call: str, status: int | None, complaint: str, may_refuse: bool, hostile: bool) -> Exception:
    command, *_ = call.split(" (")  # a verdict names no directory of this machine
    if hostile and status == -signal.SIGXCPU:
        return GitTooMuchWork(f"{command} needs more than {HOSTILE_CPU_SECONDS} s of processor time on it")
    if hostile and _NO_MEMORY.search(complaint) and _has_memory():
        return GitTooMuchWork(f"{command} needs more than {HOSTILE_MEMORY_KB >> 10} MiB of memory on it")
    if may_refuse and status == -signal.SIGABRT and _GAVE_UP.search(complaint):
        return GitError("git gave up on it", complaint)
    if status is None or status < 0:
        name = signal.Signals(-status).name if status else "a signal"
        return GitFailed(f"{call} was ended by {name}")
    if status in (126, 127) and hostile:
        return GitFailed("git can't be started")
    first, *_ = complaint.strip().splitlines() or [f"{call} ended with status {status}"]
    message = re.sub(r"^(?:error|fatal): ", "", first)
    return GitError(message, complaint) if may_refuse else GitFailed(f"{call}: {message}")


def _has_memory() -> bool:
    """Return whether this machine would give git more than its limit, so that it's the limit that git has met."""
    wanted = 2 * HOSTILE_MEMORY_KB
    try:
        available = re.search(r"^MemAvailable: *(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
        mmap.mmap(-1, wanted << 10, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()  # may be refused all the same
    except OSError:
        return False
    return available is not None and int(available[1]) > wanted


def _environment() -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        # A file may be called ":!x"; nothing here means anything but that file.
        "GIT_LITERAL_PATHSPECS": "1",
    }


_DAMAGED = (
    "corrupt patch|corrupt binary patch|unrecognized binary patch|patch with only garbage|invalid mode|bad git-diff|"
    "inconsistent header|git diff header lacks|patch fragment without header|unable to find filename in patch|"
    "invalid start of line"
)
_KNOWN: tuple[tuple[str, str], ...] = (
    (r"No valid patches in input|unrecognized input", "there is no change in it that git can read"),
    (r"patch failed: (?P<path>.*):(?P<line>\d+)$", "{path}: the change at line {line} doesn't fit the file"),
    (r"(?P<path>.*): patch does not apply$", "{path}: the change doesn't fit the file"),
    (r"(?P<path>.*): does not exist in index$", "{path}: there is no such file to change"),
    (r"(?P<path>.*): already exists in (?:index|working directory)$", "{path}: this file is there already"),
    (r"(?P<path>.*): (?:wrong type$|does not match index$)", "{path}: the file is of another type"),
    (r"(?P<path>.*) has type \d+, expected \d+$", "{path}: the file is of another type"),
    (r"new mode \(\d+\) of (?P<path>.*) does not match old mode", "{path}: the file's mode is another one"),
    (r"invalid path '(?P<unsafe>.*)'$", "{unsafe}: not a path inside the repository"),
    (r"(?:affected file|reading from) '(?P<path>.*)' (?:is )?beyond a symbolic link", "{path}: it is behind a link"),
    (r"path (?P<path>.*) has been renamed/deleted", "{path}: the patch renames or deletes it twice"),
    (r"new file (?P<path>.*) depends on old contents", "{path}: a new file can't change old lines"),
    (r"deleted file (?P<path>.*) still has contents", "{path}: a deleted file still has lines"),
    (r"removal patch leaves file contents", "a deleted file still has lines"),
    (r"cannot apply binary patch to '(?P<path>.*)' without full index", "{path}: a binary change has no full index"),
    (r"the patch applies to (?:an empty )?'(?P<path>.*)'", "{path}: the binary change is for another file"),
    (r"missing binary patch data for '(?P<path>.*)'", "{path}: a binary change has no data"),
    (r"binary patch does not apply to '(?P<path>.*)'", "{path}: the binary change doesn't fit the file"),
    (r"binary patch to '(?P<path>.*)' creates incorrect", "{path}: the binary change is damaged"),
    (r"cannot reverse-apply a binary patch .* to '(?P<path>.*)'", "{path}: the binary change has no way back"),
    (r"corrupt patch for submodule (?P<path>.*)", "{path}: the change of a submodule is damaged"),
    (r"unable to remove (?P<path>.*) from index", "{path}: it can't be removed"),
    (r"unable to add cache entry for (?P<path>.*)", "{path}: another file is in its way"),
    (r"'(?P<path>.*)' appears as both a file and as a directory$", "{path}: a file of another name is in its way"),
    (r"the necessary postimage \S+ for '(?P<path>.*)' cannot be read", "{path}: a binary change has no data"),
    (r"recount: unexpected line", "a hunk is damaged"),
    (r"BUG: |.*: Assertion .* failed", "its parts contradict each other"),
    (rf"(?:{_DAMAGED}).*?\blines? (?P<at>\d+)", "line {at} of the patch is damaged"),
)


class PatchError(GitError):
    """A patch doesn't fit a tree, or is none. The message says why, with file and line where git knows them.

    `path` is the file as the patch names it, or empty; `is_unsafe`, whether it is no path inside a repository.
    """

    def __init__(self, message: str, complaint: str, path: str = "", is_unsafe: bool = False) -> None:
        super().__init__(message, complaint)
        self.path = path
        self.is_unsafe = is_unsafe


def patch_error(complaint: str) -> PatchError | None:
    """Return what git's complaint says about a patch, or None where it isn't about the patch.

    The first line decides. Those after it may only be its consequences: a file that can't be read off the disk
    "does not apply" either.
    """
    lines = (line for line in complaint.splitlines() if not line.startswith("warning: "))
    first = re.sub(r"^(?:error|fatal): (?:git apply: )?", "", next(lines, ""))
    for pattern, message in _KNOWN:
        if found := re.match(pattern, first):
            names = found.groupdict()
            path = names.get("unsafe") or names.get("path") or ""
            return PatchError(message.format_map(names), complaint, path, "unsafe" in names)
    return None
