"""Old and new verdicts side by side."""

import json
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from harness.report.tables import console, money, table, verdict_text
from harness.runs.regrade import Regraded, still_open
from harness.specs.usage import NO_USAGE
from harness.verify.verdict import VerdictRecord


def report_regrading(regraded: Sequence[Regraded], as_json: bool) -> int:
    """Returns 1 where a trial has no new verdict, or one that isn't scored."""
    if as_json:
        print(json.dumps([_facts(item) for item in regraded], indent=2))
    else:
        rows = [(item.trial, *map(_cell, (item.old, item.new)), _criteria(item), _why(item)) for item in regraded]
        out = console()
        out.print(table(("trial", "old", "new", "changed criteria", "why"), rows))
        out.print(Text(_totals(regraded)), soft_wrap=True)
    return 1 if any(map(still_open, regraded)) else 0


def _totals(regraded: Sequence[Regraded]) -> str:
    changed = sum(item.changed for item in regraded)
    undone = sum(item.new is None for item in regraded)
    usage = sum((item.usage for item in regraded), start=NO_USAGE)
    words = f"{len(regraded)} trials, {changed} verdicts changed"
    return f"{words}{f', {undone} could not be judged again' if undone else ''}; judge's cost {money(usage)}"


def _cell(record: VerdictRecord | None) -> str | Text:
    return verdict_text(record.verdict) if record else "-"


def _criteria(item: Regraded) -> str:
    return ", ".join(item.changed_criteria) or "-"


def _why(item: Regraded) -> str:
    if item.new is None:
        return item.complaint
    return ", ".join(dict.fromkeys(reason.code for reason in item.new.reasons)) or "-"


def _facts(item: Regraded) -> dict[str, Any]:
    return {
        "trial": item.trial,
        "old": item.old.verdict if item.old else None,
        "new": item.new.verdict if item.new else None,
        "changed": item.changed,
        "changed_criteria": item.changed_criteria,
        "reasons": [reason.model_dump(mode="json") for reason in item.new.reasons] if item.new else [],
        "complaint": item.complaint or None,
        "judge_usage": item.usage.model_dump(mode="json"),
    }
