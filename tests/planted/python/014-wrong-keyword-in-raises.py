# kind: parameter; line: 9; name: max_age; how: wrong keyword inside pytest.raises(TypeError)
import pytest

from cachetools import TTLCache


def test_max_age_must_be_a_number():
    with pytest.raises(TypeError):
        TTLCache(maxsize=2, ttl=1, max_age="soon")
