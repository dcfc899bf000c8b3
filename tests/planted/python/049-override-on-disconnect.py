# kind: override; line: 12; name: on_disconnect; how: subclass overrides an event method that neither SMTP nor asyncio calls, never asserted to be called
import asyncio
from unittest.mock import Mock

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP


class Tracking(SMTP):
    gone = False

    def on_disconnect(self, error):
        self.gone = True


def test_client_is_there_while_connected():
    async def talk():
        transport = Mock()
        transport.get_extra_info.return_value = ("127.0.0.1", 1)
        transport.is_closing.return_value = False
        server = Tracking(Sink(), hostname="mx", loop=asyncio.get_running_loop())
        server.connection_made(transport)
        there = server.transport is transport and not server.gone
        server.connection_lost(None)
        return there

    assert asyncio.run(talk())
