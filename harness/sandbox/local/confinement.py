"""Confinement of a local sandbox's processes: by bubblewrap, or only by a clean environment."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol

from harness.sandbox.forwarding.carrying import shown_sockets
from harness.sandbox.host import host_environment
from harness.sandbox.local.call_filter import call_filter
from harness.sandbox.local.place import HOME, PROGRAMS, LocalDirectory
from harness.sandbox.options import mapped
from harness.sandbox.protocol import AGENT_LOGS, Image, Limits, SandboxOptions

_BIN = "/opt/testwright/bin"
_ETC = (
    "alternatives", "ca-certificates", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types",
    "os-release", "protocols", "services", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
"""Files of this machine's /etc that programs need and that hold no secrets."""
_LIMITED = 'ulimit -c 0 -f "$1" -d "$2"; shift 2; exec "$@"'


class Launch(NamedTuple):
    """A process to start on this machine, with nothing in its environment but this.

    `call_filter` is what bubblewrap, the process's program, gets in a file that it inherits; none where it is empty.
    `enter` is a command before it, which goes on as that program.
    """

    argv: list[str]
    env: dict[str, str]
    directory: Path
    call_filter: bytes = b""
    enter: tuple[str, ...] = ()

    def joining(self, holder: int) -> "Launch":
        """Return the same in the network of another process, which has one of its own; for bubblewrap's alone."""
        [program, everything, *words] = self.argv
        enter = ("nsenter", f"--target={holder}", "--user", "--net", "--preserve-credentials", "--")
        return self._replace(argv=[program, everything, "--share-net", *words], enter=enter)


class Confinement(Protocol):
    """A way to confine processes. `alone` says whether they see none but their sandbox's."""

    isolation: str
    alone: bool

    def path(self, place: LocalDirectory, path: str) -> str:
        """Return where the sandbox's processes find a path of the contract."""
        ...

    def launch(
        self,
        place: LocalDirectory,
        image: Image,
        options: SandboxOptions,
        argv: Sequence[str],
        env: Mapping[str, str],
        driver: bool,
    ) -> Launch:
        """Return how to start `argv` in a sandbox; a driver is safe from its own commands where that is possible."""
        ...


class Bubblewrap:
    """Namespaces of its own: no network but loopback, no processes but its own, no files but system and tree."""

    isolation = "bubblewrap"
    alone = True

    def path(self, place: LocalDirectory, path: str) -> str:  # noqa: ARG002  # Plain's needs the place
        return path

    def launch(
        self,
        place: LocalDirectory,
        image: Image,
        options: SandboxOptions,
        argv: Sequence[str],
        env: Mapping[str, str],
        driver: bool,
    ) -> Launch:
        flags = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--hostname", "box"]
        flags += ["--uid", "1000", "--gid", "1000"]
        # The first process of a namespace can't be killed or stopped from within.
        flags += ["--as-pid-1"] if driver else []
        flags += ["--bind", str(place.files), "/", "--proc", "/proc", "--dev", "/dev"]
        bind = "--bind" if options.writable is None else "--ro-bind"
        for path in (image.workdir, PurePosixPath(AGENT_LOGS).parts[1], HOME, "/var/tmp"):
            flags += [bind, str(place.real(path)), str(PurePosixPath("/", path))]
        for path in ("/tmp", *(options.writable or ())):
            flags += ["--bind", str(place.real(path)), path]
        reference = Path(image.reference)
        flags += [*_programs(), *_settings(), *_environment(reference), *_mounts(options)]
        flags += [*_hidden(place, options.hidden), "--remount-ro", "/"]
        flags += ["--chdir", image.workdir]
        path = f"{reference / 'venv' / 'bin'}:{_BIN}:/usr/local/bin:/usr/bin:/bin"
        clean = {"PATH": path, "HOME": HOME, "HOSTNAME": "box", "LANG": "C.UTF-8"}
        return Launch(
            ["bwrap", *flags, "--", *_limited(argv, options.limits)],
            {**clean, **image.env, **options.env, **env},
            place.directory,
            b"" if driver else call_filter(),
        )


