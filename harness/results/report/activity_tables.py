"""Tables of what agents did."""

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from harness.results.activity.out_of_bounds import Sighting
from harness.results.activity.trials import DECILES, SystemBehaviour, TrialBehaviour
from harness.results.activity.vocabulary import Group, Kind
from harness.results.report.failing_tables import correlation_words
from harness.results.report.figures import NOTHING, percent
from harness.results.report.tables import printable, table
from harness.results.scores import Who
from harness.results.summary import Results

_COMMAND_CHARS = 120


def behaviour_sections(found: Results, names: dict[Who, str]) -> Iterator[Table | Text]:
    """Yield actions by kind and by tenths of the trajectory, their order, correlations, and what looks odd."""
    known = {names[item.standing.who]: item.behaviour for item in found.systems if item.behaviour}
    if known:
        yield Text("\nWhat agents did, atomic commands and calls of tools per trial:")
        yield _kind_table(known)
        yield Text("Share of each group of actions by tenths of the trajectory:")
        yield _decile_table(known)
        yield _order_table(known)
    for name, behaviour in known.items():
        yield from _correlations(name, behaviour)
    yield from _odd(found.behaviours)


def _kind_table(known: Mapping[str, SystemBehaviour]) -> Table:
    kinds = [kind for kind in Kind if any(kind in item.kinds for item in known.values())]
    numbers = ("trials", "calls", *(kind.value for kind in kinds))
    rows = [
        (name, str(item.trials), f"{item.calls:.1f}", *(f"{item.kinds.get(kind, 0):.1f}" for kind in kinds))
        for name, item in known.items()
    ]
    return table(("system", *numbers), rows, right=numbers)


def _decile_table(known: Mapping[str, SystemBehaviour]) -> Table:
    tenths = tuple(map(str, range(1, DECILES + 1)))
    rows = [
        (name, group.value, *(percent(share) for share in group_shares(item, group)))
        for name, item in known.items()
        for group in Group
    ]
    return table(("system", "group", *tenths), rows, right=tenths)


def group_shares(found: SystemBehaviour, group: Group) -> list[float | None]:
    """Return a group's share of each tenth's actions; None where a tenth has none."""
    shares: list[float | None] = []
    for tenth in found.deciles:
        whole = sum(tenth.values())
        part = sum(number for kind, number in tenth.items() if kind.group is group)
        shares.append(part / whole if whole else None)
    return shares


def _order_table(known: Mapping[str, SystemBehaviour]) -> Table:
    numbers = (
        "actions before the first edit",
        "of them exploring",
        "runs of tests",
        "tested after the last edit",
        "95%",
    )
    rows = [
        (
            name,
            f"{item.before_edit:.1f}",
            f"{item.explored:.1f}",
            f"{item.tests_run:.1f}",
            percent(item.tested.value),
            f"{item.tested.low:.0%} to {item.tested.high:.0%}",
        )
        for name, item in known.items()
    ]
    return table(("system", *numbers), rows, right=numbers)


def step_words(found: Sighting) -> str:
    """Return the step of a sighting in words."""
    return NOTHING if found.step is None else str(found.step)


def _correlations(name: str, behaviour: SystemBehaviour) -> Iterator[Text]:
    known = {what: found for what, found in behaviour.correlations.items() if found}
    if known:
        yield Text(f"{name}: rank correlation with resolving")
        for what, found in known.items():
            yield Text(f"  {what}: {correlation_words(found)}")


def _odd(found: Sequence[TrialBehaviour]) -> Iterator[Table | Text]:
    rows = [
        (item.row.trial, sighting.kind.value, step_words(sighting), printable(sighting.command, _COMMAND_CHARS))
        for item in found
        for sighting in item.sightings
    ]
    if rows:
        yield Text("What looks out of bounds (never part of a verdict):")
        yield table(("trial", "looks like", "step", "command"), rows, right=("step",))
    marks = [
        (item.row.trial, mark.mark.value, str(mark.step), printable(mark.words, _COMMAND_CHARS))
        for item in found
        for mark in item.marks
    ]
    if marks:
        yield Text("Signs of no progress:")
        yield table(("trial", "sign", "step", "in words"), marks, right=("step",))
    if found and not rows and not marks:
        yield Text(f"No command of {len(found)} trials looks out of bounds, none stalled or went in circles.")
