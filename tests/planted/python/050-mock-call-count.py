# kind: on-mock; line: 20; name: flush_queue; how: call_count of a child which the code never touches
import asyncio
import io
from unittest.mock import Mock

from aiosmtpd.handlers import Debugging


def test_debugging_prints_the_message():
    session = Mock()
    session.peer = ("::1", 1)
    envelope = Mock()
    envelope.mail_options = []
    envelope.rcpt_options = []
    envelope.content = b"Subject: hi\r\n\r\nbody\r\n"
    stream = io.StringIO()
    status = asyncio.run(Debugging(stream).handle_DATA(Mock(), session, envelope))
    assert status == "250 OK"
    assert "body" in stream.getvalue()
    assert session.flush_queue.call_count == 0