class Plain:
    """No confinement: the sandbox's paths are below its directory, and everything else is in reach."""

    isolation = "none"
    alone = False

    def path(self, place: LocalDirectory, path: str) -> str:
        return str(place.real(path)) if path.startswith("/") else path

    def launch(
        self,
        place: LocalDirectory,
        image: Image,
        options: SandboxOptions,
        argv: Sequence[str],
        env: Mapping[str, str],
        driver: bool,  # noqa: ARG002  # nothing makes it safer here
    ) -> Launch:
        reference = Path(image.reference)
        clean = {
            "PATH": f"{reference / 'venv' / 'bin'}:{reference / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(place.real(HOME)),
            "TMPDIR": str(place.real("/tmp")),
            "LANG": "C.UTF-8",
            "TESTWRIGHT_AGENT_LOGS": str(place.real(AGENT_LOGS)),
        }
        tops = (image.workdir, "/logs")

        def real(text: str) -> str:
            return mapped(text, lambda path: str(place.real(path)), tops)

        given = {name: real(value) for name, value in {**image.env, **options.env, **env}.items()}
        words = [real(word) for word in argv]
        return Launch(_limited(words, options.limits), {**clean, **given}, place.real(image.workdir))


HOLDER = ("bwrap", "--unshare-user", "--unshare-net", "--die-with-parent", "--dev-bind", "/", "/", "--")
"""Before a command that holds a network that others join: loopback alone, which bubblewrap brings up."""


def works() -> bool:
    """Return whether bubblewrap is installed and this machine lets it make namespaces."""
    if shutil.which("bwrap") is None:
        return False
    # Not all of /: mounts below it that come and go, as an engine's do, would make it fail now and then.
    probe = ["bwrap", "--unshare-all", "--uid", "1000", *_programs(), "--proc", "/proc"]
    for link in filter(Path.is_symlink, map(Path, PROGRAMS)):
        probe += ["--symlink", str(link.readlink()), str(link)]
    try:
        done = subprocess.run([*probe, "true"], env=host_environment(), capture_output=True, timeout=10, check=False)
        return done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _programs() -> list[str]:
    """Return mounts of this machine's programs and libraries, read-only."""
    directories = [path for path in PROGRAMS if Path(path).is_dir() and not Path(path).is_symlink()]
    return [option for path in directories for option in ("--ro-bind", path, path)]


def _settings() -> list[str]:
    return [option for name in _ETC for option in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")]


def _environment(reference: Path) -> list[str]:
    """Return the venv at its own path, which its scripts name, and the interpreter that it is made from."""
    options = ["--ro-bind", str(reference / "venv"), str(reference / "venv")]
    options += ["--ro-bind", str(reference / "bin"), _BIN]
    python = reference / "venv" / "bin" / "python"
    for program in {python.resolve(), _home(reference / "venv") / "python"}:
        prefix = program.parent.parent
        if not prefix.is_relative_to("/usr") and program.exists():
            for part in ("bin", "lib", "lib64"):
                options += ["--ro-bind-try", str(prefix / part), str(prefix / part)]
    return options


def _mounts(options: SandboxOptions) -> list[str]:
    return [
        word
        for mount in (*options.mounts, *shown_sockets(options.gateways))
        for word in ("--ro-bind" if mount.read_only else "--bind", str(mount.source), mount.target)
    ]


def _hidden(place: LocalDirectory, paths: Sequence[str]) -> list[str]:
    """Return an empty directory over each directory, and over each file one that can be neither read nor run."""
    words: list[str] = []
    for path in paths:
        ours = any(PurePosixPath(path).is_relative_to(top) for top in PROGRAMS)
        here = Path(path) if ours else place.real(path)
        if here.is_dir():
            words += ["--tmpfs", path]
        elif here.exists():  # what a link leads to: nothing can be mounted upon a link
            words += ["--ro-bind", "/dev/null", str(here.resolve()) if ours else path]
    return words


def _home(venv: Path) -> Path:
    """Return the directory of the interpreter that a venv was made with."""
    config = venv / "pyvenv.cfg"
    lines = config.read_text().splitlines() if config.is_file() else []
    pairs = (line.partition("=") for line in lines)
    return next((Path(value.strip()) for key, _, value in pairs if key.strip() == "home"), Path("/usr/bin"))


def _limited(argv: Sequence[str], limits: Limits) -> list[str]:
    """Return a second fence: sizes of one file and of one process's data, in KiB."""
    kib = 1024
    return ["bash", "-c", _LIMITED, "bash", str(limits.disk_mb * kib), str(limits.memory_mb * kib), *argv]
