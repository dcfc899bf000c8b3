"""Output of the authoring commands.

Prints what `testwright task stub` made: the diff, what compiles, what a test could take for right.
"""

import dataclasses
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.text import Text

from harness.results.report.tables import console, printable, table
from harness.specs.authoring_facts import Consistency, Proposal, StubbedPatch, SuiteRecord
from harness.specs.task_facts import REFERENCE, Cell, KillMatrix
from harness.specs.test_results import Outcome

_NAMED = 10
_SYMBOLS = 20


def report_line(words: str) -> None:
    """Print text of any origin without control characters, a line for each of its lines."""
    for line in words.splitlines():
        _line(line)


def report_written(paths: Iterable[Path]) -> None:
    """Print the files that a command wrote."""
    for path in paths:
        _line(f"wrote {path}")


def report_suite(name: str, record: SuiteRecord) -> int:
    """Print how a suite ended."""
    counts = {"red": record.red, "flaky": record.flaky, "skipped": record.skipped, "missing": record.missing}
    told = ", ".join(f"{len(tests)} {word}" for word, tests in counts.items() if tests)
    _line(f"{name}: {record.green} tests green {record.times} times{f'; {told}' if told else ''}")
    for word, tests in counts.items():
        for test in tests[:_NAMED]:
            _line(f"  {word}: {test}")
        if len(tests) > _NAMED:
            _line(f"  {word}: {len(tests) - _NAMED} more")
    return 0


def report_proposal(found: Proposal, as_json: bool) -> int:
    """Print the functions that a removal may take out, and the command that comes next."""
    if as_json:
        print(found.model_dump_json(indent=2))
        return 0
    report_written(found.written)
    if found.symbols:
        rows = [
            (f"{symbol.file}:{symbol.first_line}", symbol.name, str(symbol.reached), str(symbol.alone))
            for symbol in found.symbols[:_SYMBOLS]
        ]
        console().print(table(("where", "function", "lines reached", "by these tests alone"), rows))
    if found.remark:
        _line(found.remark)
    _line(f"next: testwright task edit {found.task} removal")
    return 0


def report_consistency(found: Consistency, as_json: bool) -> int:
    """Print the criteria to reword, by suite. Return 1 where there is one, or a judging of which nothing counts."""
    if as_json:
        print(found.model_dump_json(indent=2))
        return 1 if found.findings or found.faults else 0
    if found.findings:
        rows = [(each.where, each.criterion, each.flaw.value, each.suite, each.words) for each in found.findings]
        console().print(table(("where", "criterion", "to be reworded", "suite", "votes"), rows))
    for fault in found.faults:
        _line(f"nothing counts: {fault}")
    cost = "cost unknown" if found.cost_usd is None else f"{found.cost_usd:.2f} USD"
    named = {each.criterion for each in found.findings}
    what = f"{len(named)} {'criterion' if len(named) == 1 else 'criteria'} to reword"
    by = f"by {len(found.judges)} {'judge' if len(found.judges) == 1 else 'judges'} on {len(found.suites)} suites"
    _line(f"{what}, {by} ({found.calls} calls, {cost})")
    return 1 if found.findings or found.faults else 0


def report_matrix(found: KillMatrix, as_json: bool) -> int:
    """Print tests by variants: x noticed, ! crashed or hung, . passed, - neither. Return 1 where a remark is made.

    passed, - neither. Returns 1 where a remark is made.
    """
    remarks = [remark for suite in found.suites for remark in suite.remarks()]
    if as_json:
        print(found.model_dump_json(indent=2))
        return 1 if remarks else 0
    for suite in found.suites:
        heads = [variant.removeprefix("probe-") for variant in suite.variants]
        rows = [(test, *(_mark(row.get(variant)) for variant in suite.variants)) for test, row in suite.cells.items()]
        console().print(table((suite.suite, *heads), rows))
    _line("x noticed, ! crashed or hung, . passed, - skipped or absent")
    for suite in found.suites:
        if suite.suite != REFERENCE:
            criteria = suite.unnoticed()
            told = f"nobody notices {', '.join(criteria)}" if criteria else "every probe is noticed"
            _line(f"{suite.suite}: {told}")
    for remark in remarks:
        _line(remark)
    report_written(found.written)
    return 1 if remarks else 0


def report_scores(rows: Sequence[tuple[str, ...]], remarks: Sequence[str], as_json: bool) -> int:
    """Print the mutation scores of each task's suites. Return 1 where lazy suites kill more than thorough ones."""
    columns = ("task", "mutants", "reference", "thorough", "lazy")
    if as_json:
        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2))
    else:
        console().print(table(columns, rows))
        for remark in remarks:
            _line(remark)
    return 1 if remarks else 0


def _mark(cell: Cell | None) -> str:
    if cell is None or cell.outcome in (Outcome.SKIPPED, Outcome.MISSING):
        return "-"
    if cell.crashes:
        return "!"
    return "x" if cell.kills else "."


def _line(words: str) -> None:
    console().print(Text(printable(words)), soft_wrap=True)


def report_stubs(made: Sequence[StubbedPatch], as_json: bool) -> int:
    """Print removals. Return 1 where one doesn't compile, and nothing was written."""
    if as_json:
        facts = [dataclasses.asdict(patch) | {"path": str(patch.path), "compiles": patch.compiles} for patch in made]
        print(json.dumps(facts, indent=2))
    else:
        for patch in made:
            _tell(patch)
    return 0 if all(patch.compiles for patch in made) else 1


def _tell(patch: StubbedPatch) -> None:
    out = console()
    state = "written" if patch.is_written else "not written"
    out.print(Text(f"{patch.path.name} ({patch.kind}, {state})"), soft_wrap=True)
    out.print(Text(printable(patch.diff)), soft_wrap=True)
    said = "compiles" if patch.compiles else f"does not compile: {patch.said}"
    out.print(Text(f"{patch.path.name}: {printable(said)}"), soft_wrap=True)
    for warning in patch.warnings:
        out.print(Text(f"{patch.path.name}: warning: {printable(warning)}"), soft_wrap=True)
    out.print()
