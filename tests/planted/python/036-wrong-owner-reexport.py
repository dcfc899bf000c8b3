# kind: member; line: 11; name: hashkey; how: function exists in cachetools.keys but isn't exported by the package
import cachetools


def test_default_key_is_the_hash_key():
    @cachetools.cached({})
    def identity(x):
        return x

    assert identity(3) == 3
    assert cachetools.hashkey(3) in identity.cache
