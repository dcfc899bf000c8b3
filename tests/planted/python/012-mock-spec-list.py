# kind: on-mock; line: 9; name: handle_received; how: invented name given in the spec list and asserted by the suite only
import asyncio
from unittest.mock import Mock

from aiosmtpd.smtp import SMTP


def test_nothing_received_yet():
    handler = Mock(spec=["handle_received"])
    loop = asyncio.new_event_loop()
    try:
        SMTP(handler, hostname="mx", loop=loop)
    finally:
        loop.close()
    assert handler.handle_received.call_count == 0
