"""The first of some names, in words."""

import pytest

from harness.specs.first_few import first_few


@pytest.mark.parametrize(
    ("names", "words"), [((), ""), (("a",), "a"), (("a", "b"), "a, b"), (("a", "b", "c", "d"), "a, b and 2 more")]
)
def test_names_beyond_the_first_are_counted(names: tuple[str, ...], words: str) -> None:
    assert first_few(names, 2) == words
