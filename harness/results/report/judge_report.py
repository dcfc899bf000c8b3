"""Prints how well a judge did: on a corpus of attacks and honest patches, and compared with known answers."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from harness.results.calibration import Agreement, Calibration
from harness.results.injection import CaseEnd, InjectionCase, InjectionReport
from harness.results.report.tables import console, money, table
from harness.results.statistics.proportions import Rate


def report_injection(report: InjectionReport, as_json: bool) -> int:
    """Print both error rates, families, and every case that went wrong.

    Return 1 where the judge couldn't be reached.
    """
    if as_json:
        print(json.dumps(_injection_facts(report), indent=2))
    else:
        out = console()
        out.print(table(("half", "family", "cases", *CaseEnd), _families(report), right=("cases", *CaseEnd)))
        wrong = [result for result in (*report.attacks, *report.benign) if result.end is not CaseEnd.RIGHT]
        if wrong:
            rows = [(item.case.name, item.case.family, item.end, item.words) for item in wrong]
            out.print(table(("case", "family", "came out", "in words"), rows))
        for line in _rate_lines(report):
            out.print(Text(line), soft_wrap=True)
    everything = (*report.attacks, *report.benign)
    return 1 if any(result.end is CaseEnd.UNAVAILABLE for result in everything) else 0


def report_calibration(found: Calibration, as_json: bool) -> int:
    """Print how far a judge agrees with its references; return the exit status."""
    if as_json:
        print(json.dumps(_calibration_facts(found), indent=2))
        return 0
    out = console()
    rows = [(kind.value, str(axis), *_agreement_cells(item)) for (kind, axis), item in found.by_axis.items()]
    rows += [(kind.value, "all", *_agreement_cells(item)) for kind, item in found.whole.items()]
    columns = ("against", "axis", "pairs", "agree", "kappa", "judge alone says met", "judge alone says unmet")
    out.print(table(columns, rows, right=columns[2:]))
    if found.worst:
        worst = [
            (item.task, item.criterion, item.reference.value, f"{item.differing} of {item.answered}")
            for item in found.worst
        ]
        out.print(table(("task", "criterion", "against", "differs"), worst, right=("differs",)))
    judges = ", ".join(found.judges)
    out.print(Text(f"judge: {judges}; {found.unanswered} answers came to nothing and aren't compared"))
    return 0


def _families(report: InjectionReport) -> list[tuple[str, ...]]:
    rows = []
    for half, results in (("attack", report.attacks), ("benign", report.benign)):
        for family in dict.fromkeys(result.case.family for result in results):
            ends = Counter(result.end for result in results if result.case.family == family)
            rows.append((half, family, str(ends.total()), *(str(ends[end] or "-") for end in CaseEnd)))
    return rows


def _rate_lines(report: InjectionReport) -> list[str]:
    return [
        f"attack success: {_words(report.attack_success)}",
        f"attacks caught by a known answer: {_words(report.caught)}",
        f"benign drift: {_words(report.benign_drift)}",
        f"cost {money(report.usage)} in {report.usage.calls} calls",
    ]


def _words(found: Rate | None) -> str:
    if found is None:
        return "unknown: the judge couldn't be reached"
    return f"{found.part} of {found.whole} (95% interval {found.low:.1%} to {found.high:.1%})"


def _injection_facts(report: InjectionReport) -> dict[str, Any]:
    return {
        "attack_success": _rate_facts(report.attack_success),
        "caught_by_known_answers": _rate_facts(report.caught),
        "benign_drift": _rate_facts(report.benign_drift),
        "attacks": _case_facts(report.attacks),
        "benign": _case_facts(report.benign),
        "usage": report.usage.model_dump(mode="json"),
    }


def _rate_facts(found: Rate | None) -> dict[str, float] | None:
    return {"part": found.part, "whole": found.whole, "low": found.low, "high": found.high} if found else None


def _case_facts(results: Sequence[InjectionCase]) -> list[dict[str, str]]:
    return [
        {"case": item.case.name, "family": item.case.family, "came_out": item.end, "words": item.words}
        for item in results
    ]


def _agreement_cells(item: Agreement) -> tuple[str, ...]:
    raw = "-" if item.raw is None else f"{item.raw:.0%}"
    kappa = "-" if item.kappa is None else f"{item.kappa:.2f}"
    return str(item.pairs), raw, kappa, str(item.yes_no), str(item.no_yes)


def _calibration_facts(found: Calibration) -> dict[str, Any]:
    axes = [{"against": kind, "axis": axis, **_agreement_facts(item)} for (kind, axis), item in found.by_axis.items()]
    whole = [{"against": kind, "axis": None, **_agreement_facts(item)} for kind, item in found.whole.items()]
    worst = [
        {
            "task": item.task,
            "criterion": item.criterion,
            "against": item.reference,
            "differing": item.differing,
            "answered": item.answered,
        }
        for item in found.worst
    ]
    return {"judges": found.judges, "agreement": axes + whole, "unanswered": found.unanswered, "worst": worst}


def _agreement_facts(item: Agreement) -> dict[str, float | None]:
    return {
        "pairs": item.pairs,
        "raw": item.raw,
        "kappa": item.kappa,
        "judge_alone_met": item.yes_no,
        "judge_alone_unmet": item.no_yes,
    }
