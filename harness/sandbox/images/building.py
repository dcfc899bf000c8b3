"""The docker command line, which builds: BuildKit's secrets are not in the SDK.

More than one may be installed, and not each of them can: from 23 on the client needs the buildx plug-in,
before that BuildKit is built in.

Runs long commands with much output: the output goes to a log in the cache.

The image that every repo's Dockerfile starts from.
"""

import asyncio
import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import docker
import docker.errors
import requests

from harness.sandbox.host import DOCKER, PROXIES, cache_directory, host_environment, locked
from harness.sandbox.images.client_config import ca_bundle, npm_configuration, pip_configuration, proxies
from harness.sandbox.images.engine_images import EngineImages
from harness.sandbox.images.recipe import base_recipe
from harness.specs.errors import ImageUnavailable

_log = logging.getLogger(__name__)
TELL_SECONDS = 30.0
_TAIL_BYTES, _LINE_CHARS = 4096, 100


async def run_logged(
    command: Sequence[str], env: Mapping[str, str], makes: str, *, again: bool = False, every: float = TELL_SECONDS
) -> None:
    """Run a command with a log, and tell now and then how far it is. Cancelling it kills it and its children.

    Args:
        command: A program and its arguments.
        env: Its whole environment.
        makes: What it makes: an image's tag, an environment's name. The log has this name.
        again: Add to the log.
        every: Seconds between two lines that tell what it printed last.

    Raises:
        ImageUnavailable: It fails; the message has the log's path.
    """
    log = log_of(makes)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab" if again else "wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            env=env, start_new_session=True,
        )  # fmt: skip
        telling = asyncio.create_task(_tell(makes, log, every))
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        finally:
            telling.cancel()
    if status:
        raise ImageUnavailable(f"making {makes} failed: {last_complaint(log)} (all of it: {log})")


async def _tell(makes: str, log: Path, every: float) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        await asyncio.sleep(every)
        _log.warning(
            "making %s since %.0f s; it says: %s", makes, loop.time() - began, last_words(log) or "nothing yet"
        )


def last_words(log: Path) -> str:
    """Return the last line of a log, without BuildKit's step and seconds, as safe text; empty where there is none."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    texts = (re.sub(r"[^ -~]", "", re.sub(r"^#\d+ ([\d.]+( |$))?", "", line)).strip() for line in reversed(lines))
    return next(filter(None, texts), "")[:_LINE_CHARS]


def log_of(made: str) -> Path:
    """Return where the last command that made this has its output."""
    return cache_directory() / "logs" / f"{made.removeprefix('testwright/').replace(':', '-')}.log"


def last_complaint(log: Path) -> str:
    """Return the line of a log that says best what went wrong: a command's last error, else the last that it said."""
    said, errors, summary = [], [], []
    for line in filter(None, map(str.strip, log.read_text(errors="replace").splitlines())):
        text = re.sub(r"^#\d+ ([\d.]+ )?", "", line)  # BuildKit's step and seconds
        if re.match(r"(?i)(error: )?(failed to solve|executor failed|process ).*(exit code|did not)", text):
            summary.append(text)
        elif re.match(r"(?i)(error\b|e: |fatal\b|failed\b)", text):
            errors.append(text)
        elif text == line or re.match(r"#\d+ [\d.]+ ", line):
            said.append(text)
    commands = [text for text in said if not text.startswith((">", "---"))]
    return next((texts[-1] for texts in (errors, commands, summary) if texts), "it said nothing")


_BUILDKIT_INSIDE_BEFORE = 23
_INSIDE = ("build",)
_PROBE_SECONDS = 5
_CLIENT_SECONDS = 60
"""For what a client answers by itself: on a busy machine it starts slowly, which doesn't mean that it can't build."""
_NO_ENGINE = "unix:///nonexistent/docker.sock"
_STEP_FAILED = (
    r"(?:did not complete successfully|executor failed running \[.*\]): exit code: \d+"
    r"|while running runtime: exit status \d+"
)
"""Messages of BuildKit's versions and Podman about a command's exit status."""
_BROKE_OFF = r"rpc error: code = \w+ desc = .*(?:EOF|transport|closed|connection)"
"""Messages of a client whose session with the engine breaks off, as happens while many images are built."""
_DEFAULT_HOST = "unix:///var/run/docker.sock"


