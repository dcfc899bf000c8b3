"""The proxy to package registries: what it leads to, what it refuses, what it counts."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from harness.sandbox.egress.clients import Egress
from harness.sandbox.egress.destinations import Destinations, Endpoint, Refused, Resolve, is_elsewhere
from harness.sandbox.egress.proxy import EgressProxy, serve_egress

HOST = "packages.invalid"


@asynccontextmanager
async def server(greeting: bytes = b"") -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server of loopback; its port and what it was sent."""
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        while data := await reader.read(65536):
            heard.append(data)
            writer.write(b"echo " + data)
            if data.startswith(b"GET"):
                break
        writer.close()

    running = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield int(running.sockets[0].getsockname()[1]), heard
    running.close()


@asynccontextmanager
async def proxied(*endpoints: Endpoint, resolve: Resolve | None = None) -> AsyncIterator[EgressProxy]:
    async with serve_egress(Egress(frozenset(endpoints)), resolve) as proxy:
        yield proxy


async def send(proxy: EgressProxy, *parts: bytes) -> bytes:
    """Send one after the other, each after an answer to the one before; all that comes back."""
    reader, writer = await asyncio.open_unix_connection(proxy.socket)
    got = b""
    for part in parts:
        writer.write(part)
        got += await reader.read(65536)
    writer.write_eof()
    got += await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return got


def connect(place: str) -> bytes:
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()


def counted(proxy: EgressProxy) -> dict[tuple[str, int, str], int]:
    return {(it.host, it.port, it.outcome): count for it, count in proxy.contacts.items()}


async def test_a_listed_host_is_reached_through_a_tunnel() -> None:
    async with server() as (port, heard), proxied(Endpoint(HOST, port, "127.0.0.1")) as proxy:
        got = await send(proxy, connect(f"{HOST}:{port}"), b"any bytes \0")
        assert got == b"HTTP/1.1 200 Connection established\r\n\r\necho any bytes \0"
        assert heard == [b"any bytes \0"]
        assert (await send(proxy, connect(f"{HOST.upper()}.:{port}"), b"x")).endswith(b"echo x")
        assert sum(proxy.contacts.values()) == 2


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("elsewhere.invalid:443", "host"),
        (f"sub.{HOST}:443", "host"),
        (f"{HOST}:22", "port"),
        ("127.0.0.1:443", "address"),
        ("[::1]:443", "address"),
        ("203.0.113.80:443", "address"),
        ("2130706433:443", "name"),
        ("0177.0.0.1:443", "name"),
        ("localhost:443", "host"),
    ],
)
async def test_anything_else_is_refused_and_counted(place: str, why: str) -> None:
    async def never(_host: str, _port: int) -> list[str]:
        raise AssertionError("nothing is looked up that isn't listed")

    async with proxied(Endpoint(HOST), resolve=never) as proxy:
        for _ in range(2):
            got = await send(proxy, connect(place))
            assert got.startswith(b"HTTP/1.1 403 Forbidden\r\n")
            assert got.endswith(b"is no package registry of this task\n")
        [((_, port, outcome), count)] = counted(proxy).items()
        assert (port, outcome, count) == (int(place.rpartition(":")[2]), why, 2)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::ffff:192.168.1.1", "169.254.169.254", "fd00::1"])
async def test_a_name_that_leads_into_a_private_network_is_refused(address: str) -> None:
    async def rebound(_host: str, _port: int) -> list[str]:
        return [address]

    async with server() as (port, heard), proxied(Endpoint(HOST, port), resolve=rebound) as proxy:
        assert (await send(proxy, connect(f"{HOST}:{port}"))).startswith(b"HTTP/1.1 403")
        assert counted(proxy) == {(HOST, port, "private-address"): 1}
        assert not heard


async def test_what_was_looked_up_is_what_is_connected_to() -> None:
    asked: list[str] = []

    async def once_public(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["192.0.2.1"] if len(asked) == 1 else ["127.0.0.1"]

    destinations = Destinations([Endpoint(HOST)], once_public)
    opening = asyncio.create_task(destinations.open(destinations.check(HOST, 443)))
    await asyncio.wait({opening}, timeout=0.05)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    assert asked == [HOST]
    with pytest.raises(Refused, match="private-address"):
        await destinations.open(Endpoint(HOST))


@pytest.mark.parametrize(
    ("address", "elsewhere"),
    [
        ("203.0.113.80", True), ("151.101.0.223", True), ("2a04:4e42::223", True), ("2620:2d:4000:1::3f", True),
        ("172.31.255.255", False), ("172.32.0.1", True), ("100.64.0.1", False), ("0.0.0.0", False), ("::", False),
        ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False), ("fe80::1%eth0", False), ("255.255.255.255", False),
    ],
)  # fmt: skip
def test_addresses_of_this_side_are_known(address: str, elsewhere: bool) -> None:
    assert is_elsewhere(address) is elsewhere


