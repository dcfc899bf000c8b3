# kind: parameter; line: 12; name: max_recipients; how: keyword taken by **SMTP_parameters which SMTP doesn't have, never started
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink


def test_controller_forwards_limits():
    controller = Controller(
        Sink(),
        hostname="127.0.0.1",
        port=0,
        data_size_limit=1024,
        max_recipients=3,
    )
    controller.loop.close()
    assert controller.SMTP_kwargs["data_size_limit"] == 1024
