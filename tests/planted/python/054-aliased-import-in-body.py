# kind: module; line: 9; name: aiosmtpd.server; how: absent module imported under an alias in an async body run by asyncio.run
import asyncio

from aiosmtpd.handlers import Sink


def test_server_is_made_in_a_loop():
    async def make():
        import aiosmtpd.server as srv

        return srv.SMTP(Sink(), hostname="mx", loop=asyncio.get_running_loop())

    assert asyncio.run(make()).hostname == "mx"
