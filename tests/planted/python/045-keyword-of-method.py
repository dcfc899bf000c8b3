# kind: parameter; line: 10; name: log_level; how: keyword of a method, swallowed by suppress(TypeError)
from contextlib import suppress

from aiosmtpd.proxy_protocol import ProxyData


def test_error_makes_invalid():
    data = ProxyData(version=1)
    with suppress(TypeError):
        data.with_error("broken", log_level="DEBUG")
    assert not data.valid
