# kind: member; line: 6; name: Controller; how: class of aiosmtpd.controller imported from aiosmtpd.smtp
from aiosmtpd.handlers import Sink


def test_controller_keeps_its_handler():
    from aiosmtpd.smtp import Controller

    handler = Sink()
    controller = Controller(handler, hostname="127.0.0.1", port=0)
    assert controller.handler is handler
