# kind: none; line: 0; name: -; how: set attributes that __init__ makes on a spec of the class, own names on own classes, patches of real names
import asyncio
import time
from unittest import mock

from aiosmtpd import controller as ctl
from aiosmtpd.handlers import Message
from aiosmtpd.smtp import Envelope, Session
from cachetools import LRUCache, TTLCache


class Inbox(Message):
    def __init__(self):
        super().__init__()
        self.box = []

    def handle_message(self, message):
        self.box.append(message)


def test_spec_of_the_class():
    envelope = mock.Mock(spec=Envelope)
    envelope.content = "A: b\n\nc"
    envelope.mail_from = "a@x"
    envelope.rcpt_tos = ["b@x"]
    session = mock.Mock(spec=Session)
    session.peer = ("h", 1)
    inbox = Inbox()
    assert asyncio.run(inbox.handle_DATA(None, session, envelope)) == "250 OK"
    assert inbox.box[0]["A"] == "b"


class Missing(LRUCache):
    def __missing__(self, key):
        self.asked = key
        return None


def test_missing_is_called():
    cache = Missing(maxsize=1)
    assert cache["nothing"] is None
    assert cache.asked == "nothing"


def test_no_ipv6(monkeypatch):
    monkeypatch.setattr("aiosmtpd.controller._has_ipv6", lambda: False)
    assert ctl.get_localhost() == "127.0.0.1"


def test_environment(monkeypatch):
    monkeypatch.setenv("AIOSMTPD_CONTROLLER_TIMEOUT", "7")
    c = ctl.Controller(Inbox(), port=0)
    c.loop.close()
    assert c.ready_timeout == 7.0


def test_time_of_the_module():
    with mock.patch("cachetools.time.monotonic", return_value=3):
        cache = TTLCache(maxsize=1, ttl=1, timer=lambda: time.monotonic())
        assert cache.timer() == 3
