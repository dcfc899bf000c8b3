"""Few of many cases show what all of them show."""

from tests.support.covering import covering

CASES = {"ab": {"a", "b"}, "b": {"b"}, "bc": {"b", "c"}, "d": {"d"}, "a": {"a"}, "abcd": {"a", "b", "c", "d"}}


def shown(name: str) -> set[object]:
    return set(CASES[name])


def test_all_that_is_shown_is_shown_by_those_chosen_in_their_order():
    assert covering(CASES, shown) == ["abcd"]
    left = [name for name in CASES if name != "abcd"]
    assert covering(left, shown) == ["ab", "bc", "d"]


def test_what_is_dear_is_left_out_where_cheaper_ones_show_the_same():
    assert covering(CASES, shown, lambda name: 10 if name == "abcd" else 1) == ["ab", "bc", "d"]
    assert covering(["b", "ab", "bc"], shown, lambda name: {"b": 0.1}.get(name, 1)) == ["ab", "bc"]


def test_what_is_seen_already_needs_no_case():
    assert covering(CASES, shown, seen=frozenset("abc")) == ["d"]
    assert covering(CASES, shown, seen=frozenset("abcd")) == []
