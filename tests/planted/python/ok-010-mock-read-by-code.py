# kind: none; line: 0; name: -; how: children of mocks that the code under test really reads or calls
import asyncio
import io
from unittest.mock import MagicMock, Mock, patch

from aiosmtpd.handlers import Debugging, Proxy, Sink


def test_debugging_reads_the_envelope():
    session, envelope = Mock(), Mock()
    session.peer = ("::1", 2)
    envelope.mail_options = ["SIZE=3"]
    envelope.rcpt_options = []
    envelope.content = "A: b\n\nc\n"
    out = io.StringIO()
    assert asyncio.run(Debugging(out).handle_DATA(Mock(), session, envelope)) == "250 OK"
    assert "SIZE=3" in out.getvalue()


def test_parser_is_told():
    parser = Mock()
    Sink.from_cli(parser, "unwanted")
    parser.error.assert_called_once_with("Sink handler does not accept arguments")


def test_proxy_delivers_and_quits():
    envelope = MagicMock(content=b"A: b\r\n\r\nc\r\n", mail_from="a@x", rcpt_tos=["b@x"])
    with patch("aiosmtpd.handlers.smtplib.SMTP") as SMTP:
        SMTP.return_value.sendmail.return_value = {}
        session = Mock(peer=("1.2.3.4", 5))
        assert asyncio.run(Proxy("relay", 25).handle_DATA(None, session, envelope)) == "250 OK"
    SMTP.return_value.connect.assert_called_once_with("relay", 25)
    sent = SMTP.return_value.sendmail.call_args.args[2]
    assert b"X-Peer: 1.2.3.4\r\n" in sent
    SMTP.return_value.quit.assert_called_once_with()
