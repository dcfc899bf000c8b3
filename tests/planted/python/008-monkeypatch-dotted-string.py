# kind: member; line: 7; name: wait_ready; how: monkeypatch.setattr by dotted string and fails
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink


def test_start_does_not_wait(monkeypatch):
    monkeypatch.setattr("aiosmtpd.controller.Controller.wait_ready", lambda self: True)
    controller = Controller(Sink(), port=0)
    assert controller.ready_timeout == 5.0
