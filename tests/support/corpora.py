"""The submissions of both corpora, read once in each process: several files of tests are about each of them."""

from functools import cache
from pathlib import Path

from harness.runs.submissions import Case, read_batch
from harness.specs.catalog import Catalog

CATALOG = Catalog()
TASKS = tuple(CATALOG.select(["*"]))
BEHAVIOUR_TASKS = tuple(task for task in TASKS if task.track == "behaviour")
_FOLDER = Path(__file__).parents[1]


@cache
def submissions(corpus: str) -> tuple[Case, ...]:
    """Return those of `honest` or `adversarial`, as they lie there."""
    return tuple(read_batch(CATALOG, _FOLDER / corpus, None))
