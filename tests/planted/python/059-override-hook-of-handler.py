# kind: override; line: 12; name: handle_CONNECT; how: hook named like real ones but of no event that the server calls
import asyncio
from unittest.mock import Mock

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP


class Counting(Sink):
    seen = 0

    async def handle_CONNECT(self, server, session, envelope):
        self.seen += 1
        return "220 welcome"


def test_greeting_names_the_host():
    async def talk():
        transport = Mock()
        transport.get_extra_info.return_value = ("127.0.0.1", 1)
        transport.is_closing.return_value = False
        server = SMTP(Counting(), hostname="mx", loop=asyncio.get_running_loop())
        server.connection_made(transport)
        for _ in range(5):
            await asyncio.sleep(0)
        server.connection_lost(None)
        return b"".join(call.args[0] for call in transport.write.call_args_list)

    assert asyncio.run(talk()).startswith(b"220 mx ")
