# kind: module; line: 11; name: aiosmtpd.queue; how: mock.patch by string whose module is absent, in raises(Exception)
from unittest import mock

import pytest

from aiosmtpd.handlers import Sink


def test_full_queue_is_reported():
    with pytest.raises(Exception):
        with mock.patch("aiosmtpd.queue.MessageQueue.put", side_effect=MemoryError):
            Sink().from_cli(None)
