"""Large texts are read in a process of their own first, with limits on its processor time and memory.

Parsers are C code that keeps Python's lock: a thread that hangs in one can't be ended, stops the event loop, and its
memory is that of the whole process. So a text that may be dear is read twice: as a trial, in a process that the
kernel ends at its limits, and then, if that came to its end, in ours, which takes as much as the trial did. Nothing
comes back from that process but how many texts it has read: whatever a hostile text does to a parser there, no result
is taken from it. It has no variables of ours, so no keys, and serves one call only.

Calls wait for one another, so that several hostile texts don't add up. `heavy` says which texts are tried, by their
length, brackets and continued lines: others take less time than a process needs to start.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from math import ceil
from pathlib import Path
from typing import BinaryIO, NamedTuple

from harness.judging.testing.threads import CpuLimit, in_thread
from harness.specs.errors import InfrastructureError, Starved

LIGHT_BYTES = 100_000
LIGHT_REPORT_BYTES = 1_000_000
"""Bytes of a report, from which some 40 MB are built: those of honest suites are smaller, and each arm has one."""
LIGHT_BRACKETS = 4_000
"""Opening brackets: C's grammar takes a time quadratic to unclosed ones, 0.03 s for this many."""
LIGHT_OTHERS = 1_000
"""Continued lines and opened comments: grammars take a time quadratic to these as well, 0.02 s for this many."""
MEMORY = 220 * 1024**2
"""Bytes of address space that reading may take above what the process has when it begins."""
PARSE_SECONDS = 2.0
"""Processor time of one call of C code: as long may the event loop stand when the text is read in our process."""
_WAIT_SECONDS = 7200.0
"""By the clock, with all calls that were there before. A call that isn't done by then shows nothing of its texts."""
_ONE_AT_A_TIME = threading.Lock()
_TOO_LARGE = 3


class Text(NamedTuple):
    """A text by its file's path; for a report, `path` is the test file that it tells of."""

    path: str
    data: bytes


class ReadingLost(InfrastructureError):
    """The process that reads large texts didn't work, or was ended from outside."""


class Unread(NamedTuple):
    """The text that a process didn't come to the end of, and what it took too much of."""

    path: str
    words: str


def heavy(data: bytes) -> bool:
    """Return whether a text must be tried apart before it is read in this process."""
    brackets, others = (b"(", b"[", b"{", b"<"), (b"\\\n", b"\\\r", b"/*")
    return (
        len(data) > LIGHT_BYTES
        or sum(map(data.count, brackets)) > LIGHT_BRACKETS
        or sum(map(data.count, others)) > LIGHT_OTHERS
    )


async def try_code(texts: Iterable[Text], limit: CpuLimit) -> Unread | None:
    """Read the heavy ones of some texts of code in a process apart, by the grammars of their files' names.

    Returns:
        None where all can be read in this process, else the first that can't.

    Raises:
        ReadingLost: The process didn't work.
        Starved: It wasn't done by the clock.
    """
    dear = [text for text in texts if heavy(text.data)]
    return await _tried("", dear, limit) if dear else None


async def try_report(form: str, text: Text, limit: CpuLimit) -> Unread | None:
    """Read a report of the format `form` in a process apart, if it is heavy. See `try_code`."""
    return await _tried(form, [text], limit) if len(text.data) > LIGHT_REPORT_BYTES else None


async def _tried(form: str, texts: Sequence[Text], limit: CpuLimit) -> Unread | None:
    waiting = CpuLimit(_WAIT_SECONDS, _WAIT_SECONDS)
    return await in_thread(partial(_run, form, texts, limit), waiting)


def _run(form: str, texts: Sequence[Text], limit: CpuLimit) -> Unread | None:
    asked = {"form": form, "texts": [(text.path, len(text.data)) for text in texts], "seconds": limit.cpu_seconds}
    head = json.dumps(asked).encode() + b"\n"
    paths = os.pathsep.join(path for path in sys.path if path)
    with _ONE_AT_A_TIME:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "harness.judging.testing.reading_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        said, is_late = b"", False
        with process:
            try:
                said, _ = process.communicate(b"".join([head, *(text.data for text in texts)]), limit.wall_seconds)
            except subprocess.TimeoutExpired:
                is_late = True
                process.kill()
    if process.returncode == 0:
        return None
    at = texts[min(said.count(b"\n"), len(texts) - 1)]
    if process.returncode in (-signal.SIGPROF, -signal.SIGXCPU):
        return Unread(at.path, "reading it took too much processor time")
    if process.returncode in (_TOO_LARGE, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS):  # C code without memory
        return Unread(at.path, f"reading it took more than {MEMORY // 1024**2} MB of memory")
    if is_late:
        raise Starved(f"{at.path}: reading wasn't done after {limit.wall_seconds:g} s")
    # Whatever else ended it says nothing of the text: a tool that fails is never a verdict.
    raise ReadingLost(f"the process that reads large texts ended with status {process.returncode}")


def _serve(source: BinaryIO, out: BinaryIO) -> None:
    """Read all texts. The kernel ends the process at its limits."""
    from harness.judging.languages.registry import LANGUAGES

    asked = json.loads(source.readline())
    texts = [Text(path, source.read(length)) for path, length in asked["texts"]]
    for name in LANGUAGES.names:
        LANGUAGES.get(name)
    watching = threading.Event()
    threading.Thread(target=_watch, args=(watching,), daemon=True).start()
    watching.wait()
    most = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = ceil(time.process_time() + asked["seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    for text in texts:
        if asked["form"]:
            _read_report(asked["form"], text)
        else:
            _read_code(text)
        out.write(b"\n")
        out.flush()


def _watch(watching: threading.Event) -> None:
    """Put off the signal that ends this process for as long as Python runs: C code that keeps its lock doesn't."""
    while True:
        signal.setitimer(signal.ITIMER_PROF, PARSE_SECONDS)
        watching.set()
        time.sleep(PARSE_SECONDS / 20)


def _read_report(form: str, text: Text) -> None:
    from harness.judging.testing.readers import ReportError, reader_of

    with suppress(ReportError):
        reader_of(form).read(text.data, text.path)


def _read_code(text: Text) -> None:
    """Read a text in all the ways that judging does: what it refuses here it refuses there too, with a reason."""
    from harness.judging.languages.conduct import Sources, sights
    from harness.judging.languages.found import MAX_SOURCE
    from harness.judging.languages.registry import language_at
    from harness.specs.errors import UserError

    language = language_at(text.path)
    if language is None or len(text.data) > MAX_SOURCE:
        return
    with suppress(UserError, RecursionError):
        language.discovery.discover(text.data, text.path)
    if language.conduct:
        root, rules = language.conduct.parse(text.data, text.path), language.conduct.rules(Sources())
        for _ in sights(root, rules(root, text.path)):
            pass


if __name__ == "__main__":
    try:
        _serve(sys.stdin.buffer, sys.stdout.buffer)
    except MemoryError:
        os._exit(_TOO_LARGE)
    os._exit(0)
