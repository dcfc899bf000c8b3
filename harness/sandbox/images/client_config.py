"""Settings of this machine that builds use: certificates, indexes, proxies. None of them may stay in an image.

Certificates and configurations go in as BuildKit secrets, proxies as the build arguments that BuildKit
predefines and leaves out of an image's history.
"""

import ast
import os
import shlex
import shutil
import ssl
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from harness.sandbox.host import NPM, PIP, PROXY_VARIABLES, host_environment
from harness.specs.errors import UserError

_OWN_BUNDLE = "TESTWRIGHT_CA_BUNDLE"
_CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_CA_PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # macOS
)
_PIP_KEYS = ("index-url", "extra-index-url", "trusted-host")


def ca_bundle() -> Path | None:
    """Return the certificate bundle for builds: $TESTWRIGHT_CA_BUNDLE, else the first that this machine trusts.

    Raises:
        UserError: That variable names no file.
    """
    if own := os.environ.get(_OWN_BUNDLE):
        if not Path(own).is_file():
            raise UserError(f"{_OWN_BUNDLE}: {own} is no file")
        return Path(own)
    named = [os.environ[name] for name in _CA_VARIABLES if os.environ.get(name)]
    default = ssl.get_default_verify_paths().cafile
    places = [*named, *_CA_PLACES, *([default] if default else [])]
    return next((Path(place) for place in places if Path(place).is_file()), None)


def proxies(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the proxy variables that are set, in either case, by the names they have."""
    names = [form for name in PROXY_VARIABLES for form in (name, name.lower())]
    return {name: environment[name] for name in names if environment.get(name)}


def pip_settings() -> dict[str, tuple[str, ...]]:
    """Return pip's indexes as this machine has them configured; an environment variable beats a file.

    Addresses of this machine's files are left out: they mean nothing inside a container.
    """
    try:
        return parse_pip_settings(_pip_listing(tuple(sorted(host_environment(*PIP).items()))))
    except subprocess.CalledProcessError as error:  # is asked again next time
        return parse_pip_settings(error.stdout)


@cache
def _pip_listing(environment: tuple[tuple[str, str], ...]) -> str:
    """Return what `pip config list` prints. pip takes most of a second to start: it is asked once in a process."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, env=dict(environment), capture_output=True, text=True, timeout=30, check=True)
    return listed.stdout


def parse_pip_settings(listing: str) -> dict[str, tuple[str, ...]]:
    """Return the output of `pip config list` (`global.index-url='...'` a line) as key -> values."""
    ranked = sorted((line for line in listing.splitlines() if "=" in line), key=_rank)
    found: dict[str, tuple[str, ...]] = {}
    for line in ranked:
        name, _, quoted = line.partition("=")
        key = name.rpartition(".")[2]
        if key in _PIP_KEYS:
            values = shlex.split(ast.literal_eval(quoted))
            found[key] = tuple(value for value in values if not value.startswith(("file:", "/", ".")))
    return {key: values for key, values in found.items() if values}


def pip_own_hosts() -> tuple[str, ...]:
    """Return the hosts that pip itself comes set up with: of the index, of the files. None where pip isn't here."""
    try:
        from pip._internal.models.index import PyPI
    except ImportError:
        return ()
    return PyPI.netloc, PyPI.file_storage_domain


def _rank(line: str) -> int:
    """Return a line's rank. pip reads [global], the command's section, then the environment: the last one counts."""
    return 2 if line.startswith(":env:") else 0 if line.startswith("global.") else 1


def pip_configuration() -> str:
    """Return a pip.conf with those settings, empty when there are none."""
    settings = pip_settings()
    lines = [f"{key} =\n" + "".join(f"    {value}\n" for value in values) for key, values in settings.items()]
    return "[global]\n" + "".join(lines) if lines else ""


def npm_registry() -> str:
    """Return the registry that npm is set up with here, empty where it is npm's own or npm isn't here."""
    npm = shutil.which("npm")
    if npm is None:
        return ""
    # Two names: npm reads no file twice.
    no_files = (f"--userconfig={os.devnull}", f"--globalconfig={os.devnull}/none")
    here = npm_registry_in_use()
    return "" if here == _npm_answer([npm, "config", "get", "registry", *no_files], host_environment()) else here


def npm_registry_in_use() -> str:
    """Return the registry that npm fetches from here, its own among them; empty where npm isn't here."""
    npm = shutil.which("npm")
    return _npm_answer([npm, "config", "get", "registry"], host_environment(*NPM)) if npm else ""


def _npm_answer(command: list[str], environment: dict[str, str]) -> str:
    asked = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return asked.stdout.strip()


def npm_configuration() -> str:
    """Return an .npmrc with that registry, empty when there is none."""
    registry = npm_registry()
    return f"registry={registry}\n" if registry else ""
