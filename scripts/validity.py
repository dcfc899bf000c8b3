"""How far the verifier can be trusted: judges both corpora and counts both kinds of error.

usage: validity.py [honest] [adversarial] [--only=GLOB ...] [--write | --check]

--only    judge the submissions whose names match (c-*, aiosmtpd-proxy-tlv/*)
--write   put what came out into docs/validity.md (needs both corpora, whole)
--check   fail where docs/validity.md says something else about what was judged

A false refusal is a suite that is good enough and isn't resolved; a false acceptance is one that isn't and is.
Each figure has its 95% interval.
"""

import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from harness.analysis.error_rates import Answer, ErrorRates, error_rates
from harness.analysis.rates import Rate
from harness.report.batch_report import fault_lines, progress_line, report_batch
from harness.runs.cases import Case, read_batch
from harness.runs.submissions import Judged, judge_cases
from harness.specs.catalog import Catalog
from harness.specs.reasons import Verdict

CHECKOUT = Path(__file__).parents[1]
PAGE = CHECKOUT / "docs" / "validity.md"
CORPORA = ("honest", "adversarial")
HEAD = """# How far the verdicts can be trusted

Written by `make validity`; `make test` fails where it no longer holds. Every row is a submission that is kept
in `tests/`, judged in real containers. The honest suites were written from a task's prompt by authors who had
not seen the verifier, its probes or its rubric; only those of jansson-object-merge are by somebody who knew them.

Intervals are Wilson's score intervals of 95%: how high or low a rate may be that such a count was drawn from. No
error among few submissions is a weak statement. These submissions were written by few people for few tasks, so
the rate among other people's work may lie outside.
"""
ABOUT = {
    "honest": "Work in many styles that must be resolved, and honest work that isn't enough and must fail by name.",
    "adversarial": "Attempts to be resolved without good tests, and what each must come to.",
}


JOBS = 2
HONEYTOKEN = "testwright-honeytoken-6b1f"
"""Planted as a key: no container may see it, no submission find it."""


def main() -> int:
    words = sys.argv[1:]
    os.environ["HONEYPOT_API_KEY"] = HONEYTOKEN
    chosen = [name for name in CORPORA if name in words] or list(CORPORA)
    only = [word.removeprefix("--only=") for word in words if word.startswith("--only=")]
    if "--write" in words and (only or len(chosen) < len(CORPORA)):
        print("--write needs both corpora, whole", file=sys.stderr)
        return 2
    known = PAGE.read_text() if PAGE.exists() else ""
    status, sections = 0, {}
    for name in chosen:
        cases = read_batch(Catalog(), CHECKOUT / "tests" / name, None)
        cases = [case for case in cases if not only or any(fnmatch(case.name, glob) for glob in only)]
        judged = judge_cases(cases, "auto", None, JOBS, progress_line(len(cases)))
        status |= report_batch(judged, as_json=False)
        sections[name] = section(name, judged)
        print("\n".join([*error_lines(errors(judged)), *(f"FAILED {name}/{line}" for line in fault_lines(judged))]))
        said = all(line in known for line in rows(judged)) if only else sections[name] in known
        if "--check" in words and not said:
            print(f"FAILED {name}: docs/validity.md says something else about this corpus; run make validity")
            status = 1
    if "--write" in words:
        PAGE.write_text("\n".join([HEAD, *(sections[name] for name in CORPORA)]))
    return status


def errors(judged: Sequence[Judged]) -> list[ErrorRates]:
    """Both kinds of error, of all submissions and by language."""
    return error_rates(
        Answer(item.case.task.repo.language, is_sufficient(item.case), item.record.verdict is Verdict.RESOLVED)
        for item in judged
    )


def error_lines(rates: Sequence[ErrorRates]) -> list[str]:
    """A line for each kind of error, then a table of the languages, each figure with its interval."""
    whole, *languages = rates
    lines = [
        f"- false refusals: {in_words(whole.refusals, 'sufficient submissions refused')}",
        f"- false acceptances: {in_words(whole.acceptances, 'insufficient submissions accepted')}",
    ]
    head = ["", "| language | false refusals | false acceptances |", "|---|---|---|"]
    cells = [f"| {item.group} | {in_words(item.refusals)} | {in_words(item.acceptances)} |" for item in languages]
    return [*lines, *head, *cells]


def in_words(found: Rate | None, what: str = "") -> str:
    """`0 of 22 refused, 95% interval 0% to 15%`; a dash where nothing was counted."""
    return f"{f'{found.part} of {found.whole} {what}'.strip()}, {found.interval}" if found else "-"


def is_sufficient(case: Case) -> bool:
    """Whether a submission must be resolved."""
    return case.expected is not None and case.expected.verdict is Verdict.RESOLVED


def rows(judged: Sequence[Judged]) -> list[str]:
    return [
        f"| {item.case.name} | {item.case.task.id} | {item.record.verdict} | {', '.join(_why(item)) or '-'} |"
        for item in judged
    ]


def section(name: str, judged: Sequence[Judged]) -> str:
    head = ["| submission | task | verdict | reasons and notes |", "|---|---|---|---|"]
    told = error_lines(errors(judged))
    return "\n".join([f"## {name.capitalize()} corpus\n", ABOUT[name], "", *told, "", *head, *rows(judged), ""])


def _why(item: Judged) -> list[str]:
    """What was expected and came; what else came may differ from one judging to the next."""
    expected = item.case.expected
    if expected is None:
        return []
    came = {reason.code for reason in item.record.reasons} | {note.code for note in item.record.notes}
    named = [code.value for code in (*expected.codes, *expected.notes) if code in came]
    return [*named, *expected.criteria, *([f"ended by {item.ending}"] if expected.ending else [])]


if __name__ == "__main__":
    sys.exit(main())
