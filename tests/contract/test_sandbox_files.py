"""Reading and writing files, and what the sandbox's user may touch. One sandbox for all of them."""

import os

import pytest

from harness.sandbox.protocol import AGENT_LOGS, Sandbox
from tests.support.sandboxes import UNCONFINED

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVERY_BYTE = bytes(range(256)) * 5


async def output_of(sandbox: Sandbox, command: str) -> str:
    """The output of a command that must succeed."""
    result = await sandbox.run(command, 20)
    assert result.exit_status == 0, result
    return result.output.decode()


@pytest.mark.parametrize("data", [b"", b"x", EVERY_BYTE, b"\n\n", os.urandom(300_001)], ids=len)
async def test_what_was_written_is_read_back(shared: Sandbox, data: bytes) -> None:
    await shared.write("/app/data", data)
    assert await shared.read("/app/data") == data
    assert await output_of(shared, "stat -c %s data") == f"{len(data)}\n"


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        "-n",
        "--help",
        "new\nline",
        "quote'\"`$(id)",
        "naïve ☃",
        "tab\t*?[x]",
        "\udcff\udcfe",
        "\\",
        ";&|",
    ],
)
async def test_a_file_name_may_hold_any_character(shared: Sandbox, name: str) -> None:
    await shared.write(f"/app/names/{name}/{name}", b"found")
    assert await shared.read(f"/app/names/{name}/{name}") == b"found"
    assert await output_of(shared, "cat names/*/*; rm -r names") == "found"


async def test_writing_makes_directories_for_the_sandboxs_user(shared: Sandbox) -> None:
    await shared.write("/app/new/deep/file", b"x")
    assert await output_of(shared, "[ -O new ] && [ -O new/deep ] && [ -O new/deep/file ] && echo mine") == "mine\n"


async def test_writing_replaces_a_longer_file(shared: Sandbox) -> None:
    await shared.write("/app/replaced", b"a longer text")
    await shared.write("/app/replaced", b"short")
    assert await shared.read("/app/replaced") == b"short"


async def test_the_agents_logs_can_be_written_and_read(shared: Sandbox) -> None:
    await shared.run(f'echo told > "${{TESTWRIGHT_AGENT_LOGS:-{AGENT_LOGS}}}/manifest.yaml"', 20)
    assert await shared.read(f"{AGENT_LOGS}/manifest.yaml") == b"told\n"


@pytest.mark.parametrize("path", ["/app/absent", "/app/present.txt/below", "", "/app/dangling"])
async def test_reading_what_is_not_there_raises_file_not_found(shared: Sandbox, path: str) -> None:
    await output_of(shared, "ln -sfn nowhere dangling")
    with pytest.raises(FileNotFoundError):
        await shared.read(path)


async def test_a_directory_is_no_file(shared: Sandbox) -> None:
    await output_of(shared, "mkdir -p dir && ln -sfn dir to-dir")
    for path in ("/app", "/app/dir", "/app/to-dir"):
        with pytest.raises(IsADirectoryError):
            await shared.read(path)
        with pytest.raises(IsADirectoryError):
            await shared.write(path, b"x")


async def test_links_are_followed_as_the_user_would(shared: Sandbox) -> None:
    await output_of(shared, "echo target > target && ln -sfn target link")
    assert await shared.read("/app/link") == b"target\n"
    await shared.write("/app/link", b"through")
    assert await output_of(shared, "cat target; readlink link") == "throughtarget\n"


async def test_reading_a_pipe_or_a_device_is_refused_at_once(shared: Sandbox) -> None:
    await output_of(shared, "mkfifo pipe; ln -s /dev/zero device")
    for path in ("/app/pipe", "/app/device"):
        with pytest.raises(OSError, match="not a regular file"):
            await shared.read(path)
    with pytest.raises(OSError, match="not a regular file"):
        await shared.write("/app/pipe", b"x")


async def test_a_huge_file_is_read_up_to_the_limit(shared: Sandbox) -> None:
    await output_of(shared, "truncate -s 60M huge")
    assert await shared.read("/app/huge", 1234) == b"\0" * 1234
    assert len(await shared.read("/app/huge", 3_000_000)) == 3_000_000
    assert await output_of(shared, "rm huge; echo gone") == "gone\n"


async def test_a_file_below_a_file_cannot_be_written(shared: Sandbox) -> None:
    with pytest.raises(OSError, match=r"present\.txt"):
        await shared.write("/app/present.txt/below", b"x")


async def test_the_user_is_not_root(shared: Sandbox, kind: str) -> None:
    own = os.getuid() if kind in UNCONFINED else 1000  # not declared: there is no other user
    assert await output_of(shared, "id -u") == f"{own}\n"


async def test_the_system_cannot_be_written(shared: Sandbox, kind: str) -> None:
    if kind in UNCONFINED:  # not declared
        return
    for path in ("/usr/bin/x", "/etc/x", "/usr/lib/x", "/x"):
        with pytest.raises(OSError, match=r"denied|Read-only"):
            await shared.write(path, b"x")


async def test_files_of_our_own_are_out_of_sight(shared: Sandbox, kind: str, tmp_path: object) -> None:
    if kind in UNCONFINED:  # not declared
        return
    assert await output_of(shared, f"test -e {tmp_path} || echo hidden") == "hidden\n"
    assert await output_of(shared, "ls -A /root 2>/dev/null | wc -l") == "0\n"
