"""Writes docs/catalogue.md: every task, counted, with the seconds that its check record tells.

usage: catalogue.py [--check]     --check: change nothing, status 1 where the page differs
"""

import sys
from pathlib import Path

from harness.authoring.task_check.controls import read_check_record
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import parse_manifest
from harness.specs.catalog import Catalog
from harness.specs.task import Task
from harness.specs.tracks import BEHAVIOUR

CHECKOUT = Path(__file__).parents[1]
PAGE, RECORDS = CHECKOUT / "docs" / "catalogue.md", CHECKOUT / "docs" / "check-records"
HEAD = """# The tasks

Written by `make check-tasks`, which checks every task in full and leaves a record of each in `docs/check-records/`.
Criteria are must-haves and nice-to-haves, seconds those of one judging of the reference on the machine that wrote the
check record; `-` where a task has changed since, or was never checked in full.

| task | what it asks for | language | kind | criteria | probes | reference tests | seconds |
|---|---|---|---|---:|---:|---:|---:|
"""


OTHERS = """
## Of other tracks

`docs/` has a page for each track. Must-haves are the rubric's, where a task has one; seconds as above.

| task | track | what it is about | repository | must-haves | seconds |
|---|---|---|---|---:|---:|
"""


def page() -> str:
    every = Catalog(CHECKOUT).select(["*"])
    others = "".join(sorted(other_row(task) for task in every if task.track != BEHAVIOUR))
    return behaviour_part([task for task in every if task.track == BEHAVIOUR]) + OTHERS + others


def behaviour_part(tasks: list[Task]) -> str:
    rows = sorted((task.repo.language, task.repo.name, row(task)) for task in tasks)
    languages = {language: sum(item[0] == language for item in rows) for language, _, _ in rows}
    counts = ", ".join(f"{language} {count}" for language, count in languages.items())
    return f"{HEAD}{''.join(text for _, _, text in rows)}\n{len(tasks)} tasks: {counts}.\n"


def row(task: Task) -> str:
    must = len(task.rubric.must_haves)
    tests = len(parse_manifest(task.patch("reference/manifest.yaml"), language_of(task.repo).ids).tests)
    cells = (
        task.id, task.file.title, task.repo.language, task.file.kind.value,
        f"{must} + {len(task.rubric.criteria) - must}", str(len(task.probes)), str(tests), seconds(task),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def other_row(task: Task) -> str:
    cells = (
        task.id, task.track, task.file.title, task.repo.name, str(len(task.rubric.must_haves) or "-"), seconds(task),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def seconds(task: Task) -> str:
    record = read_check_record(RECORDS, task.id)
    if record is None or record.task_digest != task.digest:
        return "-"
    return f"{record.reference_seconds:.0f}"


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        if PAGE.is_file() and PAGE.read_text() == text:
            return 0
        print(
            "docs/catalogue.md differs from the tasks and their check records; run make check-tasks", file=sys.stderr
        )
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
