# kind: member; line: 8; name: max_connections; how: attribute set which the code never reads
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink


def test_connection_limit_is_respected():
    controller = Controller(Sink(), hostname="127.0.0.1", port=0)
    controller.max_connections = 1
    assert controller.hostname == "127.0.0.1"
    controller.loop.close()
