# kind: member; line: 6; name: frozenkey; how: getattr by constant without a default
import cachetools.keys


def test_frozen_key_hashes_unhashables():
    make_key = getattr(cachetools.keys, "frozenkey")
    assert hash(make_key([1, 2])) == hash(make_key([1, 2]))
