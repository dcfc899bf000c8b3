"""Errors of the verifier, counted with their intervals."""

from harness.results.injection import KnownCase, error_rates
from scripts.validity import error_lines, in_words


def answers(group: str, refused: int, taken: int, accepted: int, held: int) -> list[KnownCase]:
    return [
        *[KnownCase(group, True, False)] * refused,
        *[KnownCase(group, True, True)] * taken,
        *[KnownCase(group, False, True)] * accepted,
        *[KnownCase(group, False, False)] * held,
    ]


def test_no_error_among_twenty_two_still_leaves_fifteen_percent():
    [whole, _] = error_rates(answers("c", 0, 22, 0, 5))
    assert in_words(whole.refusals, "refused") == "0 of 22 refused, 95% interval 0% to 15%"


def test_each_kind_of_error_is_counted_where_it_was_possible():
    rates = error_rates([*answers("go", 1, 3, 0, 2), *answers("c", 0, 0, 2, 8)])
    counts = {
        item.group: [(rate.part, rate.whole) if rate else None for rate in (item.refusals, item.acceptances)]
        for item in rates
    }
    assert counts == {"all": [(1, 4), (2, 12)], "c": [None, (2, 10)], "go": [(1, 4), (0, 2)]}


def test_every_figure_is_told_with_its_interval_and_what_was_not_counted_with_a_dash():
    assert error_lines(error_rates([*answers("go", 1, 3, 0, 2), *answers("c", 0, 0, 2, 8)])) == [
        "- false refusals: 1 of 4 sufficient submissions refused, 95% interval 5% to 70%",
        "- false acceptances: 2 of 12 insufficient submissions accepted, 95% interval 5% to 45%",
        "",
        "| language | false refusals | false acceptances |",
        "|---|---|---|",
        "| c | - | 2 of 10, 95% interval 6% to 51% |",
        "| go | 1 of 4, 95% interval 5% to 70% | 0 of 2, 95% interval 0% to 66% |",
    ]


def test_where_nothing_was_judged_nothing_is_claimed():
    assert error_lines(error_rates([]))[0] == "- false refusals: -"
