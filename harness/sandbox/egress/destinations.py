"""Decides where a connection may go and opens it: by name, to listed ports, never into a private network.

Hosts and ports that may be reached.
"""

import asyncio
import base64
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from requests.utils import get_environ_proxies

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
    """Return the endpoint `HOST[:PORT][=ADDRESS]`, as users name one.

    Raises:
        UserError: It is written otherwise.
    """
    name, _, address = text.strip().partition("=")
    host, _, port = name.partition(":")
    if not is_host(host.lower()) or (port and not port.isdecimal()) or not 0 < int(port or 443) < 65536:
        raise UserError(f"registry {text!r}: write HOST, HOST:PORT or HOST:PORT=ADDRESS; the host is a name")
    if "=" in text and not is_address(address):
        raise UserError(f"registry {text!r}: {address!r} is no IP address")
    return Endpoint(host.lower(), int(port or 443), address)


def endpoint_of(url: str, whose: str) -> Endpoint:
    """Return where a client's registry is.

    Raises:
        UserError: An agent can't be given it.
    """
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
    """Return whether it is a host's name in small letters: an address is none."""
    return bool(_HOST.fullmatch(text)) and not is_address(text) and not text.rpartition(".")[2].isdecimal()


def is_address(text: str) -> bool:
    """Return whether a text is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


DIAL_SECONDS = 20.0
HEAD_BYTES = 16384
_OURS = tuple(
    map(
        ipaddress.ip_network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
            "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3",
            "::/96", "64:ff9b::/32", "100::/64", "2001::/32", "2002::/16", "fc00::/7", "fe80::/9", "ff00::/8",
        ),
    )
)  # fmt: skip
"""This machine, its networks, and what leads to such: no place of a public registry."""

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Resolve = Callable[[str, int], Awaitable[list[str]]]


class Refused(Exception):
    """A destination that isn't allowed: `address`, `name`, `host`, `port`, `private-address`."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Destinations:
    """Destinations that `endpoints` allow.

    A name is looked up once for each connection, and what was checked is used.
    """

    def __init__(self, endpoints: Collection[Endpoint], resolve: Resolve | None = None) -> None:
        self._endpoints = {(it.host, it.port): it for it in endpoints}
        self._hosts = {it.host for it in endpoints}
        self._resolve = resolve or _resolve

    def check(self, host: str, port: int) -> Endpoint:
        """Return an endpoint that a request may reach.

        Raises:
            Refused: It may not.
        """
        if is_address(host):
            raise Refused("address")
        name = host.lower().rstrip(".")
        if not is_host(name):
            raise Refused("name")
        if name not in self._hosts:
            raise Refused("host")
        if (name, port) not in self._endpoints:
            raise Refused("port")
        return self._endpoints[name, port]

    async def open(self, endpoint: Endpoint) -> Ends:
        """Connect to an endpoint.

        Raises:
            Refused: Its address is one of this machine or its network.
            OSError: It can't be reached.
        """
        async with asyncio.timeout(DIAL_SECONDS):
            if endpoint.address:
                return await asyncio.open_connection(endpoint.address, endpoint.port)
            if proxy := _proxy_of_this_machine(endpoint):
                return await _through(proxy, endpoint)
            addresses = await self._resolve(endpoint.host, endpoint.port)
            public = [address for address in addresses if is_elsewhere(address)]
            if addresses and not public:
                raise Refused("private-address")
            return await _first_of(public, endpoint.port)


def is_elsewhere(address: str) -> bool:
    """Return whether an address is none of this machine and none of a private network."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    return not any(found in network for network in _OURS if network.version == found.version)


async def _resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def _first_of(addresses: list[str], port: int) -> Ends:
    error = OSError("no address")
    for address in addresses:
        try:
            return await asyncio.open_connection(address, port)
        except OSError as failed:
            error = failed
    raise error


def _proxy_of_this_machine(endpoint: Endpoint) -> str:
    """Return the proxy that this machine's own clients use for a host; empty where they use none."""
    scheme = "http" if endpoint.port == 80 else "https"
    found = get_environ_proxies(f"{scheme}://{endpoint.host}:{endpoint.port}")
    return found.get(scheme) or found.get("all") or ""


async def _through(proxy: str, endpoint: Endpoint) -> Ends:
    """Return a tunnel through another proxy, which looks the name up. Raises OSError."""
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme != "http" or not parts.hostname:
        raise OSError(f"no way through a proxy of the kind {parts.scheme!r}")
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
    place = f"{endpoint.host}:{endpoint.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if parts.username:
        word = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(word.encode()).decode()}")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        answer = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        answer = b""
    except BaseException:  # the time for it is over
        writer.close()
        raise
    if answer[:12] not in (b"HTTP/1.1 200", b"HTTP/1.0 200"):
        writer.close()
        raise OSError(f"the proxy of this machine doesn't lead there: {answer[:100]!r}")
    return reader, writer
