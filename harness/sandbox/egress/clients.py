"""The registries of this machine's own package clients, and what a client in a sandbox must be told of them."""

import re
import shutil
import subprocess
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

from harness.sandbox.egress.destinations import Endpoint, endpoint_of, named_endpoint
from harness.sandbox.host import GO, host_environment
from harness.sandbox.images.client_config import ca_bundle, npm_registry_in_use, pip_own_hosts, pip_settings
from harness.specs.errors import UserError
from harness.specs.task import PackageClient

EGRESS_PORT = 47116
"""The port of a sandbox's loopback where the proxy is."""
CERTIFICATES = "/tmp/testwright/certificates.pem"
"""The file of a sandbox with the certificates that this machine trusts."""
_CERTIFICATE_VARIABLES = (
    "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
)  # fmt: skip
_OWN_NAMES = "localhost,127.0.0.1,::1,box"
_SECONDS = 30


@dataclass(frozen=True)
class Egress:
    """The destinations of a task's agents, and what their commands are told: variables, certificates (PEM)."""

    endpoints: frozenset[Endpoint]
    environment: Mapping[str, str] = field(default_factory=dict)
    certificates: bytes = b""


class _Client(NamedTuple):
    """A client's addresses on this machine, and what another one must be told to fetch there."""

    endpoints: frozenset[Endpoint]
    environment: Mapping[str, str]


def egress_for(clients: Collection[PackageClient], named: Iterable[str]) -> Egress:
    """Return the way to these clients' registries, as this machine reaches them, and to those that a user has named.

    Raises:
        UserError: There is none for a client, or one that an agent can't be given.
    """
    own = {client: _client(client) for client in sorted(clients)}
    users = frozenset(map(named_endpoint, named))
    for client, found in own.items():
        if not found.endpoints and not users:
            raise UserError(f"no {client} on this machine says where its packages are; name a host with --registry")
    proxy = f"http://127.0.0.1:{EGRESS_PORT}"
    told = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "NO_PROXY": _OWN_NAMES}
    bundle = ca_bundle()
    environment = {
        **told,
        **{name.lower(): value for name, value in told.items()},
        **(dict.fromkeys(_CERTIFICATE_VARIABLES, CERTIFICATES) if bundle else {}),
        **{name: value for found in own.values() for name, value in found.environment.items()},
    }
    pinned = {(it.host, it.port) for it in users}
    theirs = frozenset(it for each in own.values() for it in each.endpoints if (it.host, it.port) not in pinned)
    return Egress(theirs | users, environment, bundle.read_bytes() if bundle else b"")


def _client(client: PackageClient) -> _Client:
    match client:
        case PackageClient.PIP:
            return _pip()
        case PackageClient.NPM:
            return _npm()
        case PackageClient.GO:
            return _go()
        case _:
            assert_never(client)


def _pip() -> _Client:
    settings = pip_settings()
    index, extra = settings.get("index-url", ()), settings.get("extra-index-url", ())
    trusted = settings.get("trusted-host", ())
    told = {"PIP_INDEX_URL": index, "PIP_EXTRA_INDEX_URL": extra, "PIP_TRUSTED_HOST": trusted}
    found = {endpoint_of(url, "pip") for url in (*index, *extra)}
    if not index:
        found |= {Endpoint(host) for host in pip_own_hosts()}
    return _Client(frozenset(found), {name: " ".join(values) for name, values in told.items() if values})


def _npm() -> _Client:
    registry = npm_registry_in_use()
    if not registry:
        return _Client(frozenset(), {})
    return _Client(frozenset({endpoint_of(registry, "npm")}), {"npm_config_registry": registry})


def _go() -> _Client:
    """Return Go's client. Modules straight from their repositories (`direct`) are left out: those are anywhere."""
    go = shutil.which("go")
    if go is None:
        return _Client(frozenset(), {})
    asked = [go, "env", "GOPROXY", "GOSUMDB"]
    answer = subprocess.run(
        asked, env=host_environment(*GO), capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    proxies, sums = (*answer.stdout.split("\n"), "", "")[:2]
    urls = [url for url in re.split(r"[,|]", proxies.strip()) if url not in ("", "direct", "off")]
    if not urls:
        return _Client(frozenset(), {})
    found = {endpoint_of(url, "go") for url in urls}
    if sums.strip() not in ("", "off"):
        name, _, url = sums.strip().partition(" ")
        found.add(endpoint_of(url.strip() or f"https://{name.partition('+')[0]}", "go"))
    return _Client(frozenset(found), {"GOPROXY": ",".join(urls), "GOSUMDB": sums.strip() or "off"})
