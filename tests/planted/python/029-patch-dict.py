# kind: member; line: 9; name: COMMAND_TABLE; how: mock.patch.dict by string and fails
import asyncio
from unittest import mock

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP


@mock.patch.dict("aiosmtpd.smtp.COMMAND_TABLE", {"XPING": None})
def test_unknown_command_is_registered():
    loop = asyncio.new_event_loop()
    server = SMTP(Sink(), hostname="mx", loop=loop)
    loop.close()
    assert server.session is None
