"""The supervisor of an application sees each process that goes on, whichever of its threads has ended."""

import ctypes
import os
import platform
import runpy
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from harness.plugins.build.task import OWN

EXIT = {"x86_64": 60, "aarch64": 93}
"""The system call that ends one thread alone."""


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], list[int]]:
    monkeypatch.setenv("TESTWRIGHT_REPORT_DIR", str(tmp_path))
    return runpy.run_path(str(OWN / "in_container" / "supervise.py"))["others"]


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def begun(work: Callable[[int], None]) -> tuple[int, int]:
    """Return a child that works until the pipe to it is closed, and that pipe."""
    waits, told = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(told)
        with suppress(BaseException):
            work(waits)
        os._exit(0)
    os.close(waits)
    return pid, told


def goes_on_in_another_thread(waits: int) -> None:
    threading.Thread(target=lambda: (os.read(waits, 1), os._exit(0))).start()
    ctypes.CDLL(None).syscall(EXIT[platform.machine()], 0)


def goes_on(waits: int) -> None:
    os.read(waits, 1)


@pytest.mark.parametrize(("work", "state"), [(goes_on, "S"), (goes_on_in_another_thread, "Z")])
def test_a_process_that_goes_on_is_seen_and_one_that_has_ended_is_not(
    others: Callable[[], list[int]], work: Callable[[int], None], state: str
) -> None:
    pid, told = begun(work)
    while state_of(pid) != state:
        os.sched_yield()
    assert pid in others()
    os.close(told)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert state_of(pid) == "Z"
    assert pid not in others()
    os.waitpid(pid, 0)


def test_neither_the_supervisor_nor_what_is_above_it_is_among_them(others: Callable[[], list[int]]) -> None:
    assert not {1, os.getpid(), os.getppid()}.intersection(others())
