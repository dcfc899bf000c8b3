# kind: member; line: 9; name: gethostname; how: mocker.patch with create=True of a name the module doesn't import
import asyncio

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP


def test_given_hostname_wins(mocker):
    mocker.patch("aiosmtpd.smtp.gethostname", create=True, return_value="other")
    loop = asyncio.new_event_loop()
    server = SMTP(Sink(), hostname="mx.example.org", loop=loop)
    loop.close()
    assert server.hostname == "mx.example.org"
