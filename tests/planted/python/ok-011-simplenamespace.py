# kind: none; line: 0; name: -; how: SimpleNamespace as a stand-in, and as the suite's own record
from types import SimpleNamespace

from aiosmtpd.handlers import AsyncMessage, Message
from cachetools import LRUCache, cachedmethod


class Keeping(Message):
    def handle_message(self, message):
        self.kept = message


def test_headers_are_added():
    session = SimpleNamespace(peer=("h", 1))
    envelope = SimpleNamespace(content=b"A: b\r\n\r\nc", mail_from="a@x", rcpt_tos=["b@x", "c@x"])
    message = Keeping().prepare_message(session, envelope)
    assert message["X-MailFrom"] == "a@x"
    assert message["X-RcptTo"] == "b@x, c@x"
    assert hasattr(AsyncMessage, "prepare_message")


def test_cache_of_a_stand_in():
    owner = SimpleNamespace(store=LRUCache(maxsize=1), calls=0)

    @cachedmethod(lambda self: self.store)
    def work(self, n):
        self.calls += 1
        return n

    assert work(owner, 1) == work(owner, 1) == 1
    assert owner.calls == 1
