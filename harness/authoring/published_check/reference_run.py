"""The results of the reference's tests under both sets of rules, as far as the logs show them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from harness.specs.ids import TestId
from harness.specs.results import Outcome
from harness.testing.published import ParsedTest
from harness.testing.published_names import means
from harness.tracks.swe_atlas.rule import found_as
from harness.verify.evidence import AT_BASELINE
from harness.verify.verdict import TestRecord

OURS, PUBLISHED = "testwright", "published"
_REMOVAL, _BASELINE = "removal-1", str(AT_BASELINE)


class Concerned(NamedTuple):
    """`told`: test -> by which rules something is so. `everything`: by one of them for all that it could be."""

    told: Mapping[str, tuple[str, ...]]
    everything: bool


@dataclass(frozen=True)
class ReferenceRun:
    """`listed` are the names of the manifest as the published rule reads them; `before` and `after` its two logs.

    `tests` is our own mutation stage, empty where it didn't come to that; `printed_before` and
    `printed_after` are what these were made of.
    """

    listed: tuple[str, ...]
    tests: tuple[TestRecord, ...]
    before: tuple[ParsedTest, ...]
    after: tuple[ParsedTest, ...]
    printed_before: bytes = b""
    printed_after: bytes = b""

    @cached_property
    def survivors(self) -> Concerned:
        """Green tests that the removal leaves green, or skipped."""
        alive = [item.test for item in self.tests if item.arms.get(_REMOVAL) in (Outcome.PASSED, Outcome.SKIPPED)]
        alive_there = [name for name, status in self._after.items() if status in ("PASSED", "SKIPPED")]
        return self._of_green(alive, [name for name in self._green_there if name in alive_there])

    @cached_property
    def lost(self) -> Concerned:
        """Green tests of which there is no result once the code is gone."""
        missing = [item.test for item in self.tests if item.arms.get(_REMOVAL) == Outcome.MISSING]
        return self._of_green(missing, [name for name in self._green_there if name not in self._after])

    @cached_property
    def unseen(self) -> Concerned:
        """Listed names that no result on the code as it is can belong to."""
        ours = {item.test for item in self.tests if _at_baseline(item, Outcome.MISSING)}
        there = {name for name in self.listed if not found_as(name, self.before)}
        here = {name for name in self.listed if any(_is(name, test) for test in ours)}
        told = {name: _rules(name in here, name in there) for name in self.listed if name in here | there}
        return Concerned(told, everything=len(told) == len(self.listed))

    @cached_property
    def several(self) -> Mapping[str, Sequence[str]]:
        """Listed names that several results count for, with the names of these."""
        found = {name: found_as(name, self.before) for name in self.listed}
        return {name: names for name, names in found.items() if len(names) > 1}

    @cached_property
    def _green_here(self) -> list[str]:
        return [item.test for item in self.tests if _at_baseline(item, Outcome.PASSED)]

    @cached_property
    def _green_there(self) -> list[str]:
        green = [test for test in self.before if test.status == "PASSED"]
        return list(dict.fromkeys(found for name in self.listed for found in found_as(name, green)))

    @cached_property
    def _after(self) -> Mapping[str, str]:
        return {test.name: test.status for test in self.after}

    def _of_green(self, ours: Sequence[str], published: Sequence[str]) -> Concerned:
        """Results of a log are told as the test of ours that their name means, where the same holds of that."""
        here = dict.fromkeys(test for test in ours if test in self._green_here)
        there = dict.fromkeys(next((test for test in here if _is(name, test)), name) for name in published)
        told = {test: _rules(test in here, test in there) for test in here | there}
        all_here = bool(here) and len(here) == len(self._green_here)
        return Concerned(told, all_here or (bool(published) and len(published) == len(self._green_there)))


def _is(name: str, test: str) -> bool:
    return means(name, TestId.parse(test))


def _at_baseline(item: TestRecord, outcome: Outcome) -> bool:
    return item.arms.get(_BASELINE) == outcome


def _rules(ours: bool, published: bool) -> tuple[str, ...]:
    return tuple(name for name, holds in ((OURS, ours), (PUBLISHED, published)) if holds)
