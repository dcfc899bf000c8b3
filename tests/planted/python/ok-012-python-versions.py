# kind: none; line: 0; name: -; how: feature detection of Python versions and platforms
import asyncio
import sys
import threading

import pytest

from aiosmtpd.controller import UnixSocketController
from aiosmtpd.handlers import Sink
from cachetools import LRUCache, cached

if sys.version_info >= (3, 14):
    from annotationlib import get_annotations
else:
    from inspect import get_annotations


def run(coro):
    if sys.version_info >= (3, 12):
        return asyncio.run(coro, loop_factory=asyncio.new_event_loop)
    return asyncio.run(coro)


def test_wrapper_keeps_annotations():
    @cached(LRUCache(maxsize=1))
    def half(n: int) -> float:
        return n / 2

    assert get_annotations(half) == {"n": int, "return": float}


def test_runs_on_any_python():
    async def nothing():
        return threading.current_thread().name

    assert run(nothing())


@pytest.mark.skipif(sys.platform == "win32", reason="no Unix sockets")
def test_unix_socket_path(tmp_path):
    controller = UnixSocketController(Sink(), unix_socket=tmp_path / "s")
    assert controller.unix_socket == str(tmp_path / "s")
    controller.loop.close()
