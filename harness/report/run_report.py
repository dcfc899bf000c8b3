"""A finished or stored run, told to a person or a machine."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from harness.analysis.rates import rate
from harness.report.parity_report import parity_facts, parity_lines
from harness.report.plain import printable
from harness.report.tables import console, money, outcome_table, table, verdict_lines, verdict_text
from harness.runs.command import FinishedRun
from harness.runs.outcome import Outcome
from harness.runs.store import find_trials
from harness.runs.trial_store import TrialStore, UsageFile
from harness.specs.errors import UserError
from harness.specs.reasons import Reason, Verdict
from harness.specs.usage import NO_USAGE, Usage


def report_run(run: FinishedRun, as_json: bool) -> int:
    """The closing table and the next command to type. Returns the command's exit status."""
    outcomes = run.outcomes
    if as_json:
        print(json.dumps({"run": str(run.directory), "trials": [_facts(item) for item in outcomes]}, indent=2))
    else:
        out = console()
        out.print(outcome_table(outcomes))
        for part in parity_lines([(str(item.trial.place), item.record, item.beside) for item in outcomes]):
            out.print(part)
        for line in (*_rates(outcomes), _totals(outcomes, run.isolation)):
            out.print(Text(line), soft_wrap=True)
        _remarks(outcomes)
        if run.left_out:
            words = f"{run.left_out} trials were not begun: --fail-on-error was reached; the same command goes on"
            out.print(Text(words), soft_wrap=True)
        out.print(Text(f"next: testwright show {run.directory}{_worth_a_look(outcomes)}"), soft_wrap=True)
    return 1 if any(item.verdict is Verdict.UNSCORED for item in outcomes) else 0


def show_run(directory: Path, chosen: str | None, as_json: bool) -> int:
    """All trials of a stored run, or the one that `chosen` begins. Raises UserError."""
    stores = list(find_trials(directory))
    if chosen:
        prefix = chosen.rstrip("/")
        stores = [store for store in stores if _is_at(store, directory, prefix)]
        if not stores:
            raise UserError(f"{directory}: no trial {printable(chosen)!r}; testwright show {directory} lists them")
    if as_json:
        print(json.dumps([_stored(store, directory) for store in stores], indent=2))
    elif len(stores) == 1 and chosen:
        _show_trial(stores[0])
    else:
        console().print(table(("trial", "verdict", "why", "cost"), [_row(store, directory) for store in stores]))
        for part in parity_lines(
            [(_place(store, directory), store.verdict(), store.verdict_beside()) for store in stores]
        ):
            console().print(part)
        console().print(Text(_costs(map(_known_usage, stores))), soft_wrap=True)
    return 0


def _show_trial(store: TrialStore) -> None:
    out, record = console(), store.verdict()
    if record is None:
        out.print(f"{store.directory}: not judged yet; give its run another start", markup=False)
        return
    for part in verdict_lines(record):
        out.print(part)
    if beside := store.verdict_beside():
        for part in (*verdict_lines(beside), *parity_lines([(record.task, record, beside)])):
            out.print(part)
    out.print(Text(f"files: {store.directory}"), soft_wrap=True)


def _rates(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """A line for each scaffold and model that had more than one trial; what could not be scored doesn't count."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for item in outcomes:
        if item.verdict is not Verdict.UNSCORED:
            groups.setdefault((item.trial.scaffold.name, item.trial.model), []).append(item.verdict)
    for (scaffold, model), verdicts in groups.items():
        if len(verdicts) > 1:
            found = rate(verdicts.count(Verdict.RESOLVED), len(verdicts))
            interval = f"95% interval {found.low:.0%} to {found.high:.0%}"
            yield f"{f'{scaffold} {model}'.strip()}: {found.part} of {found.whole} resolved ({interval})"


def _totals(outcomes: Sequence[Outcome], isolation: str) -> str:
    counts = Counter(item.verdict for item in outcomes)
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return f"{len(outcomes)} trials: {words}; {_costs(item.usage for item in outcomes)}; isolation {isolation}"


def _costs(usages: Iterable[UsageFile | None]) -> str:
    """Agents' and judge's money apart; what attempts cost that were set aside belongs to the agents'."""
    known = [usage for usage in usages if usage]
    agents = sum((usage.agent + usage.lost for usage in known), start=NO_USAGE)
    judge = sum((usage.judge for usage in known), start=NO_USAGE)
    judged = f", judge {_cost(judge)}" if judge.calls else ""
    prices = ", ".join((agents + judge).priced_by)
    return f"cost {_cost(agents)}{judged}" + (f" (prices: {prices})" if prices else "")


def _cost(usage: Usage) -> str:
    tokens = f" for {usage.input:,} tokens in and {usage.output:,} out" if usage.calls else ""
    return money(usage) + tokens


def _remarks(outcomes: Iterable[Outcome]) -> None:
    for item in outcomes:
        for remark in item.remarks:
            console().print(Text(f"{item.trial.label}: {printable(remark, 200)}"), soft_wrap=True)


def _worth_a_look(outcomes: Sequence[Outcome]) -> str:
    odd = [item for item in outcomes if item.verdict is not Verdict.RESOLVED]
    return f" {(odd or list(outcomes))[0].trial.place}" if outcomes else ""


def _facts(item: Outcome) -> dict[str, Any]:
    return {
        "trial": str(item.trial.place),
        "task": item.trial.task.id,
        "scaffold": item.trial.scaffold.name,
        "model": item.trial.model or None,
        "attempt": item.trial.attempt,
        "verdict": item.verdict,
        "reasons": _reasons(item.reasons),
        **parity_facts(item.record, item.beside),
        "usage": _usage(item.usage),
    }


def _stored(store: TrialStore, directory: Path) -> dict[str, Any]:
    record = store.verdict()
    return {
        "trial": _place(store, directory),
        "verdict": record.model_dump(mode="json") if record else None,
        **parity_facts(record, store.verdict_beside()),
        "usage": _usage(_known_usage(store)),
    }


def _row(store: TrialStore, directory: Path) -> tuple[str | Text, ...]:
    record, usage = store.verdict(), _known_usage(store)
    why = "; ".join(dict.fromkeys(reason.code for reason in record.reasons)) if record else "not judged yet"
    cost = money(usage.total)
    return _place(store, directory), verdict_text(record.verdict) if record else "-", why, cost


def _known_usage(store: TrialStore) -> UsageFile:
    """Of a trial that was cut short, what its trajectory tells."""
    return store.usage() or store.spent()


def _place(store: TrialStore, directory: Path) -> str:
    return store.directory.relative_to(directory / "trials").as_posix()


def _is_at(store: TrialStore, directory: Path, prefix: str) -> bool:
    place = _place(store, directory)
    return place == prefix or place.startswith(f"{prefix}/")


def _reasons(reasons: Iterable[Reason]) -> list[Any]:
    return [reason.model_dump(mode="json") for reason in reasons]


def _usage(usage: UsageFile | None) -> Any:
    return usage.model_dump(mode="json", exclude={"schema_version"}) if usage else None
