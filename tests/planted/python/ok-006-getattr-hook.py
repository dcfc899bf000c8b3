# kind: none; line: 0; name: -; how: attributes served by __getattr__ of a dict-like object, among them absent ones that are None
from aiosmtpd.proxy_protocol import ProxyTLV


def test_names_of_types_are_attributes():
    tlv = ProxyTLV.from_raw(b"\x01\x00\x02h2\x05\x00\x02id")
    assert tlv.ALPN == b"h2"
    assert tlv.UNIQUE_ID == b"id"


def test_absent_names_are_none():
    tlv = ProxyTLV.from_raw(b"\x01\x00\x02h2")
    assert tlv.AUTHORITY is None
    assert tlv.SSL_CIPHER is None


def test_unknown_type_by_number():
    assert ProxyTLV.from_raw(b"\xea\x00\x01z").xEA == b"z"
