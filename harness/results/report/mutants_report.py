"""Prints a mutation score and the mutants behind it, and writes them in Stryker's report format."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from harness.judging.verify.mutants.records import MutantRecord, MutantsFile, MutantStatus, stryker_report
from harness.results.report.tables import console, printable, table
from harness.runs.submissions import Judged
from harness.specs.errors import UserError
from harness.specs.first_few import first_few

_WORDS, _NAMED = 60, 8


def mutant_lines(file: MutantsFile | None) -> Iterator[Text | Table]:
    """Yield the score in a line, and each mutant that no test killed."""
    if file is None:
        return
    yield Text(printable(score_words(file)))
    if words := coverage_words(file):
        yield Text(printable(words))
    alive = [each for each in file.mutants if not each.status.is_detected]
    if alive and not file.why_none:
        columns = ("mutant", "where", "operator", "change", "state", "reason")
        rows = [
            (each.id, f"{each.file}:{each.place.line}", each.operator, each.description[:_WORDS], each.status.value,
             each.reason[:_WORDS])
            for each in alive
        ]  # fmt: skip
        yield table(columns, rows)


def score_words(file: MutantsFile) -> str:
    """Return `mutation score 0.92: 22 killed, 2 survived of 24 (61 mutants of the removed lines, seed 0); ...`."""
    of = f"{len(file.mutants)} of {file.candidates} mutants of the removed lines, seed {file.seed}"
    if file.why_none:
        return f"no mutation score: {file.why_none}"
    counts = ", ".join(f"{file.count(status)} {status}" for status in MutantStatus if file.count(status))
    score = "none" if file.score is None else f"{file.score:.2f}"
    return f"mutation score {score}: {counts} ({of}; {file.seconds:.0f} s of containers; not part of the verdict)"


def coverage_words(file: MutantsFile) -> str:
    """Return `reaches 20 of 22 removed lines and 9 of 12 branches; no test runs a.py:4`; empty where nothing ran."""
    if file.coverage is None:
        return f"removed lines weren't counted: {file.why_no_coverage}" if file.why_no_coverage else ""
    found = file.coverage
    branches = "" if found.branches is None else f" and {found.taken} of {found.branches} branches"
    missed = f"; no test runs {first_few(found.missed, _NAMED)}" if found.missed else ""
    return f"reaches {found.reached} of {found.lines} removed lines{branches}{missed}"


def mutants_facts(file: MutantsFile | None) -> dict[str, Any]:
    """Return mutants for JSON; empty where no score was asked for."""
    if file is None:
        return {}
    return {"mutation_score": file.score, "mutants": file.model_dump(mode="json")}


def report_proposals(file: MutantsFile, wanted: frozenset[str], as_json: bool) -> int:
    """Print mutants that could be probes of a criterion, those first that its tests kill, and few others.

    `wanted` are the criterion's tests. Return 1 where none could be run.
    """
    ranked = sorted(file.mutants, key=lambda each: _rank(each, wanted))
    if as_json:
        print(json.dumps(mutants_facts(file) | {"proposed": [each.id for each in ranked]}, indent=2))
        return 1 if file.why_none else 0
    out = console()
    out.print(Text(printable(score_words(file))), soft_wrap=True)
    out.print(Text(printable(coverage_words(file))), soft_wrap=True)
    numbers = {test: str(number) for number, test in enumerate(file.tests, start=1)}
    for test, number in numbers.items():
        out.print(Text(f"{number:>3} {printable(test)}{'  (for this criterion)' if test in wanted else ''}"))
    columns = ("mutant", "where", "operator", "change", "state", "killed by")
    rows = [
        (each.id, f"{each.file}:{each.place.line}", each.operator, each.description[:_WORDS], each.status.value,
         ", ".join(numbers.get(test, test) for test in each.killed_by) or "no test")
        for each in ranked
    ]  # fmt: skip
    out.print(table(columns, rows))
    return 1 if file.why_none else 0


def _rank(mutant: MutantRecord, wanted: frozenset[str]) -> tuple[bool, int, str]:
    by = set(mutant.killed_by)
    return not by & wanted, len(by - wanted), mutant.id


def export_mutants(judged: Judged, path: Path) -> None:
    """Write mutants as Stryker's report.

    Raises:
        UserError: There are none, or the file can't be written.
    """
    file = judged.mutants
    if file is None or file.why_none:
        raise UserError(f"{path}: nothing to write: {file.why_none if file else 'no mutants were asked for'}")
    text = stryker_report(file, judged.sources, judged.case.task.repo.language)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
