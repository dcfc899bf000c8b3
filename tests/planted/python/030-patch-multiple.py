# kind: member; line: 12; name: DEFAULT_BACKLOG; how: mock.patch.multiple with create=True beside a real name
from unittest import mock

from aiosmtpd.main import parseargs


def test_default_port_comes_from_the_module():
    with mock.patch.multiple(
        "aiosmtpd.main",
        create=True,
        DEFAULT_PORT=2525,
        DEFAULT_BACKLOG=10,
    ):
        _, ns = parseargs(["-n"])
    assert ns.port == 2525
