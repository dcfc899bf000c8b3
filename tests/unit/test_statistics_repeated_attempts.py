"""pass@k and pass^k, held against counting every choice of attempts."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.results.statistics.proportions import pass_all, pass_at

cases = st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(1, n), st.integers(0, n), st.just(n)))


@given(cases)
def test_both_count_the_choices_of_k_attempts(case):
    k, resolved, attempts = case
    choices = list(combinations([True] * resolved + [False] * (attempts - resolved), k))
    assert pass_at(k, resolved, attempts) == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_all(k, resolved, attempts) == pytest.approx(sum(map(all, choices)) / len(choices))


def test_known_values():
    """pass@k: the reference code of Chen et al. (2021), 1 - prod(1 - k / arange(n - c + 1, n + 1))."""
    assert pass_at(10, 3, 20) == pytest.approx(0.8947368421)
    assert pass_at(1, 3, 20) == pytest.approx(0.15)
    assert pass_all(1, 3, 20) == pytest.approx(0.15)
    assert pass_all(2, 3, 4) == pytest.approx(0.5)


@pytest.mark.parametrize("case", [(0, 1, 2), (3, 1, 2), (1, 3, 2), (1, -1, 2)])
def test_what_cannot_be_is_refused(case):
    for formula in (pass_at, pass_all):
        with pytest.raises(ValueError, match="attempts resolved"):
            formula(*case)
