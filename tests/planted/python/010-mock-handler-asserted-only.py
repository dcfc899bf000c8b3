# kind: on-mock; line: 14; name: on_connect; how: assert_not_called on a child which the code never touches
import asyncio
from unittest.mock import Mock

from aiosmtpd.smtp import SMTP


def test_handler_is_not_told_before_a_client_connects():
    handler = Mock()
    loop = asyncio.new_event_loop()
    try:
        server = SMTP(handler, hostname="mx", loop=loop)
        assert server.event_handler is handler
        handler.on_connect.assert_not_called()
    finally:
        loop.close()
