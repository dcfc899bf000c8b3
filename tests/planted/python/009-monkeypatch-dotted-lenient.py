# kind: member; line: 10; name: MAX_BOGUS_COMMANDS; how: monkeypatch.setattr by dotted string with raising=False
import asyncio

from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP


def test_bogus_limit_is_raised(monkeypatch):
    monkeypatch.setattr(
        "aiosmtpd.smtp.MAX_BOGUS_COMMANDS",
        50,
        raising=False,
    )
    loop = asyncio.new_event_loop()
    try:
        server = SMTP(Sink(), hostname="mail.example.org", loop=loop)
        assert server.hostname == "mail.example.org"
    finally:
        loop.close()
