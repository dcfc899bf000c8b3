"""What counts as used disk."""

import asyncio
import os
from pathlib import Path

import pytest

from harness.sandbox.disk_watch import BYTES_PER_ENTRY, tree_bytes, watch_disk
from harness.sandbox.protocol import LimitReached
from harness.specs.errors import EndedFromOutside, SandboxLost

MANY = 1 << 40


def test_blocks_count_and_not_the_length_of_sparse_files(tmp_path: Path) -> None:
    os.truncate(os.open(tmp_path / "sparse", os.O_CREAT | os.O_WRONLY), 1 << 30)
    assert tree_bytes(str(tmp_path), MANY) < 100_000
    (tmp_path / "full").write_bytes(os.urandom(1_000_000))
    assert tree_bytes(str(tmp_path), MANY) >= 1_000_000


def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(os.urandom(1_000_000))
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    assert tree_bytes(str(tmp_path), MANY) < 1_500_000


def test_empty_files_are_not_free_and_links_are_not_followed(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).touch()
    (tmp_path / "link").symlink_to("/usr")
    used = tree_bytes(str(tmp_path), MANY)
    assert 101 * BYTES_PER_ENTRY <= used < 200 * BYTES_PER_ENTRY + 4096


def test_counting_stops_past_the_limit(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "x").write_bytes(b"x" * 10_000)
    assert 20_000 < tree_bytes(str(tmp_path), 20_000) < 500_000


def test_a_directory_that_is_gone_counts_nothing(tmp_path: Path) -> None:
    assert tree_bytes(str(tmp_path / "gone"), MANY) == 0


def test_a_limit_says_which_it_is() -> None:
    assert LimitReached("disk", "more than 1 MiB written").limit == "disk"


async def test_an_engine_that_fails_once_ends_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[LimitReached] = []
    looks: list[Exception | int] = []

    async def no_pause(_: float) -> None:
        await sleep(0)

    async def measure() -> int:
        look = looks.pop(0)
        if isinstance(look, Exception):
            raise look
        return look

    async def on_breach(error: LimitReached) -> None:
        told.append(error)

    sleep = asyncio.sleep
    monkeypatch.setattr("harness.sandbox.disk_watch.asyncio.sleep", no_pause)
    looks += [1, SandboxLost("no answer within 120 seconds"), 3 << 20]
    await watch_disk(measure, 2, on_breach)
    assert [error.limit for error in told] == ["disk"]
    looks += [EndedFromOutside("gone"), 3 << 20]
    await watch_disk(measure, 2, on_breach)
    assert (len(told), len(looks)) == (1, 1)
