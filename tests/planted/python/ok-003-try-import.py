# kind: none; line: 0; name: -; how: try/except ImportError for optional modules that aren't the code's
import asyncio

from aiosmtpd.smtp import Session

try:
    import uvloop
except ImportError:
    uvloop = None

try:
    import tomllib
except ImportError:
    tomllib = None


def new_loop():
    return uvloop.new_event_loop() if uvloop else asyncio.new_event_loop()


def test_session_keeps_its_loop():
    loop = new_loop()
    try:
        assert Session(loop).loop is loop
    finally:
        loop.close()


def test_settings_are_read():
    if tomllib is not None:
        assert tomllib.loads("peer = 'x'") == {"peer": "x"}
