import pytest

from chat.rules import Refused, checked_budget, checked_system, checked_text


@pytest.mark.parametrize("text", ["a", "a" * 10_000, " a "])
def test_texts(text):
    assert checked_text(text) == text


@pytest.mark.parametrize("text", [None, 1, "", "  \n", "a" * 10_001])
def test_what_is_no_text(text):
    with pytest.raises(Refused, match="^text: ") as refused:
        checked_text(text)
    assert refused.value.status == 400


def test_system_texts():
    assert checked_system("Be brief.") == "Be brief."
    assert checked_system("a" * 10_000) == "a" * 10_000
    assert checked_system(None) is None
    assert checked_system("") is None
    for text in (1, ["x"], "a" * 10_001):
        with pytest.raises(Refused, match="^system: "):
            checked_system(text)


def test_budgets():
    assert checked_budget(None) == 10_000
    assert [checked_budget(budget) for budget in (1, 1_000_000)] == [1, 1_000_000]
    for budget in (0, 1_000_001, -1, "5", 1.5, True):
        with pytest.raises(Refused, match="^budget: "):
            checked_budget(budget)
