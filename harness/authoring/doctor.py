"""What works on this machine, and how to repair what doesn't. Leaves nothing, needs no network, takes seconds."""

import os
import platform
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from harness.authoring.doctor_engine import build_command, engine, room
from harness.authoring.doctor_tries import tries
from harness.authoring.host_secrets import certificates
from harness.sandbox.cache import cache_directory
from harness.sandbox.host_environment import host_environment
from harness.sandbox.images.client_config import ca_bundle, proxies
from harness.sandbox.local import confinement as local_confinement
from harness.specs.errors import UserError
from harness.specs.finding import Finding, Health

_ANSWER_SECONDS = 5
_KEY = re.compile(r"[A-Z0-9_]+_API_KEY")
_HERE = ("localhost", "127.0.0.1", "::1")


def doctor() -> list[Finding]:
    """Every check once, side by side; each is bounded on its own."""
    checks: list[Callable[[], list[Finding]]] = [
        engine, build_command, tries, _bubblewrap, _git, _python, _cache, _certificates, _proxies, _keys,
    ]  # fmt: skip
    with ThreadPoolExecutor(max_workers=len(checks)) as pool:
        found = [finding for findings in pool.map(lambda check: check(), checks) for finding in findings]
    return [_auto(found), *found]


def _auto(findings: list[Finding]) -> Finding:
    """What `--sandbox auto` takes here."""
    name = "sandbox auto"
    health = {finding.name: finding.health for finding in findings}
    if health["engine"] is not Health.MISSING:
        return Finding(name=name, health=Health.OK, words="takes docker")
    if health["bubblewrap"] is Health.OK:
        return Finding(name=name, health=Health.OK, words="takes local, confined by bubblewrap: no engine answers")
    words = "takes none: install Docker or bubblewrap (Debian: apt-get install docker.io, or bubblewrap)"
    return Finding(name=name, health=Health.MISSING, words=words)


def _bubblewrap() -> list[Finding]:
    if local_confinement.works():
        return [Finding(name="bubblewrap", health=Health.OK, words="confines the local sandbox")]
    if shutil.which("bwrap"):
        words = "installed, but may not make namespaces here: allow unprivileged user namespaces"
    else:
        words = "not installed; without it the local sandbox (--sandbox local) hardly confines anything"
    return [Finding(name="bubblewrap", health=Health.DEGRADED, words=words)]


def _git() -> list[Finding]:
    try:
        done = subprocess.run(
            ["git", "--version"],
            env=host_environment(),
            capture_output=True,
            text=True,
            timeout=_ANSWER_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return [Finding(name="git", health=Health.MISSING, words="doesn't answer; install git")]
    return [Finding(name="git", health=Health.OK, words=done.stdout.strip())]


def _python() -> list[Finding]:
    words = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if not hasattr(tarfile, "data_filter"):
        words += "; too old to unpack archives safely: take 3.11.4 or later"
        return [Finding(name="python", health=Health.MISSING, words=words)]
    return [Finding(name="python", health=Health.OK, words=words)]


def _cache() -> list[Finding]:
    return [room("disk of the cache", cache_directory())]


def _certificates() -> list[Finding]:
    name = "certificates"
    try:
        bundle = ca_bundle()
    except UserError as error:
        return [Finding(name=name, health=Health.MISSING, words=str(error))]
    if bundle is None:
        words = "no bundle found; set TESTWRIGHT_CA_BUNDLE where downloads in builds fail"
        return [Finding(name=name, health=Health.DEGRADED, words=words)]
    count = len(certificates(bundle.read_bytes()))
    if not count:
        words = f"{bundle} holds none; set TESTWRIGHT_CA_BUNDLE to a PEM file"
        return [Finding(name=name, health=Health.DEGRADED, words=words)]
    return [Finding(name=name, health=Health.OK, words=f"{count} in {bundle}, lent to builds")]


def _proxies(environment: Mapping[str, str] = os.environ) -> list[Finding]:
    """Names only: an address may hold a password."""
    found = proxies(environment)
    if not found:
        return [Finding(name="proxies", health=Health.OK, words="none set")]
    here = [name for name, value in found.items() if name.upper() != "NO_PROXY" and _is_here(value)]
    if here:
        words = f"{', '.join(here)}: this machine itself, which builds in containers can't reach under that name"
        return [Finding(name="proxies", health=Health.DEGRADED, words=words)]
    return [Finding(name="proxies", health=Health.OK, words=f"{', '.join(found)}, lent to builds")]


def _is_here(proxy: str) -> bool:
    try:
        return urlsplit(proxy if "://" in proxy else f"//{proxy}").hostname in _HERE
    except ValueError:
        return False


def _keys(environment: Mapping[str, str] = os.environ) -> list[Finding]:
    """Names only; those of a `.env` in the working directory are in the environment by now."""
    names = sorted(name for name, value in environment.items() if value and _KEY.fullmatch(name))
    if not names:
        words = "no *_API_KEY is set, here or in .env: the controls and recorded models work, others don't"
        return [Finding(name="model keys", health=Health.DEGRADED, words=words)]
    return [Finding(name="model keys", health=Health.OK, words=f"{', '.join(names)} (not tried)")]
