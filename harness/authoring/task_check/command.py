"""`testwright task check`: which tasks are checked at which level, `--fix`, and writing check records."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

from harness.authoring.task_check.check import check_tasks
from harness.authoring.task_check.context import CHECKS, CheckOrder, Watch, checks_of
from harness.authoring.task_check.controls import check_record_problems, read_check_record, write_check_record
from harness.authoring.task_check.fixing import fix
from harness.runs.concurrency import run_to_end
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.problem import Severity
from harness.specs.task import Task
from harness.specs.task_facts import CheckedStep, Level, StepId, StepOutcome, TaskCheck
from harness.specs.tracks import BEHAVIOUR, address_of

_OF_RECORDS = ("--records", "--write", "--remember")


def refuse_for_published(patterns: Iterable[str], given: Mapping[str, object]) -> None:
    """Refuse an option that means nothing to tasks that others have published, or to those of their track.

    Raises:
        UserError: One is given for such a task.
    """
    for pattern in patterns:
        address = address_of(pattern)
        if address is None:
            continue
        kept = address.track in CHECKS.names and CHECKS.get(address.track).suites
        if names := [name for name, value in given.items() if value and not (kept and name in _OF_RECORDS)]:
            raise UserError(f"{names[0]} is for the catalog's own tasks; leave it out where {pattern} is checked")


def levels(
    catalog: Catalog, names: Iterable[str], level: Level, sample: bool, records: Path | None
) -> dict[str, Level]:
    """Return task -> level.

    Args:
        catalog: Where the tasks lie.
        names: The tasks'.
        level: Of all of them, unless this is a sample.
        sample: The quickest task of behaviour in each language passes the whole gate.
        records: Check records, which tell how quick a task is.
    """
    if not sample:
        return dict.fromkeys(names, level)
    quickest: dict[str, tuple[float, str]] = {}
    for name in names:
        if (task := _loaded(catalog, name)) and task.track == BEHAVIOUR:
            language = task.repo.language
            mine = (_seconds(records, name), name)
            quickest[language] = min(mine, quickest.get(language, mine))
    whole = {name for _, name in quickest.values()}
    return {name: Level.GATE if name in whole else level for name in names}


def fix_all(catalog: Catalog, names: Iterable[str]) -> list[str]:
    """Repair tasks' files and return those that were written. What can't be read is left for the check to tell."""
    tasks = [task for name in names if (task := _loaded(catalog, name))]
    written: list[str] = []
    for task in tasks:
        try:
            written += run_to_end(fix(catalog, task))
        except UserError:
            continue
    return written


def check(
    catalog: Catalog,
    chosen: dict[str, Level],
    jobs: int,
    watch: Watch,
    records: Path | None = None,
    write: bool = False,
    order: CheckOrder | None = None,
) -> list[TaskCheck]:
    """Check tasks, and compare each with its check record, or write that.

    Args:
        catalog: Holds the tasks.
        chosen: Their names, and the level of each.
        jobs: How many are checked at a time.
        watch: Told of each part as it begins.
        records: Folder with a check record for each task; None compares with none.
        write: Write the records, in place of comparing. Parts that are remembered are in them as they ran.
        order: What the check is to do beside that.

    Raises:
        UserError: The options contradict each other, or no engine is there.
    """
    asked = order or CheckOrder()
    _refuse_contradictions(asked, chosen, records, write)

    def finished(done: TaskCheck) -> None:
        for step in done.steps:
            if step.outcome is StepOutcome.FAILED:  # a check of all tasks takes an hour: the table comes late
                errors = [problem for problem in step.problems if problem.severity is Severity.ERROR]
                watch(done.task, f"failed: {step.id.label}: {'; '.join(map(str, errors))}")
        if records and write:
            write_check_record(records, done)

    checks = check_tasks(catalog, chosen, jobs, watch, finished, asked)
    return [_compared(catalog, done, records) for done in checks] if records and not write else checks


def _refuse_contradictions(order: CheckOrder, chosen: Mapping[str, Level], records: Path | None, write: bool) -> None:
    if write and records is None:
        raise UserError("--write needs --records DIR, where the check records go")
    if order.recorded and records is None:
        raise UserError("--recorded needs --records DIR, where the check records are")
    if write and order.only:
        raise UserError("--write: a check record needs the whole check; leave out --only")
    if write and order.mutants:
        raise UserError("--write: a check record is of the parts that every task must pass; leave out --mutants")
    if order.mutants and Level.QUICK in chosen.values():
        raise UserError("--mutants runs tests, and --quick starts no container; leave out one of them")
    if StepId.MUTANTS in order.only and not order.mutants:
        raise UserError("--only mutants: say how many are to be tried: --mutants 20")


def parts_named(names: Iterable[str]) -> frozenset[StepId]:
    """Return the parts that `--only` names.

    Raises:
        UserError: One doesn't exist.
    """
    return frozenset(part_named(name, "--only") for name in names)


_ASIDE = frozenset({StepId.SCHEMA, StepId.STATEMENTS, StepId.MUTANTS, StepId.CHECK_RECORD})
"""Parts that belong to no track: loading does the first, options the others."""


def absent_parts(catalog: Catalog, chosen: Mapping[str, Level], names: Iterable[str]) -> list[str]:
    """Return why parts would not run: none of the tasks has them at its level.

    Raises:
        UserError: A part doesn't exist.
    """
    steps = {name: part_named(name, "--only") for name in names}
    tasks = {name: task for name in chosen if steps and (task := _loaded(catalog, name))}
    had = {step for name, task in tasks.items() for step in _parts_of(task, (chosen[name],))}
    lacking = {name: step for name, step in steps.items() if step not in had | _ASIDE}
    return [_absent(name, step, next(iter(tasks.values())), chosen) for name, step in lacking.items() if tasks]


def _parts_of(task: Task, at: Iterable[Level]) -> list[StepId]:
    checks = checks_of(task)
    return list(dict.fromkeys([*checks.static, *(step for level in at for step in checks.dynamic[level])]))


def _absent(name: str, step: StepId, task: Task, chosen: Mapping[str, Level]) -> str:
    level = next(iter(chosen.values()))
    every = _parts_of(task, Level)
    if step not in every:
        known = ", ".join(every)
        return f"{task.id}: tasks of the track {task.track} have no part {name!r}; they have: {known}"
    if level is Level.QUICK:
        return f"{name!r} starts containers; leave --quick out"
    has = next(each for each in Level if step in _parts_of(task, (each,)))
    return f"{name!r} is no part of the {level} check; it is one of the {has} check"


COVERS = "covers"
"""The part that compares covers.yaml with the probes that the reference's tests notice, where these are judged."""


