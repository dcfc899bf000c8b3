"""Prints the results of judging submissions from files.

Old and new verdicts side by side.
"""

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from rich.text import Text

from harness.judging.verify.verdict import VerdictRecord
from harness.results.report.mutants_report import mutant_lines, mutants_facts
from harness.results.report.parity_report import parity_facts, parity_lines
from harness.results.report.tables import console, money, table, verdict_text
from harness.results.report.trial_report import verdict_lines
from harness.runs.regrade import Regraded, still_open
from harness.runs.submissions import Judged
from harness.specs.reasons import Verdict
from harness.specs.usage import NO_USAGE


def report_one(judged: Judged, as_json: bool) -> int:
    """Print a verdict in full. Return the exit status: 1 where it could not be scored."""
    if as_json:
        whole = judged.beside is not None or judged.mutants is not None
        print(json.dumps(_facts(judged), indent=2) if whole else judged.record.to_json())
    else:
        out = console()
        for part in verdict_lines(judged.record):
            out.print(part)
        if judged.beside:
            for part in (*verdict_lines(judged.beside), *parity_lines([_both(judged)])):
                out.print(part)
        for part in mutant_lines(judged.mutants):
            out.print(part)
        if judged.judging:
            usage = judged.judging.usage
            out.print(f"judge's cost {money(usage)} in {usage.calls} calls", markup=False)
    return 1 if judged.record.verdict is Verdict.UNSCORED else 0


def report_times(several: Sequence[Judged], as_json: bool) -> int:
    """Print a submission that was judged several times: the first verdict in full, and whether all are the same.

    Return 1 where they aren't, or one could not be scored.
    """
    texts = [item.record.to_json() for item in several]
    differ = [number for number, text in enumerate(texts, start=1) if text != texts[0]]
    status = report_one(several[0], as_json=False) if not as_json else 0
    if as_json:
        print(json.dumps({"times": len(texts), "same": not differ, "verdicts": [json.loads(text) for text in texts]}))
    elif differ:
        print(f"judged {len(texts)} times; it came out otherwise the times {', '.join(map(str, differ))}")
    else:
        print(f"judged {len(texts)} times: the same verdict.json each time")
    unscored = any(item.record.verdict is Verdict.UNSCORED for item in several)
    return 1 if differ or status or unscored else 0


def report_batch(batch: Sequence[Judged], as_json: bool) -> int:
    """Print a row for each submission.

    Return 1 where one could not be scored against expectation, or differs from it.
    """
    if as_json:
        print(json.dumps([_facts(item) for item in batch], indent=2))
    else:
        rows = [
            (
                item.case.name,
                item.case.task.id,
                _expected(item),
                verdict_text(item.record.verdict),
                ", ".join(dict.fromkeys(reason.code for reason in item.record.reasons)),
                item.difference or "-",
                f"{item.seconds:.1f}",
            )
            for item in batch
        ]
        columns = ("submission", "task", "expected", "got", "reasons", "differs", "seconds")
        out = console()
        out.print(table(columns, rows, right=("seconds",)))
        for part in parity_lines([_both(item) for item in batch]):
            out.print(part)
        out.print(f"{len(batch)} submissions, {sum(bool(item.difference) for item in batch)} differ")
    return 1 if any(_is_fault(item) for item in batch) else 0


def fault_lines(batch: Sequence[Judged]) -> list[str]:
    """Return a line for each submission that is why `report_batch` returns 1."""
    return [
        f"{item.case.name}: expected {_expected(item)}, got {item.record.verdict}"
        f" {', '.join(reason.code for reason in item.record.reasons)}".rstrip()
        + (f" ({item.difference})" if item.difference else "")
        for item in batch
        if _is_fault(item)
    ]


def progress_line(total: int) -> Callable[[Judged], None]:
    """Return an observer that prints a line to stderr for each submission that has been judged."""
    done = 0

    def tell(judged: Judged) -> None:
        nonlocal done
        done += 1
        mark = f"DIFFERS: {judged.difference}" if judged.difference else "ok"
        line = f"[{done}/{total}] {judged.case.name}: {judged.record.verdict} ({judged.seconds:.1f} s) {mark}"
        print(line, file=sys.stderr, flush=True)

    return tell


def _is_fault(item: Judged) -> bool:
    expected = item.case.expected.verdict if item.case.expected else None
    return bool(item.difference) or (item.record.verdict is Verdict.UNSCORED and expected is not Verdict.UNSCORED)


def _expected(item: Judged) -> str:
    expected = item.case.expected
    if expected is None:
        return "-"
    return " ".join([expected.verdict or "-", *expected.codes, *expected.notes, *expected.criteria])


def _facts(item: Judged) -> dict[str, object]:
    return {
        "submission": item.case.name,
        "seconds": round(item.seconds, 3),
        "difference": item.difference,
        "verdict": item.record.model_dump(mode="json"),
        **parity_facts(item.record, item.beside),
        **mutants_facts(item.mutants),
    }


def _both(item: Judged) -> tuple[str, VerdictRecord, VerdictRecord | None]:
    return item.case.name, item.record, item.beside


def report_regrading(regraded: Sequence[Regraded], as_json: bool) -> int:
    """Print new verdicts. Return 1 where a trial has none, an unscored one, or one without its judge's answers."""
    if as_json:
        print(json.dumps([_regrade_report_facts(item) for item in regraded], indent=2))
    else:
        rows = [(item.trial, *map(_cell, (item.old, item.new)), _criteria(item), _why(item)) for item in regraded]
        out = console()
        out.print(table(("trial", "old", "new", "changed criteria", "why"), rows))
        out.print(Text(_totals(regraded)), soft_wrap=True)
    return 1 if any(still_open(item) or _void(item) for item in regraded) else 0


def _totals(regraded: Sequence[Regraded]) -> str:
    changed = sum(item.changed for item in regraded)
    undone = sum(item.new is None and not item.is_without_judge for item in regraded)
    silent = sum(item.is_without_judge for item in regraded)
    usage = sum((item.usage for item in regraded), start=NO_USAGE)
    void = sum(bool(_void(item)) for item in regraded)
    words = f"{len(regraded)} trials, {changed} verdicts changed"
    words += f", {undone} could not be judged again" if undone else ""
    words += f", {silent} keep their old verdict since the judge couldn't be had" if silent else ""
    words += f", {void} without their judge, none of whose answers counts" if void else ""
    return f"{words}; judge's cost {money(usage)}"


def _void(item: Regraded) -> str:
    """Return why none of the judge's answers counts that this regrading asked for; empty where they count."""
    judge = item.new.judge if item.new else None
    return judge.void if judge and judge.asked else ""


def _cell(record: VerdictRecord | None) -> str | Text:
    return verdict_text(record.verdict) if record else "-"


def _criteria(item: Regraded) -> str:
    return ", ".join(item.changed_criteria) or "-"


def _why(item: Regraded) -> str:
    if item.new is None:
        return item.complaint
    codes = ", ".join(dict.fromkeys(reason.code for reason in item.new.reasons))
    return "; ".join(filter(None, (codes, _void(item)))) or "-"


def _regrade_report_facts(item: Regraded) -> dict[str, Any]:
    return {
        "trial": item.trial,
        "old": item.old.verdict if item.old else None,
        "new": item.new.verdict if item.new else None,
        "changed": item.changed,
        "changed_criteria": item.changed_criteria,
        "reasons": [reason.model_dump(mode="json") for reason in item.new.reasons] if item.new else [],
        "complaint": item.complaint or None,
        "judge_void": _void(item) or None,
        "judge_usage": item.usage.model_dump(mode="json"),
    }
