"""The attacker's classifier finds what is there to be found, and nothing in noise."""

from random import Random

from tests.support.token_classifier import accuracy, features, words_of

NOISE = ["if a {", "} else {", "x = 1", "return x", "for i := range all {", "fresh()"]


def texts(marked: bool, seed: int) -> list[tuple[bool, str]]:
    chance = Random(seed)
    made = []
    for number in range(200):
        lines = [chance.choice(NOISE) for _ in range(30)]
        if marked and number % 2:
            lines.insert(chance.randrange(30), "d.Days = 7 * num")
        made.append((bool(number % 2), "\n".join(lines)))
    return made


def test_one_token_that_only_one_group_has_is_found():
    samples = texts(marked=True, seed=1)
    assert accuracy(samples, words_of("7 d Days num")) > 0.95


def test_where_groups_are_alike_it_guesses():
    rates = [accuracy(texts(marked=False, seed=seed), words_of("x")) for seed in range(5)]
    assert 0.4 < sum(rates) / len(rates) < 0.6


def test_names_that_are_not_known_are_all_the_same():
    known = frozenset({"if", "len"})
    assert features("if len(wordSize) > 1", known) == features("if len(other) > 1", known)
