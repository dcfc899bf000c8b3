"""Mutation scores of each task's suites on the same mutants: docs/mutation-scores/, a section of docs/validity.md.

usage: mutation_scores.py [TASK...]     measures these tasks (all where none is named), then writes the section
       mutation_scores.py --page        only writes the section, from the numbers that are there
"""

import asyncio
import sys
from pathlib import Path
from statistics import mean

from harness.authoring.suite_scores import (
    MUTANTS,
    SEED,
    Care,
    SuiteScores,
    measure_all,
    out_of_order,
    read_scores,
    score_cells,
)
from harness.specs.catalog import Catalog
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.tracks import BEHAVIOUR
from harness.specs.yaml_files import load_yaml

CHECKOUT = Path(__file__).parents[1]
FOLDER, PAGE = CHECKOUT / "docs" / "mutation-scores", CHECKOUT / "docs" / "validity.md"
TITLE = "## Mutation scores"
ABOUT = f"""{TITLE}

Another measure of the same suites, which no verdict reads: how many small mutants of the removed code they kill
([mutants.md](mutants.md#mutants)). The reference and the honest suites of a task run on the same {MUTANTS} mutants,
the first that the seed {SEED} draws. Mutants that some suite couldn't run on, or that are the same code, are left
out for all. `thorough` are the suites that must be resolved, `lazy` those that must fail; each has its own score.
Written by `make scores`, which keeps the states of all mutants in `docs/mutation-scores/`.

What is expected, and tested: in no task do lazy suites kill more on average than the reference, or than thorough
ones. Nothing is expected of the reference beside thorough suites: both meet every must-have, the reference with few
tests, and neither was written for mutants.

| task | mutants | reference | thorough | lazy |
|---|---|---:|---:|---:|
"""


def scores_of(task: str) -> SuiteScores:
    """Raises UserError where there are none, or the file can't be read."""
    return load_yaml(FOLDER / f"{task}.json", SuiteScores)


def measured_tasks() -> list[str]:
    """Return the tasks whose suites are scored: of behaviour, since other tracks have their own figures."""
    return [task.id for task in Catalog(CHECKOUT).select(["*"]) if task.track == BEHAVIOUR]


def section() -> str:
    """The section, from the numbers that are there."""
    known = read_scores(FOLDER)
    rows = "\n".join(map(row, known))
    missing = sorted({*measured_tasks()} - {each.task for each in known})
    rest = f"Not measured yet: {', '.join(missing)}.\n" if missing else ""
    return f"{ABOUT}{rows}\n\n{summary(known)}\n{rest}"


def row(scores: SuiteScores) -> str:
    """`| id | 13 of 98 | 1.00 | 1.00, 0.92 | 0.69, 0.38 |`."""
    return f"| {scores.task} | {' | '.join(score_cells(scores))} |"


def summary(known: list[SuiteScores]) -> str:
    """Means over the tasks, and in how many of them each order holds."""
    means = {care: [score for each in known if (score := each.score(care)) is not None] for care in Care}
    told = ", ".join(f"{care} {mean(found):.2f}" for care, found in means.items() if found)
    less = [words for each in known for words in out_of_order(each)]
    broken = f"The expected order doesn't hold in {'; '.join(less)}." if less else ""
    return "\n".join(
        [
            f"Means over {len(known)} tasks: {told}.",
            f"{compared(known, Care.THOROUGH, Care.LAZY)} {compared(known, Care.REFERENCE, Care.LAZY)}",
            compared(known, Care.THOROUGH, Care.REFERENCE),
            *([broken] if broken else []),
        ]
    )


def compared(known: list[SuiteScores], one: Care, other: Care) -> str:
    """`Thorough beside lazy: more in 14 tasks, as many in 1, fewer in 1.`"""
    pairs = [(each.score(one), each.score(other)) for each in known]
    found = [mine - theirs for mine, theirs in pairs if mine is not None and theirs is not None]
    counts = (sum(by > 0 for by in found), sum(by == 0 for by in found), sum(by < 0 for by in found))
    return (
        f"{one.capitalize()} beside {other}: more in {counts[0]} tasks, as many in {counts[1]}, fewer in {counts[2]}."
    )


def write_section() -> None:
    """In the page's place for it; raises UserError where the page has none."""
    page = PAGE.read_text()
    before, title, rest = page.partition(TITLE)
    if not title:
        raise UserError(f"{PAGE}: has no section '{TITLE}'; run make validity")
    after = rest.partition("\n## ")[2]
    PAGE.write_text(f"{before}{section()}\n## {after}")


async def measure(names: list[str]) -> None:
    """Raises UserError for a task that isn't there, before anything runs; SandboxLost."""
    catalog = Catalog(CHECKOUT)
    tasks = [catalog.task(name) for name in names]
    await measure_all(catalog, tasks, FOLDER, lambda words: print(words, flush=True))


def main() -> int:
    words = sys.argv[1:]
    if wrong := [word for word in words if word.startswith("-") and word != "--page"]:
        print(__doc__ if wrong[0] in ("-h", "--help") else f"mutation_scores.py: {wrong[0]} is unknown; see --help")
        return 0 if wrong[0] in ("-h", "--help") else 2
    try:
        if "--page" not in words:
            asyncio.run(measure(words or measured_tasks()))
        write_section()
    except UserError as error:
        print(f"mutation_scores.py: {error}", file=sys.stderr)
        return 2
    except InfrastructureError as error:
        print(f"mutation_scores.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
