"""Hosts and ports that may be reached."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from harness.specs.errors import UserError

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True)
class Endpoint:
    """A host in small letters and a port. `address` is where it is; empty: what the host's name leads to."""

    host: str
    port: int = 443
    address: str = ""


def named_endpoint(text: str) -> Endpoint:
    """`HOST[:PORT][=ADDRESS]`, as users name one. Raises UserError."""
    name, _, address = text.strip().partition("=")
    host, _, port = name.partition(":")
    if not is_host(host.lower()) or (port and not port.isdecimal()) or not 0 < int(port or 443) < 65536:
        raise UserError(f"registry {text!r}: write HOST, HOST:PORT or HOST:PORT=ADDRESS; the host is a name")
    if "=" in text and not is_address(address):
        raise UserError(f"registry {text!r}: {address!r} is no IP address")
    return Endpoint(host.lower(), int(port or 443), address)


def endpoint_of(url: str, whose: str) -> Endpoint:
    """Where a client's registry is. Raises UserError for one that an agent can't be given."""
    try:
        parts: SplitResult = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise UserError(f"{whose} is set up with a registry whose address can't be read") from None
    if parts.username or parts.password:
        raise UserError(f"{whose} has a password in its registry's address, which agents would see; take it out")
    if parts.scheme not in _PORTS or not is_host(host):
        raise UserError(f"{whose} is set up with {url!r}: agents can be led to http and https and a host's name only")
    return Endpoint(host, port or _PORTS[parts.scheme])


def is_host(text: str) -> bool:
    """Whether it is a host's name in small letters: an address is none."""
    return bool(_HOST.fullmatch(text)) and not is_address(text) and not text.rpartition(".")[2].isdecimal()


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
