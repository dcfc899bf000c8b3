"""Where the cache is, and that its locks keep others out."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sandbox.host import cache_directory, held, locked
from harness.specs.errors import ToolFailed


def test_cache_follows_its_variables_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TESTWRIGHT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_directory() == tmp_path / "home" / ".cache" / "testwright"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory() == tmp_path / "xdg" / "testwright"
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "own"))
    assert cache_directory() == tmp_path / "own"


async def test_lock_admits_one_at_a_time_and_is_free_after_a_cancel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))
    inside = 0

    async def enter() -> None:
        nonlocal inside
        async with locked("x"):
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            inside -= 1

    async with locked("x"):
        waiting = asyncio.create_task(enter())
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), 0.01)
        waiting.cancel()
    await asyncio.gather(enter(), enter(), enter())


def test_a_lock_keeps_other_processes_out_until_its_holder_dies(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from harness.sandbox.host import held\n"
        "lock = held(Path(sys.argv[1])); print('held' if lock else 'taken', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "x.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        assert held(tmp_path / "x.lock") is None
        first.kill()
        first.wait()
        lock = held(tmp_path / "x.lock")
        assert lock is not None
        assert held(tmp_path / "x.lock") is None
        lock.release()


async def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "file"))
    with pytest.raises(ToolFailed, match=r"file/locks/x\.lock"):
        async with locked("x"):
            pass
