"""Calls the decoder of TLV blocks on drawn input and writes down what it gives: `INPUT => RESULT`."""

import hashlib
import random

from testwright_drawing import drawn_calls

from aiosmtpd.proxy_protocol import ProxyData, ProxyTLV

INPUTS = 260
TYPES = [0x01, 0x02, 0x03, 0x04, 0x05, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x30]
BUFFERS = [bytes, bytes, bytearray, memoryview]


def record(draw: random.Random, depth: int) -> bytes:
    typ = draw.choice([*TYPES, 0x20, draw.randrange(256)])
    size = draw.choice([0, 1, 3, 7, 20, 20, 254, 255, 256, 257, 512, 1300])
    value = draw.randbytes(size)
    if typ == 0x20 and depth < 3 and draw.random() < 0.9:
        value = draw.randbytes(5) + block(draw, depth + 1)
        if draw.random() < 0.1:
            value = value[: draw.randrange(6)]
    return bytes([typ]) + len(value).to_bytes(2, "big") + value


def block(draw: random.Random, depth: int = 0) -> bytes:
    data = b"".join(record(draw, depth) for _ in range(draw.choice([0, 1, 1, 2, 2, 3, 5])))
    if draw.random() < 0.4:
        data = data[: -draw.randint(1, 9)]
    return data


def words(value: object) -> str:
    """One line, however long the value is and whichever buffer it is kept in"""
    if isinstance(value, (bytes, bytearray, memoryview)):
        text = bytes(value).hex()
        digest = hashlib.sha256(text.encode()).hexdigest()
        return type(value).__name__ + (text if len(text) < 80 else digest)
    if isinstance(value, dict):
        items = ", ".join(f"{key}: {words(item)}" for key, item in value.items())
        places = words(value.tlv_loc) if isinstance(value, ProxyTLV) else ""
        return f"{type(value).__name__}{places}({items})"
    if isinstance(value, tuple):
        return "; ".join(map(words, value))
    return repr(value)


def received(data: bytes) -> tuple:
    header = ProxyData(version=2)
    header.rest = data
    return header.tlv, header.tlv is header.tlv, header.error


def calls(draw: random.Random):
    """What is called, in words, and a function of no arguments"""
    data = draw.choice(BUFFERS)(block(draw))
    partial, strict = draw.choice([True, False, 1, 0]), draw.random() < 0.3
    shown = f"{type(data).__name__} {bytes(data).hex()}"
    kind = draw.randrange(10)
    if kind < 5:
        name = f"parse {partial} {strict} {shown}"
        return name, lambda: ProxyTLV.parse(data, partial_ok=partial, strict=strict)
    if kind < 7:
        return f"from_raw {strict} {shown}", lambda: ProxyTLV.from_raw(data, strict)
    if kind < 9:
        return f"received {shown}", lambda: received(data)
    wanted = draw.choice([*ProxyTLV.PP2_TYPENAME.values(), "alpn", "x20", ""])
    return f"name_to_num {wanted}", lambda: ProxyTLV.name_to_num(wanted)


def test_drawn_calls():
    with drawn_calls() as (draw, call):
        for _ in range(INPUTS):
            name, function = calls(draw)
            call("", name, lambda: words(function()))
