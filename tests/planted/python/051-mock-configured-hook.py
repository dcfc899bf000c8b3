# kind: on-mock; line: 9; name: handle_BOUNCE; how: hook configured by the constructor and asserted by the suite only
import asyncio
from unittest.mock import AsyncMock, Mock

from aiosmtpd.smtp import SMTP


def test_no_bounce_for_noop():
    handler = Mock(handle_BOUNCE=AsyncMock(return_value="250 OK"))

    async def talk():
        transport = Mock()
        transport.get_extra_info.return_value = ("127.0.0.1", 1)
        transport.is_closing.return_value = False
        server = SMTP(handler, hostname="mx", loop=asyncio.get_running_loop())
        server.connection_made(transport)
        server.data_received(b"NOOP\r\n")
        for _ in range(5):
            await asyncio.sleep(0)
        server.connection_lost(None)
        return b"".join(call.args[0] for call in transport.write.call_args_list)

    assert b"250 OK" in asyncio.run(talk())
    handler.handle_BOUNCE.assert_not_awaited()
