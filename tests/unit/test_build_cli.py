"""Finding a docker command that can build with secrets, and reading what a failed build says."""

import logging
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from harness.sandbox.images import building
from harness.sandbox.images.building import find_build_cli, last_complaint, last_words, run_logged
from harness.sandbox.images.engine_images import StoredImage
from harness.specs.errors import ImageUnavailable


def install(directory: Path, version: str, buildx: bool) -> Path:
    """A docker command that knows its version and nothing else."""
    directory.mkdir()
    path = directory / "docker"
    answer = "exit 0" if buildx else "exit 1"
    path.write_text(
        f'#!/bin/sh\n[ "$1" = version ] && echo {version} && exit 1\n[ "$1" = buildx ] && {answer}\nexit 1\n'
    )
    path.chmod(0o755)
    return path


def test_client_with_buildx_builds_and_loads_the_result(tmp_path: Path) -> None:
    path = install(tmp_path / "a", "28.2.2", buildx=True)
    assert find_build_cli(str(tmp_path / "a")) == (path, "28.2.2", ("buildx", "build", "--load"))


def test_a_client_is_found_while_its_engine_answers_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX) as engine:
        engine.bind(str(tmp_path / "engine.sock"))
        engine.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
        path = install(tmp_path / "old", "20.10.24+dfsg1", buildx=False)
        told = tmp_path / "told"
        recording = f'#!/bin/sh\n[ "$1" = version ] && echo "$DOCKER_HOST" >> {told}\n'
        path.write_text(path.read_text().replace("#!/bin/sh\n", recording))
        assert find_build_cli(str(tmp_path / "old")).version == "20.10.24+dfsg1"
        assert "engine.sock" not in told.read_text()


def test_new_client_without_buildx_is_passed_over_for_an_old_one(tmp_path: Path) -> None:
    install(tmp_path / "new", "28.2.2", buildx=False)
    old = install(tmp_path / "old", "20.10.24+dfsg1", buildx=False)
    found = find_build_cli(f"{tmp_path / 'empty'}:{tmp_path / 'new'}:{tmp_path / 'old'}")
    assert (found.path, found.arguments) == (old, ("build",))


def test_refusal_names_every_client_and_what_to_install(tmp_path: Path) -> None:
    path = install(tmp_path / "new", "28.2.2", buildx=False)
    with pytest.raises(ImageUnavailable, match=rf"{path} \(28\.2\.2, without buildx\); install the docker-buildx"):
        find_build_cli(str(tmp_path / "new"))


def test_no_client_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(ImageUnavailable, match="none on PATH"):
        find_build_cli(str(tmp_path))


@pytest.mark.parametrize(
    ("log", "complaint"),
    [
        ("#5 0.1 E: Unable to locate package x\n#5 ERROR: executor failed running [sh]: exit code: 100\n",
         "E: Unable to locate package x"),
        ("#5 0.1 ERROR: No matching distribution found for x\n#5 0.2 [notice] a new pip\nERROR: failed to solve: "
         'process "/bin/sh -c pip" did not complete successfully: exit code: 1\n',
         "ERROR: No matching distribution found for x"),
        ("#5 0.1 curl: (6) Could not resolve host\n#5 ERROR: executor failed running [sh]: exit code: 6\n------\n"
         " > [a 1/2] RUN curl:\n------\nexecutor failed running [sh]: exit code: 6\n",
         "curl: (6) Could not resolve host"),
        ("base-image: it takes mmdebstrap\n", "base-image: it takes mmdebstrap"),
        ("failed to solve: executor failed running [sh]: exit code: 1\n",
         "failed to solve: executor failed running [sh]: exit code: 1"),
        ("\n", "it said nothing"),
    ],
)  # fmt: skip
def test_complaint_is_what_the_command_said_not_what_the_builder_made_of_it(
    log: str, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "log").write_text(log)
    assert last_complaint(tmp_path / "log") == complaint


async def test_failed_command_leaves_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))
    with pytest.raises(
        ImageUnavailable, match=r"making testwright/x:1 failed: oh no \(all of it: .*/logs/x-1\.log\)"
    ):
        await run_logged(["sh", "-c", "echo oh no; exit 3"], {}, "testwright/x:1")


BROKEN_OFF = "rpc error: code = Internal desc = unexpected EOF"