async def test_a_plain_request_is_sent_on_with_the_listed_hosts_own_name() -> None:
    async with server() as (port, heard), proxied(Endpoint(HOST, port, "127.0.0.1")) as proxy:
        head = b"Host: other.invalid\r\nProxy-Authorization: x\r\nContent-Length: 900\r\nAccept: */*\r\n\r\n"
        smuggled = b"GET /second HTTP/1.1\r\nHost: other.invalid\r\n\r\n"
        got = await send(proxy, f"GET http://{HOST}:{port}/simple/?x=1 HTTP/1.1\r\n".encode() + head + smuggled)
        expected = f"GET /simple/?x=1 HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\nAccept: */*\r\n\r\n"
        assert (b"".join(heard), got) == (expected.encode(), b"echo " + expected.encode())
        assert (await send(proxy, f"POST http://{HOST}:{port}/ HTTP/1.1\r\n\r\n".encode())).startswith(
            b"HTTP/1.1 403"
        )
        assert (await send(proxy, b"GET http://other.invalid/ HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 403")
        outcomes = {contact.outcome: count for contact, count in proxy.contacts.items()}
        assert outcomes == {"open": 1, "method": 1, "host": 1}


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1", b"CONNECT packages.invalid HTTP/1.1", b"CONNECT packages.invalid:443/x HTTP/1.1",
        b"CONNECT packages.invalid:443 SPDY/1", b"\xff\xfe", b"", b"GET ftp://packages.invalid/ HTTP/1.1",
        b"CONNECT packages.invalid:99999 HTTP/1.1", b"GET http://packages.invalid/ HTTP/1.1\nHost: other.invalid",
    ],
)  # fmt: skip
async def test_what_is_no_request_to_a_proxy_is_refused(head: bytes) -> None:
    async with proxied(Endpoint(HOST)) as proxy:
        assert (await send(proxy, head + b"\r\n\r\n")).startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert not proxy.contacts


async def test_a_registry_that_does_not_answer_is_told_from_a_refused_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        async with proxied(Endpoint(HOST, port, "127.0.0.1")) as proxy:
            assert (await send(proxy, connect(f"{HOST}:{port}"))).startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
            assert counted(proxy) == {(HOST, port, "failed"): 1}


async def test_an_endless_request_and_many_hosts_take_no_memory_without_bound() -> None:
    async with proxied(Endpoint(HOST)) as proxy:
        reader, writer = await asyncio.open_unix_connection(proxy.socket)
        writer.write(b"CONNECT " + b"x" * 200_000)
        assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()
        for number in range(250):
            await send(proxy, connect(f"h{number}.invalid:443"))
        assert len(proxy.contacts) == 201
        assert counted(proxy)["others", 0, "refused"] == 50


async def test_the_end_of_a_trial_ends_its_connections() -> None:
    async with server() as (port, _):
        async with proxied(Endpoint(HOST, port, "127.0.0.1")) as proxy:
            reader, writer = await asyncio.open_unix_connection(proxy.socket)
            writer.write(connect(f"{HOST}:{port}"))
            assert b"200" in await reader.read(100)
        assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()
        assert not proxy.socket.exists()


def set_proxy(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv(variable, value)


async def test_the_proxy_of_this_machine_is_used_where_it_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async with server(b"HTTP/1.1 200 Fine\r\n\r\n") as (port, heard), proxied(Endpoint(HOST)) as proxy:
        set_proxy(monkeypatch, "HTTPS_PROXY", f"http://user:a%20word@127.0.0.1:{port}")
        got = await send(proxy, connect(f"{HOST}:443"), b"hello")
    told = b"".join(heard).decode()
    assert told.startswith(f"CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\nProxy-Authorization: Basic ")
    assert told.endswith("\r\n\r\nhello")
    assert got.startswith(b"HTTP/1.1 200 Connection established\r\n\r\n")


async def test_a_refusal_by_the_proxy_of_this_machine_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    async with server(b"HTTP/1.1 407 No\r\n\r\n") as (port, _), proxied(Endpoint(HOST)) as proxy:
        set_proxy(monkeypatch, "https_proxy", f"http://127.0.0.1:{port}")
        assert (await send(proxy, connect(f"{HOST}:443"))).startswith(b"HTTP/1.1 502")


def test_its_socket_is_out_of_reach_until_it_is_shown() -> None:
    async def look() -> tuple[int, int]:
        async with proxied() as proxy:
            return proxy.socket.parent.parent.stat().st_mode & 0o777, len(list(proxy.socket.parent.iterdir()))

    assert asyncio.run(look()) == (0o700, 1)
