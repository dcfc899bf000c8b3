"""The cache directory: files that can be made again, and locks so that no two processes make them at once.

Temporary directories, and errors of the disk: they name the file and never become a verdict.

The part of our environment that programs of this machine (git, docker, pip, npm, go) get: what they need, no key.

A list of what may pass, since a key can have any name. A program's own settings may hold passwords of its own.
"""

import asyncio
import errno
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from harness.sandbox.cache_place import cache_directory as cache_directory  # also for those that import it from here
from harness.specs.errors import NotWritable, ToolFailed

_NAMED_BY = "TESTWRIGHT_CACHE for the cache, TMPDIR for temporary files, -o for a run"


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """Provide a temporary directory.

    Raises:
        ToolFailed: None can be made.
    """
    try:
        made = tempfile.TemporaryDirectory(prefix="testwright-", ignore_cleanup_errors=True)
    except OSError as error:
        raise ToolFailed(f"no temporary directory can be made: {error}") from None
    with made as name:
        yield Path(name)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the disk on which `path` is written into a ToolFailed that names it."""
    try:
        yield
    except OSError as error:
        words = f"{path}: {error.strerror or error}"
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise NotWritable(f"{words}; make it writable, or name another directory ({_NAMED_BY})") from error
        raise ToolFailed(words) from error


_POLL_SECONDS = 0.05


@asynccontextmanager
async def locked(name: str) -> AsyncIterator[None]:
    """Keep every other coroutine and process of this machine out of `name`.

    The lock is polled, so that a waiter can be cancelled. The kernel lets go when the process dies.

    Raises:
        ToolFailed: The cache can't be written.
    """
    path = cache_directory() / "locks" / f"{name}.lock"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    while (lock := held(path)) is None:  # noqa: ASYNC110 - who lets go may be another process
        await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()


def held(path: Path) -> FileLock | None:
    """Return a lock on a file, to be released; None where somebody else has it.

    Raises:
        ToolFailed: The file can't be made.
    """
    # Not one of this thread alone: whoever holds it may be waited for, and let go, in another one.
    lock = FileLock(path, thread_local=False)
    with writing(path):
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return None
    return lock


PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY")
PROXIES = (*PROXY_VARIABLES, *map(str.lower, PROXY_VARIABLES))
DOCKER = ("DOCKER_*", "BUILDKIT_*", "BUILDX_*", "SSH_AUTH_SOCK", "TESTWRIGHT_PULL_SECONDS")
PIP = ("PIP_*", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NETRC", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS")
GO = ("GOPROXY", "GOSUMDB", "GONOSUMDB", "GOENV", "GOROOT", "GOPATH", "GOCACHE", "GOFLAGS")
NPM = ("NPM_CONFIG_*", "npm_config_*", "NODE_EXTRA_CA_CERTS")
_ANY = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP", "XDG_*",
    "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip


def host_environment(*own: str, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that any program gets, and those of this one: names, or beginnings followed by `*`."""
    names = frozenset((*_ANY, *own))
    beginnings = tuple(name.removesuffix("*") for name in names if name.endswith("*"))
    return {name: value for name, value in environment.items() if name in names or name.startswith(beginnings)}
