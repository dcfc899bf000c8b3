"""A Docker engine of a test's own, which can be killed: its containers, images and networks are nobody else's.

It lives in network, mount and process namespaces that end with it. A dockerd in the machine's own network would take
away the bridge of the engine that is there. This one's bridge leads nowhere; build steps need one.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import pytest

_SECONDS = 120
_NEEDED = ("dockerd", "docker-init", "unshare", "nsenter", "setpriv")


def require_own_engine() -> None:
    """Skip the test where no second engine can be started; fail where an engine is required."""
    missing = [name for name in _NEEDED if not shutil.which(name)]
    complaint = f"an engine of a test's own needs {', '.join(missing)}" if missing else ""
    if os.geteuid() != 0:
        complaint = "an engine of a test's own needs root"
    if complaint and os.environ.get("TESTWRIGHT_REQUIRE_DOCKER") == "1":
        pytest.fail(complaint, pytrace=False)
    if complaint:
        pytest.skip(f"NOT TESTED: {complaint}")


class OwnEngine:
    """`host` is for DOCKER_HOST. The engine is there from `start` until it is ended."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.socket = directory / "docker.sock"
        self.host = f"unix://{self.socket}"
        self._machines = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
        self._daemon: subprocess.Popen[bytes] | None = None
        # Its first process reaps what a killed daemon leaves; with it everything in the namespaces ends.
        self._namespaces = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc",
             "--kill-child", "docker-init", "-s", "--", "sleep", "infinity"],
        )  # fmt: skip
        self._first = ""
        _until(self._has_namespaces, self._namespaces)

    def start(self) -> None:
        """Start the daemon and wait until it answers."""
        self.directory.joinpath("docker.pid").unlink(missing_ok=True)
        with (self.directory / "log").open("ab") as log:
            self._daemon = subprocess.Popen(
                ["nsenter", "--target", self._first, "--net", "--mount", "--pid",
                 "dockerd", "--host", self.host, "--data-root", str(self.directory / "data"),
                 "--exec-root", str(self.directory / "exec"), "--pidfile", str(self.directory / "docker.pid"),
                 "--iptables=false", "--ip-forward=false", "--cgroup-parent", "/testwright-test"],
                stdout=log, stderr=log,
            )  # fmt: skip
        try:
            _until(self._answers, self._daemon)
        except AssertionError as error:
            end = (self.directory / "log").read_text(errors="replace")[-1500:]
            raise AssertionError(f"the engine has not come up: {end}") from error

    def end(self, how: signal.Signals) -> None:
        """End the daemon, and wait until it is gone. What runs in its containers may run on."""
        assert self._daemon is not None
        # nsenter waits for the daemon as its child, and ends with it.
        children = Path(f"/proc/{self._daemon.pid}/task/{self._daemon.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), how)
        self._daemon.wait(timeout=_SECONDS)

    def load(self, *tags: str) -> None:
        """Copy images of the machine's engine."""
        with subprocess.Popen(["docker", "--host", self._machines, "save", *tags], stdout=subprocess.PIPE) as saved:
            subprocess.run(["docker", "--host", self.host, "load", "--quiet"], stdin=saved.stdout, check=True)
        assert saved.returncode == 0

    @contextmanager
    def beside(self, *words: str) -> Iterator[None]:
        """A program of this machine in the engine's network."""
        command = ["setpriv", "--pdeathsig", "KILL", "nsenter", "--target", self._first, "--net", *words]
        with subprocess.Popen(command) as process:
            try:
                yield
            finally:
                process.kill()

    def stored(self) -> int:
        """Bytes of all layers on the disk."""
        files = (self.directory / "data" / "overlay2").rglob("*")
        return sum(path.lstat().st_size for path in files if path.is_file())

    @contextmanager
    def client(self) -> Iterator[docker.DockerClient]:
        connected = docker.DockerClient(self.host, timeout=_SECONDS)
        try:
            yield connected
        finally:
            connected.close()

    def close(self) -> None:
        self._namespaces.kill()
        self._namespaces.wait()
        if self._daemon:
            self._daemon.wait(timeout=_SECONDS)

    def _has_namespaces(self) -> bool:
        children = Path(f"/proc/{self._namespaces.pid}/task/{self._namespaces.pid}/children").read_text().split()
        self._first = children[0] if children else ""
        return bool(self._first) and Path(f"/proc/{self._first}/comm").read_text().strip() == "docker-init"

    def _answers(self) -> bool:
        with contextlib.suppress(docker.errors.DockerException, OSError), self.client() as client:
            return bool(client.ping())
        return False


@contextmanager
def own_engine() -> Iterator[OwnEngine]:
    """Nothing of it is left at the end."""
    require_own_engine()
    directory = Path(tempfile.mkdtemp(prefix="engine-"))  # containerd refuses long names of sockets
    engine = OwnEngine(directory)
    try:
        engine.start()
        yield engine
    finally:
        engine.close()
        shutil.rmtree(directory)


def _until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _SECONDS
    while not condition():
        assert process.poll() is None, "it has ended"
        assert time.monotonic() < end, "it takes too long"
        threading.Event().wait(0.1)  # what comes up needs the processor