def part_named(name: str, option: str) -> StepId:
    """Return a part of the check by its id or label.

    Raises:
        UserError: There is none; the message has one that is written alike.
    """
    if name == COVERS:
        return StepId.REFERENCE
    for step in StepId:
        if name in (step.value, step.label):
            return step
    known = [*(step.value for step in StepId), COVERS]
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
    raise UserError(f"{option}: unknown part {name!r}; {hint}")


def _compared(catalog: Catalog, done: TaskCheck, records: Path) -> TaskCheck:
    task = _loaded(catalog, done.task)
    if task is None:
        return done
    problems = tuple(check_record_problems(records, task))
    failed = any(problem.severity is Severity.ERROR for problem in problems)
    outcome = StepOutcome.FAILED if failed else StepOutcome.PASSED
    step = CheckedStep(id=StepId.CHECK_RECORD, outcome=outcome, problems=problems)
    return done.model_copy(update={"steps": (*done.steps, step)})


def _loaded(catalog: Catalog, name: str) -> Task | None:
    """Return None for a task that can't be loaded: the check itself says why."""
    try:
        return catalog.task(name)
    except UserError:
        return None


def _seconds(records: Path | None, name: str) -> float:
    try:
        record = read_check_record(records, name) if records else None
    except UserError:
        record = None
    return record.reference_seconds if record else float("inf")
