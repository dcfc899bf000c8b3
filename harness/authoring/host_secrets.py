"""Settings of this machine that builds use and no image may keep: proxies, indexes, private certificates."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from requests.utils import DEFAULT_CA_BUNDLE_PATH

from harness.sandbox.images.client_config import ca_bundle, npm_registry, pip_own_hosts, pip_settings, proxies

_PACKAGED = re.compile(r"usr/share/(ca-certificates|python-wheels)/|usr/local/bin/node$")
"""Node.js has the public ones compiled in."""
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)


def secret_texts() -> dict[str, bytes]:
    """Name of a setting -> its value. The values never go into a message."""
    found = {name: value for name, value in proxies().items() if name.upper() != "NO_PROXY"}
    for key, values in pip_settings().items():
        for number, value in enumerate(values, start=1):
            if not any(host in value for host in pip_own_hosts()):  # everybody's, so no secret
                found[f"pip's {key} {number}"] = value
    if registry := npm_registry():
        found["npm's registry"] = registry
    return {name: value.encode() for name, value in found.items()}


def private_certificates() -> frozenset[bytes]:
    """Those that this machine trusts and the public bundle doesn't have, as `certificates` returns them."""
    bundle, public = ca_bundle(), Path(DEFAULT_CA_BUNDLE_PATH)
    if bundle is None or bundle.resolve() == public.resolve():
        return frozenset()
    return certificates(bundle.read_bytes()) - certificates(public.read_bytes())


def certificates(data: bytes) -> frozenset[bytes]:
    """The PEM certificates in a file, without line ends."""
    return frozenset(b"".join(body.split()) for body in _CERTIFICATE.findall(data))


def published(places: Mapping[bytes, Iterable[str]]) -> frozenset[bytes]:
    """Of certificates found in an image, by their places: those that everybody's image has of the packages in it."""
    return frozenset(body for body, paths in places.items() if any(_PACKAGED.match(path) for path in paths))
