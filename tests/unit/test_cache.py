"""Where the cache is, and that its locks keep others out."""

import asyncio
from pathlib import Path

import pytest

from harness.sandbox.cache import cache_directory, locked


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
