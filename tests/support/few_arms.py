"""Judgings with the fewest arms that one may have, for tests of what else a judging does."""

from collections.abc import Mapping
from pathlib import Path

import pytest

VERIFY = "harness.judging.verify"
FEW_VARIANTS: Mapping[str, object] = {
    f"{VERIFY}.variants.FEWEST_REWRITTEN": 1,
    f"{VERIFY}.variants.MORE_REWRITTEN": 0,
    f"{VERIFY}.variants.OF_A_REMOVAL": 1,
    f"{VERIFY}.gathering.COMPILING_AT_ONCE": 1,
}


def says_no(*_: object) -> bool:
    """Stand for `is_about_to_be_resolved`, so that nothing is run which waits for that."""
    return False


def settings(kills_drawn: int, own_runs: bool, few_variants: bool) -> dict[str, object]:
    """Return name, with its module -> value, of what `few_arms` sets."""
    found = {**(FEW_VARIANTS if few_variants else {}), f"{VERIFY}.control.KILLS_DRAWN": kills_drawn}
    if not (kills_drawn and own_runs):
        found |= {
            f"{VERIFY}.own_runs.{each}.is_about_to_be_resolved": says_no for each in ("whole_run", "package_run")
        }
    return found


def few_arms(
    monkeypatch: pytest.MonkeyPatch, kills_drawn: int = 1, own_runs: bool = True, few_variants: bool = True
) -> None:
    """Have this process judge with few arms until the test ends.

    Args:
        monkeypatch: The test's.
        kills_drawn: How many kills a control round repeats. With 0 the repository's own command doesn't run either.
        own_runs: Whether the repository's own command runs.
        few_variants: Whether few variants are drawn; else only what follows their arms is left out.
    """
    for name, value in settings(kills_drawn, own_runs, few_variants).items():
        monkeypatch.setattr(name, value)


SITE = """\
# Sets names of modules once these are loaded: tests/support/few_arms.py.
import sys
from importlib.machinery import PathFinder

SETTINGS = {}


def says_no(*_):
    return False


class Setting:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in SETTINGS:
            return None
        spec = PathFinder.find_spec(name, path, target)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            vars(module).update(SETTINGS[name])

        spec.loader.exec_module = exec_module
        return spec


"""


def few_arms_elsewhere(
    directory: Path, kills_drawn: int = 0, own_runs: bool = True, few_variants: bool = True
) -> dict[str, str]:
    """Return variables of the environment in which processes judge with few arms; see `few_arms`.

    Each start of Python looks into `directory`, which gets a file for that.
    """
    lines: dict[str, list[str]] = {}
    for name, value in settings(kills_drawn, own_runs, few_variants).items():
        module, _, own = name.rpartition(".")
        lines.setdefault(module, []).append(f"{own}={'says_no' if value is says_no else value}")
    told = [f"SETTINGS[{module!r}] = dict({', '.join(values)})" for module, values in lines.items()]
    site = directory / "few-arms"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(SITE + "\n".join([*told, "sys.meta_path.insert(0, Setting)", ""]))
    return {"PYTHONPATH": str(site)}
