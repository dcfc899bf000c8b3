# kind: member; line: 8; name: Thread; how: mock.patch decorator with create=True (module has threading only)
from unittest import mock

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink


@mock.patch("aiosmtpd.controller.Thread", create=True)
def test_no_thread_before_start(thread):
    controller = Controller(Sink(), hostname="127.0.0.1", port=0)
    thread.assert_not_called()
    controller.loop.close()
