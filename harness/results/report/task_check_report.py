"""Prints the results of checking tasks, while the check runs and at its end."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from harness.results.report.tables import console, printable, table
from harness.specs.problem import Problem, Severity
from harness.specs.task_facts import StepOutcome, TaskCheck

_STYLES = {StepOutcome.PASSED: "green", StepOutcome.FAILED: "red", StepOutcome.NOT_REACHED: "yellow"}


@contextmanager
def watching_checks(total: int) -> Iterator[Callable[[str, str], None]]:
    """Provide an observer of tasks and parts: a live line at a terminal, plain lines in a pipe, both on stderr."""
    out = Console(stderr=True, highlight=False)
    if not out.is_terminal:
        yield _plain(out)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=out, transient=True) as bar:
        line = bar.add_task("tasks", total=total)

        def watch(task: str, part: str) -> None:
            if part:
                bar.update(line, description=printable(f"{task}: {part}"))
            else:
                bar.advance(line)

        yield watch


def _plain(out: Console) -> Callable[[str, str], None]:
    def watch(task: str, part: str) -> None:
        if part:
            out.print(printable(f"{task}: {part}"), markup=False, soft_wrap=True)

    return watch


def report_task_checks(checks: Sequence[TaskCheck], written: Sequence[str], as_json: bool) -> int:
    """Print every problem of every task.

    `written` are files that were repaired. Return 1 where there is an error.
    """
    if as_json:
        facts = {"fixed": list(written), "tasks": [_facts(check) for check in checks]}
        print(json.dumps(facts, indent=2))
    else:
        _print(checks, written)
    return 0 if all(check.passed for check in checks) else 1


def _print(checks: Sequence[TaskCheck], written: Sequence[str]) -> None:
    out = console()
    for path in written:
        out.print(Text(printable(f"fixed {path}")))
    rows = [
        (check.task, check.level.value, _outcome(check), _remarks(check), f"{check.seconds:.1f}") for check in checks
    ]
    out.print(table(("task", "level", "outcome", "remarks", "seconds"), rows, right=("seconds",)))
    # Errors last: often only the end of a log is kept.
    found = sorted((problem for check in checks for problem in check.problems), key=_is_error)
    if found:
        out.print(table(("where", "severity", "problem"), [_row(problem) for problem in found]))
        errors = sum(map(_is_error, found))
        out.print(Text(f"{errors} errors, {len(found) - errors} warnings"))
    steps = (step for check in checks for step in check.steps if step.outcome is StepOutcome.FAILED)
    if failed := dict.fromkeys(step.id.value for step in steps):
        options = " ".join(f"--explain {name}" for name in failed)
        out.print(Text(f"what a part demands, and why: testwright task check {options}"))
    passed = sum(check.passed for check in checks)
    out.print(Text(f"{passed} {'task' if passed == 1 else 'tasks'} passed, {len(checks) - passed} failed"))


def _outcome(check: TaskCheck) -> Text:
    failed = [step.id.label for step in check.steps if step.outcome is StepOutcome.FAILED]
    outcome = StepOutcome.PASSED if check.passed else StepOutcome.FAILED
    words = f"{outcome.value}: {', '.join(failed)}" if failed else outcome.value
    return Text(printable(words), style=_STYLES[outcome])


def _remarks(check: TaskCheck) -> str:
    return "; ".join(remark for step in check.steps for remark in step.remarks) or "-"


def _is_error(problem: Problem) -> bool:
    return problem.severity is Severity.ERROR


def _row(problem: Problem) -> tuple[str, str, str]:
    fixable = " (--fix writes it)" if problem.fixable else ""
    return problem.where, problem.severity.value, f"{problem.message}{fixable}"


def _facts(check: TaskCheck) -> dict[str, object]:
    facts: dict[str, object] = check.model_dump(mode="json")
    facts["steps"] = [{"name": step.id.label, **step.model_dump(mode="json")} for step in check.steps]
    problems = [problem.model_dump(mode="json") for problem in check.problems]
    return {**facts, "passed": check.passed, "seconds": round(check.seconds, 1), "problems": problems}
