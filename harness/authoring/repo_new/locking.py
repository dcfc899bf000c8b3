"""The lock of a repository: every package at one version, each file of it by its hash."""

import shutil
import subprocess
import sys
from pathlib import Path

from harness.sandbox.host_environment import NPM, PIP, PROXIES, host_environment
from harness.sandbox.images.client_config import pip_settings
from harness.specs.errors import UserError

PYTHON = "3.11"
"""Of the base image."""
_SECONDS = 600


def locked(requirements: str, scratch: Path) -> str:
    """The lock of a requirements file's text. Raises UserError where no tool is here, or none can solve it."""
    (scratch / "requirements.in").write_text(requirements)
    command = [*_tool(), str(scratch / "requirements.in"), "--output-file", str(scratch / "requirements.lock")]
    env = host_environment("UV_*", *PIP, *PROXIES)
    _run(command, env, "requirements.in")
    return (scratch / "requirements.lock").read_text()


def npm_locked(package_json: str, scratch: Path) -> str:
    """The package-lock.json of a package.json's text, by npm, without the addresses of a registry."""
    directory = scratch / "locked"
    directory.mkdir()
    (directory / "package.json").write_text(package_json)
    command = ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    command += ["--omit-lockfile-registry-resolved", "--prefix", str(directory)]
    _run(command, host_environment(*NPM, *PROXIES), "package.json")
    lock = (directory / "package-lock.json").read_text()
    if '"resolved"' in lock:
        raise UserError("package.json needs what no registry has, or npm is older than 8.12: its lock has addresses")
    return lock


def _run(command: list[str], env: dict[str, str], locked_file: str) -> None:
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(f"the lock wasn't made within {_SECONDS} s") from None
    if done.returncode:
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise UserError(f"{locked_file} can't be locked: {' '.join(said[-4:])}")


def _tool() -> list[str]:
    """The first of uv and pip-tools that is here, beside our own Python before elsewhere."""
    beside = str(Path(sys.executable).parent)
    if uv := shutil.which("uv", path=beside) or shutil.which("uv"):
        return [uv, "pip", "compile", "--quiet", "--python-version", PYTHON, *_SAME, *_indexes()]
    if compile_ := shutil.which("pip-compile", path=beside) or shutil.which("pip-compile"):
        return [compile_, "--quiet", "--strip-extras", "--allow-unsafe", "--no-emit-trusted-host", *_SAME]
    raise UserError("neither uv nor pip-compile is here, and one of them makes the lock; get it: pip install uv")


_SAME = ("--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url")


def _indexes() -> list[str]:
    """pip's own, which uv doesn't read."""
    settings = pip_settings()
    first = [f"--index-url={value}" for value in settings.get("index-url", ())]
    return [*first, *(f"--extra-index-url={value}" for value in settings.get("extra-index-url", ()))]
