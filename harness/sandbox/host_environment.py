"""The part of our environment that programs of this machine (git, docker, pip, npm, go) get: what they need, no key.

A list of what may pass, since a key can have any name. A program's own settings may hold passwords of its own.
"""

import os
from collections.abc import Mapping

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
    """The variables that any program gets, and those of this one: names, or beginnings with a `*` behind them."""
    names = frozenset((*_ANY, *own))
    beginnings = tuple(name.removesuffix("*") for name in names if name.endswith("*"))
    return {name: value for name, value in environment.items() if name in names or name.startswith(beginnings)}
