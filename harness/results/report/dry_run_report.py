"""Prints what a run would do, as tables or JSON."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rich.text import Text

from harness.results.report.tables import console, table
from harness.runs.dry_run import DryRun, PlannedTrial, State
from harness.specs.model_file import called_apart

_WORDS = {
    State.DONE: "done",
    State.JUDGE: "agent done, judging missing",
    State.RUN: "to do",
    State.REDO: "will be redone: its identity differs",
    State.UNKNOWN: "not known before its image is made",
}


def report_dry_run(planned: DryRun, as_json: bool) -> int:
    """Print what a run would do; return the exit status."""
    if as_json:
        print(json.dumps(_facts(planned), indent=2))
        return 0
    out = console()
    names = called_apart(dict.fromkeys(item.trial.model for item in planned.trials))
    rows = [
        (
            item.trial.task.id,
            item.trial.scaffold.name,
            names[item.trial.model] or "-",
            str(item.trial.attempt),
            _WORDS[item.state],
            _usd(item.agent_usd),
        )
        for item in planned.trials
    ]
    out.print(table(("task", "scaffold", "model", "#", "state", "agent at most"), rows, right=("#", "agent at most")))
    for line in _lines(planned):
        out.print(Text(line), soft_wrap=True)
    return 0


def _lines(planned: DryRun) -> Iterator[str]:
    counts = Counter(item.state for item in planned.trials)
    states = ", ".join(f"{counts[state]} {_WORDS[state]}" for state in State if counts[state])
    yield f"{len(planned.trials)} trials in {planned.directory}: {states}; isolation {planned.isolation}"
    again = f", {_usd(planned.tries_usd)} if faults of the infrastructure make {planned.tries} tries of each"
    yield f"agents: {_bound(planned.agents_usd)}{again if planned.agents_usd else ''}"
    yield f"judge: {f'{planned.judge}, {_bound(planned.judge_usd)}' if planned.judge else 'none is named'}"
    if planned.max_cost_usd is not None:
        spent = f"{_usd(planned.spent_usd)} of them are spent, {_usd(planned.left_usd)} left"
        yield f"run: --max-cost {_usd(planned.max_cost_usd)}, {spent}"
    beyond = " (the last call before a limit may pass it)" if planned.bound_usd else ""
    yield f"in all: {_bound(planned.bound_usd)}{beyond}. Nothing was made, nothing paid"


def _facts(planned: DryRun) -> dict[str, Any]:
    return {
        "run": str(planned.directory),
        "isolation": planned.isolation,
        "trials": [_trial(item) for item in planned.trials],
        "at_most_usd": {
            "agents": planned.agents_usd,
            "agents_with_all_tries": planned.tries_usd,
            "judge": planned.judge_usd,
            "in_all": planned.bound_usd,
        },
        "max_cost_usd": planned.max_cost_usd,
        "spent_usd": planned.spent_usd,
    }


def _trial(item: PlannedTrial) -> dict[str, Any]:
    return {
        "trial": str(item.trial.place),
        "task": item.trial.task.id,
        "scaffold": item.trial.scaffold.name,
        "model": item.trial.model or None,
        "attempt": item.trial.attempt,
        "state": item.state,
        "agent_at_most_usd": item.agent_usd,
    }


def _bound(amount: float | None) -> str:
    return "unknown" if amount is None else f"at most {_usd(amount)}"


def _usd(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:.2f}"
