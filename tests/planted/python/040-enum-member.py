# kind: member; line: 9; name: VSOCK; how: absent member of an enum
from aiosmtpd.proxy_protocol import AF, ProxyData


def test_family_is_not_vsock():
    data = ProxyData(version=2)
    data.family = AF.UNIX
    assert data.family == AF(3)
    assert data.family is not AF.VSOCK
