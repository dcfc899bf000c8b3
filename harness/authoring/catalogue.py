"""A catalog's tasks as one page: what each asks for, its size, and the seconds that its check record tells."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.authoring.task_check.controls import read_check_record
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import parse_manifest
from harness.specs.catalog import Catalog
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR

_COLUMNS = """| task | what it asks for | language | kind | criteria | probes | reference tests | seconds |
|---|---|---|---|---:|---:|---:|---:|
"""
_ABOUT = (
    "Criteria are must-haves and nice-to-haves, seconds those of one judging of the reference on the machine that"
    " wrote the\ncheck record; `-` where a task has changed since, or was never checked in full.\n"
)
_OTHERS = """
## Of other tracks

Must-haves are the rubric's, where a task has one; seconds as above.

| task | track | what it is about | repository | must-haves | seconds |
|---|---|---|---|---:|---:|
"""


def catalogue(catalog: Catalog, records: Path, about: str = "", beside: Sequence[str] = ()) -> str:
    """Return a page on all tasks, in Markdown, with `about` below its title.

    Args:
        catalog: Whose tasks.
        records: The folder of their check records.
        about: What the page says first.
        beside: Patterns of tasks that don't lie in the catalog's folder, such as `e2e:*`.

    Raises:
        UserError: A task can't be read.
    """
    every = catalog.select(["*", *beside])
    tasks = [task for task in every if task.track == BEHAVIOUR]
    rows = sorted((task.repo.language, task.repo.name, _row(task, records)) for task in tasks)
    languages = Counter(language for language, _, _ in rows)
    counts = ", ".join(f"{language} {count}" for language, count in languages.items())
    text = "".join(row for _, _, row in rows)
    others = [task for task in every if task.track != BEHAVIOUR]
    rest = (
        "".join([_OTHERS, *sorted(_other_row(task, records) for task in others), _counted(others)]) if others else ""
    )
    return f"# The tasks\n\n{about}{_ABOUT}\n{_COLUMNS}{text}\n{len(tasks)} tasks: {counts}.\n{rest}"


def _counted(tasks: Sequence[Task]) -> str:
    """Return how many tasks of each track there are, by language, and of how many repositories."""
    tracks = {
        track: [task for task in tasks if task.track == track] for track in sorted({task.track for task in tasks})
    }
    parts = []
    for track, mine in tracks.items():
        languages = Counter(sorted(task.repo.language for task in mine))
        counts = ", ".join(f"{language} {count}" for language, count in languages.items())
        repositories = len({task.repo.name for task in mine})
        parts.append(f"{track} {len(mine)} ({counts}, in {repositories} repositories)")
    return f"\n{len(tasks)} tasks: {', '.join(parts)}.\n"


def _row(task: Task, records: Path) -> str:
    must = len(task.rubric.must_haves)
    criteria, tests = f"{must} + {len(task.rubric.criteria) - must}", "-"
    if task.is_public_half:
        criteria = "-"
    else:
        tests = str(len(parse_manifest(task.patch("reference/manifest.yaml"), language_of(task.repo).ids).tests))
    cells = (
        task.id, task.file.title, task.repo.language, task.file.kind.value, criteria,
        str(len(task.probes)), tests, _seconds(task, records),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def _other_row(task: Task, records: Path) -> str:
    must = len(task.rubric.must_haves)
    cells = (task.id, task.track, task.file.title, task.repo.name, str(must or "-"), _seconds(task, records))
    return f"| {' | '.join(cells)} |\n"


def _seconds(task: Task, records: Path) -> str:
    record = read_check_record(records, task.id)
    if record is None or record.task_digest != task.digest:
        return "-"
    return f"{record.reference_seconds:.0f}"