class StepFailed(ImageUnavailable):
    """A command of the Dockerfile failed: the engine did what it was asked."""


class EngineBrokeOff(ImageUnavailable):
    """The connection to the engine ended in mid-build, which says nothing about the Dockerfile."""


class BuildCli(NamedTuple):
    """A `docker` that can build with secrets. `arguments` start a build."""

    path: Path
    version: str
    arguments: tuple[str, ...]


@cache
def find_build_cli(search_path: str) -> BuildCli:
    """Return the first `docker` on `search_path` that can build.

    Raises:
        ImageUnavailable: There is none; the message names those that can't build.
    """
    refused = []
    for path in _candidates(search_path):
        version = _client_version(path)
        if _answers(path, "buildx", "version"):
            return BuildCli(path, version, ("buildx", "build", "--load"))
        major = re.match(r"\d+", version)
        if major and int(major.group()) < _BUILDKIT_INSIDE_BEFORE:
            return BuildCli(path, version, _INSIDE)
        refused.append(f"{path} ({version or 'no version'}, without buildx)")
    tried = ", ".join(refused) or "none on PATH"
    raise ImageUnavailable(
        f"no docker command that can build with BuildKit secrets: {tried}; install the docker-buildx plug-in"
    )


async def build(
    context: Path, target: str, tag: str, arguments: Mapping[str, str], labels: Mapping[str, str]
) -> None:
    """Build an image. A build whose connection to the engine breaks off is tried once more.

    Args:
        context: A directory with a Dockerfile.
        target: The Dockerfile's stage to build.
        tag: The image's.
        arguments: The Dockerfile's arguments.
        labels: The image's.

    Raises:
        ImageUnavailable: The build fails; the message has the log's path.
        StepFailed: A command of the Dockerfile is at fault.
    """
    cli = await installed_build_cli()
    with tempfile.TemporaryDirectory(prefix="testwright-") as private:
        secrets = await asyncio.to_thread(_secrets, Path(private))
        command = [str(cli.path), *cli.arguments, "--target", target, "--tag", tag, *secrets]
        # By name only: the values come from the environment and show in no list of processes.
        command += [f"--build-arg={name}" for name in proxies()]
        command += [f"--build-arg={name}={value}" for name, value in arguments.items()]
        command += [f"--label={name}={value}" for name, value in labels.items()]
        command.append(str(context))
        _log.warning("building %s, which takes minutes the first time; its log: %s", tag, log_of(tag))
        try:
            await _build_once(command, tag)
        except EngineBrokeOff:
            await _build_once(command, tag, again=True)


async def _build_once(command: Sequence[str], tag: str, *, again: bool = False) -> None:
    try:
        await run_logged(command, client_environment(), tag, again=again)
    except ImageUnavailable as error:
        log = log_of(tag).read_text(errors="replace")
        if re.search(_STEP_FAILED, log, re.MULTILINE):
            raise StepFailed(str(error)) from None
        if re.search(_BROKE_OFF, "".join(log.splitlines()[-1:])):
            raise EngineBrokeOff(str(error)) from None
        raise


async def installed_build_cli() -> BuildCli:
    """Return the command for builds that this process uses.

    Raises:
        ImageUnavailable: There is none.
    """
    return await asyncio.to_thread(engine_build_cli, os.environ.get("PATH", os.defpath))


def engine_build_cli(search_path: str) -> BuildCli:
    """Return the command that builds on the engine that the environment names: Podman's socket offers no BuildKit.

    Raises:
        ImageUnavailable: There is none.
    """
    return _podman(search_path) if _engine_is_podman() else find_build_cli(search_path)


def _engine_is_podman() -> bool:
    try:
        client = docker.from_env(timeout=_PROBE_SECONDS)
        try:
            return is_podman(client.version())
        finally:
            client.close()
    except (docker.errors.DockerException, requests.RequestException):
        return False


def is_podman(version: Mapping[str, Any]) -> bool:
    """Return what an engine's own version says of it."""
    return any(part.get("Name") == "Podman Engine" for part in version.get("Components") or ())


