# kind: none; line: 0; name: -; how: attributes made by add_argument(dest=...) and by assignment
import sys

from aiosmtpd.handlers import Debugging
from aiosmtpd.main import parseargs


def test_defaults():
    parser, ns = parseargs([])
    assert parser.prog
    assert ns.setuid is True
    assert ns.classpath == "aiosmtpd.handlers.Debugging"
    assert (ns.host, ns.port) == ("localhost", 8025)
    assert ns.requiretls and not ns.smtputf8
    assert ns.smtpscert is ns.tlskey is None


def test_handler_with_arguments():
    _, ns = parseargs(["-n", "-c", "aiosmtpd.handlers.Debugging", "stderr"])
    assert isinstance(ns.handler, Debugging)
    assert ns.handler.stream is sys.stderr
    assert ns.classargs == ["stderr"]
