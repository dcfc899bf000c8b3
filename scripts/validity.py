"""How far the verifier can be trusted: judges both corpora and counts both kinds of error.

usage: validity.py [honest] [adversarial] [--only=GLOB ...] [--write | --check]

--only    judge the submissions whose names match (c-*, aiosmtpd-proxy-tlv/*)
--write   put what came out into docs/validity.md (needs both corpora, whole)
--check   fail where docs/validity.md says something else about what was judged

A false refusal is a suite that is good enough and isn't resolved; a false acceptance is one that isn't and is.
"""

import os
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from harness.report.batch_report import fault_lines, progress_line, report_batch
from harness.runs.cases import read_batch
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
        print("\n".join([*counts(judged), *(f"FAILED {name}/{line}" for line in fault_lines(judged))]))
        said = all(line in known for line in rows(judged)) if only else sections[name] in known
        if "--check" in words and not said:
            print(f"FAILED {name}: docs/validity.md says something else about this corpus; run make validity")
            status = 1
    if "--write" in words:
        PAGE.write_text("\n".join([HEAD, *(sections[name] for name in CORPORA)]))
    return status


def counts(judged: Sequence[Judged]) -> list[str]:
    """Both kinds of error, each with the number of submissions in which it was possible."""
    good = [item for item in judged if item.case.expected and item.case.expected.verdict is Verdict.RESOLVED]
    bad = [item for item in judged if item not in good]
    refused = sum(item.record.verdict is not Verdict.RESOLVED for item in good)
    accepted = sum(item.record.verdict is Verdict.RESOLVED for item in bad)
    return [
        f"false refusals: {refused} of {len(good)} sufficient submissions",
        f"false acceptances: {accepted} of {len(bad)} insufficient submissions",
    ]


def rows(judged: Sequence[Judged]) -> list[str]:
    return [
        f"| {item.case.name} | {item.case.task.id} | {item.record.verdict} | {', '.join(_why(item)) or '-'} |"
        for item in judged
    ]


def section(name: str, judged: Sequence[Judged]) -> str:
    head = ["| submission | task | verdict | reasons and notes |", "|---|---|---|---|"]
    errors = [f"- {line}" for line in counts(judged)]
    return "\n".join([f"## {name.capitalize()} corpus\n", ABOUT[name], "", *errors, "", *head, *rows(judged), ""])


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