def _podman(search_path: str) -> BuildCli:
    path = shutil.which("podman", path=search_path)
    if path is None:
        raise ImageUnavailable("this engine is Podman, which builds by its own command only; install podman here")
    host = os.environ.get("DOCKER_HOST", _DEFAULT_HOST)
    version = _output(Path(path), "--version").rpartition(" ")[2].strip()
    return BuildCli(Path(path), version, ("--url", host, "build"))


def client_environment() -> dict[str, str]:
    """Return the environment under which the command line talks to the engine that the SDK talks to."""
    found = host_environment(*DOCKER, *PROXIES)
    kept = {name: value for name, value in found.items() if name not in ("DOCKER_CONTEXT", "BUILDX_BUILDER")}
    return {"DOCKER_HOST": _DEFAULT_HOST, **kept, "DOCKER_BUILDKIT": "1", "BUILDKIT_PROGRESS": "plain"}


def _candidates(search_path: str) -> list[Path]:
    found: dict[Path, Path] = {}
    for directory in search_path.split(os.pathsep):
        if path := shutil.which("docker", path=directory or "."):
            found.setdefault(Path(path).resolve(), Path(path))
    return list(found.values())


def _client_version(path: Path) -> str:
    """Return the client's version without asking the engine.

    One that is busy or hangs would keep the client waiting.
    """
    return _output(path, "version", "--format", "{{.Client.Version}}", DOCKER_HOST=_NO_ENGINE).strip()


def _answers(path: Path, *arguments: str) -> bool:
    try:
        done = _ask(path, *arguments)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _output(path: Path, *arguments: str, **environment: str) -> str:
    try:
        return _ask(path, *arguments, **environment).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _ask(path: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [path, *arguments],
        env={**host_environment(*DOCKER), **environment},
        capture_output=True,
        text=True,
        timeout=_CLIENT_SECONDS,
        check=False,
    )


def _secrets(private: Path) -> list[str]:
    """Return the options that hand certificates and configurations in. `private` is gone after the build."""
    options = []
    if bundle := ca_bundle():
        options.append(f"--secret=id=ca,src={bundle}")
    for name, configuration in (("pip_conf", pip_configuration()), ("npm_conf", npm_configuration())):
        if configuration:
            file = private / name
            file.write_text(configuration)
            file.chmod(0o600)
            options.append(f"--secret=id={name},src={file}")
    return options


BASE_IMAGE = "debian:bookworm-slim"
_CACHED: set[str] = set()
"""Base images, by their engines' ids, with which builds of this process have begun."""


async def ensure_base_image(images: EngineImages) -> str:
    """Return the base image's tag: the image was there, or is pulled, or made from Debian's packages.

    Raises:
        ImageUnavailable: It can't be had in any of these ways.
    """
    async with locked("base-image"):
        if await images.find(BASE_IMAGE) is None:
            cli = await installed_build_cli()
            # Through bash: an unpacked wheel need not have kept the executable bit.
            environment = {**client_environment(), "DOCKER": str(cli.path)}
            await run_logged(["bash", str(base_recipe()), BASE_IMAGE], environment, BASE_IMAGE)
        stored = await images.find(BASE_IMAGE)
        if stored and stored.engine_id not in _CACHED:
            await _put_into_cache()
            _CACHED.add(stored.engine_id)
    return BASE_IMAGE


async def _put_into_cache() -> None:
    """Make the base image a step that BuildKit has in its cache, before several builds begin with it at once.

    While a build goes on that made a step, the BuildKit that is in Docker 20.10 finds nothing in its cache of what
    follows it. Other ways to build (buildx, Podman) are left alone.
    """
    cli = await installed_build_cli()
    if cli.arguments != _INSIDE:
        return
    with tempfile.TemporaryDirectory(prefix="testwright-") as context:
        Path(context, "Dockerfile").write_text(f"FROM {BASE_IMAGE}\n")
        command = [str(cli.path), *cli.arguments, "--output=type=cacheonly", context]
        with suppress(ImageUnavailable):  # without it steps are made twice, and images all the same
            await run_logged(command, client_environment(), f"{BASE_IMAGE}-cached")
