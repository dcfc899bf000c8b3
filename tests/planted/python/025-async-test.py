# kind: member; line: 19; name: send_response; how: awaited in an async test
import asyncio
from unittest.mock import Mock

import pytest

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP


@pytest.mark.asyncio
async def test_greeting_is_pushed():
    server = SMTP(Sink(), hostname="mx", loop=asyncio.get_running_loop())
    transport = Mock()
    transport.get_extra_info.return_value = ("127.0.0.1", 1)
    transport.is_closing.return_value = False
    server.connection_made(transport)
    await asyncio.sleep(0)
    await server.send_response(250, "OK")
    sent = b"".join(call.args[0] for call in transport.write.call_args_list)
    assert sent.endswith(b"250 OK\r\n")
