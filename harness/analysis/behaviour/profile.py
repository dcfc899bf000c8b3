"""How one trial's agent worked: how often it did what, when, and in which order."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.behaviour.actions import Action
from harness.analysis.behaviour.vocabulary import Kind

DECILES = 10

Deciles = tuple[Mapping[Kind, int], ...]
"""Kind -> number of actions, for each tenth of a trajectory."""


@dataclass(frozen=True)
class Profile:
    """`before_edit` are the actions before the first that writes (all of them where none does).

    `explored` are those of them that read, search or navigate. `tests_run` counts runs of tests, `tests_after_edit`
    those after the last edit: an agent that has none hands in what it hasn't seen run. `failed` calls ended with
    another status than 0, as far as that is known.
    """

    calls: int
    actions: int
    kinds: Mapping[Kind, int]
    deciles: Deciles
    has_edited: bool
    before_edit: int
    explored: int
    tests_run: int
    tests_after_edit: int
    failed: int

    @property
    def tested_before_submitting(self) -> bool:
        return self.tests_after_edit > 0


def profile(found: Sequence[Action], calls: int | None = None) -> Profile:
    """Pure. `calls` is how many there were, where some gave no action."""
    edits = [place for place, action in enumerate(found) if action.kind is Kind.WRITE]
    before = found[: edits[0]] if edits else found
    after = found[edits[-1] + 1 :] if edits else found
    asked = {action.call.position: action.call for action in found}
    return Profile(
        calls=len(asked) if calls is None else calls,
        actions=len(found),
        kinds=_counted(found),
        deciles=deciles(found),
        has_edited=bool(edits),
        before_edit=len(before),
        explored=sum(action.kind in (Kind.READ, Kind.SEARCH, Kind.NAVIGATION) for action in before),
        tests_run=_tests(found),
        tests_after_edit=_tests(after) if edits else 0,
        failed=sum(call.is_error for call in asked.values()),
    )


def deciles(found: Sequence[Action]) -> Deciles:
    """The actions by tenths of the trajectory, in its order; the i-th of n falls into tenth i * 10 // n."""
    parts: list[list[Action]] = [[] for _ in range(DECILES)]
    for place, action in enumerate(found):
        parts[place * DECILES // len(found)].append(action)
    return tuple(map(_counted, parts))


def _counted(found: Sequence[Action]) -> Mapping[Kind, int]:
    counts = Counter(action.kind for action in found)
    return {kind: counts[kind] for kind in Kind if counts[kind]}


def _tests(found: Sequence[Action]) -> int:
    return sum(action.kind is Kind.TESTS for action in found)
