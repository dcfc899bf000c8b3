"""Judgings with the fewest arms that one may have, for tests of what else a judging does."""

import pytest

from harness.judging.verify import control, gathering, variants
from harness.judging.verify.own_runs import package_run, whole_run


def few_arms(monkeypatch: pytest.MonkeyPatch, kills_drawn: int = 1, own_runs: bool = True) -> None:
    """Have this process judge with few arms until the test ends.

    Args:
        monkeypatch: The test's.
        kills_drawn: How many kills a control round repeats. With 0 the repository's own command doesn't run either.
        own_runs: Whether the repository's own command runs.
    """
    monkeypatch.setattr(variants, "FEWEST_REWRITTEN", 1)
    monkeypatch.setattr(variants, "MORE_REWRITTEN", 0)
    monkeypatch.setattr(variants, "OF_A_REMOVAL", 1)
    monkeypatch.setattr(gathering, "COMPILING_AT_ONCE", 1)
    monkeypatch.setattr(control, "KILLS_DRAWN", kills_drawn)
    if not (kills_drawn and own_runs):
        for module in (whole_run, package_run):
            monkeypatch.setattr(module, "is_about_to_be_resolved", lambda *_: False)
