# kind: none; line: 0; name: -; how: methods that no base has but which the code finds by prefix (smtp_, handle_, auth_) or by hasattr
import asyncio
from unittest.mock import Mock

import pytest

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP, AuthResult, syntax


class Extended(SMTP):
    @syntax("XPING")
    async def smtp_XPING(self, arg):
        await self.push("250 pong")

    async def ehlo_hook(self):
        await self.push("250-XPING")


class Hooks(Sink):
    async def handle_NOOP(self, server, session, envelope, arg):
        return "250 noticed"

    async def handle_exception(self, error):
        return "542 broken"

    async def auth_XTOKEN(self, server, args):
        return AuthResult(success=True)


async def talk(*lines):
    transport = Mock()
    transport.get_extra_info.return_value = ("127.0.0.1", 1)
    transport.is_closing.return_value = False
    server = Extended(Hooks(), hostname="mx", auth_require_tls=False, loop=asyncio.get_running_loop())
    server.connection_made(transport)
    for line in lines:
        server.data_received(line)
    for _ in range(10):
        await asyncio.sleep(0)
    server.connection_lost(None)
    return b"".join(call.args[0] for call in transport.write.call_args_list)


def test_own_command():
    assert b"250 pong\r\n" in asyncio.run(talk(b"XPING\r\n"))


def test_hook():
    assert b"250 noticed\r\n" in asyncio.run(talk(b"NOOP\r\n"))


@pytest.mark.filterwarnings("ignore:Use handler.handle_EHLO:DeprecationWarning")
def test_ehlo_lists_what_was_added():
    said = asyncio.run(talk(b"EHLO me\r\n"))
    assert b"250-XPING\r\n" in said
    assert b"XTOKEN" in said
