# kind: member; line: 13; name: _now; how: patch target joined by an f-string and a constant, with create=True
from unittest.mock import patch

import pytest

from cachetools import TTLCache

MODULE = "cachetools"


@pytest.mark.parametrize("moment", [0, 10])
def test_any_moment(moment):
    with patch(f"{MODULE}._now", return_value=moment, create=True):
        cache = TTLCache(maxsize=1, ttl=5)
        cache["a"] = moment
        assert cache["a"] == moment