async def build_with(client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Build by a client that counts its starts in `starts`; return what the log holds in the end."""
    script = f"#!/bin/sh\necho x >>{tmp_path}/starts\n{client}\n"
    (tmp_path / "docker").write_text(script)
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))

    async def installed() -> building.BuildCli:
        return building.BuildCli(tmp_path / "docker", "20.10", ("build",))

    monkeypatch.setattr(building, "installed_build_cli", installed)
    try:
        await building.build(tmp_path, "task", "testwright/x:1", {}, {})
    finally:
        log = building.log_of("testwright/x:1").read_text()
    return log


def starts(tmp_path: Path) -> int:
    return len((tmp_path / "starts").read_text().split())


async def test_a_build_whose_connection_breaks_off_is_tried_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = f"[ $(wc -l <{tmp_path}/starts) -gt 1 ] && echo built && exit 0; echo '{BROKEN_OFF}'; exit 1"
    assert (await build_with(first, tmp_path, monkeypatch)).splitlines() == [BROKEN_OFF, "built"]
    assert starts(tmp_path) == 2


@pytest.mark.parametrize(
    ("end", "tried"),
    [
        (BROKEN_OFF, 2),
        (f"{BROKEN_OFF}\nERROR: no space left on device", 1),
        (f"executor failed running [sh -c x]: exit code: 1\n{BROKEN_OFF}", 1),
    ],
)
async def test_other_failures_and_a_second_break_are_final(
    end: str, tried: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImageUnavailable, match=r"making testwright/x:1 failed: "):
        await build_with(f"cat <<'END'\n{end}\nEND\nexit 1", tmp_path, monkeypatch)
    assert starts(tmp_path) == tried


async def test_a_build_is_told_once_before_it_begins(tmp_path: Path, monkeypatch, caplog) -> None:
    await build_with("exit 0", tmp_path, monkeypatch)
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("building testwright/x:1, which takes minutes the first time; its log: ")
    assert line.endswith("x-1.log")


async def test_a_long_build_tells_what_it_printed_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    told = []

    class Opening(logging.Handler):
        """Lets the build end once it was told of."""

        def emit(self, record: logging.LogRecord) -> None:
            if "npm http fetch" in record.getMessage() and not told:
                told.append(record.getMessage())
                gate.write_text("go\n")

    logger, handler = logging.getLogger("harness.sandbox.images.building"), Opening()
    logger.addHandler(handler)
    try:
        script = f"echo '#5 3.1 npm http fetch x'; read _ < {gate}"
        await run_logged(["sh", "-c", script], dict(os.environ), "testwright/codex-toolbox:1", every=0.01)
    finally:
        logger.removeHandler(handler)
    assert told[0].startswith("making testwright/codex-toolbox:1 since 0 s; it says: npm http fetch x")


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("#5 3.1 \x1b[31mfetch\n#5 3.2\n\n", "[31mfetch"),
        ("x" * 9000 + "\nlast", "last"),
        ("y" * 200, "y" * 100),
    ],
)
def test_last_words_of_a_log_are_one_short_safe_line(tmp_path: Path, log: str, words: str) -> None:
    path = tmp_path / "log"
    path.write_text(log)
    assert last_words(path) == words


class PresentBase:
    """Images of an engine that has the base image."""

    def __init__(self, engine_id: str) -> None:
        self._stored = StoredImage(engine_id, "amd64", {})

    async def find(self, _tag: str) -> StoredImage:
        return self._stored


@pytest.mark.parametrize(
    ("arguments", "status", "times"),
    [(("build",), 0, 1), (("build",), 1, 1), (("buildx", "build", "--load"), 0, 0), (("--url", "x", "build"), 0, 0)],
)
async def test_the_base_image_is_put_into_the_cache_once_where_buildkit_is_in_the_client(
    arguments: tuple[str, ...], status: int, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = tmp_path / "docker"
    client.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/starts\nexit {status}\n')
    client.chmod(0o755)
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))

    async def installed() -> building.BuildCli:
        return building.BuildCli(client, "20.10", arguments)

    monkeypatch.setattr(building, "installed_build_cli", installed)
    images: Any = PresentBase(str(tmp_path))
    for _ in range(2):
        assert await building.ensure_base_image(images) == building.BASE_IMAGE
    begun = (tmp_path / "starts").read_text().splitlines() if times else []
    assert len(begun) == times
    assert all("--output=type=cacheonly" in line for line in begun)
