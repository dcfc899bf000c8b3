"""Which lines of the code some tests reach, in the repository's own image."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.images.task_images import task_image
from harness.sandbox.protocol import Image
from harness.specs.ids import TestId
from harness.specs.repo import Repo
from harness.testing.reaching import measuring

_LABELS = {"testwright.check": "reach"}
_BY_TEST = 12
"""So many tests are run one by one to see what each reaches; of more, each file."""
_NAMED = 4


async def reached(repo: Repo, image: Image, sides: Mapping[str, Sequence[TestId]]) -> dict[str, measuring.Lines]:
    """See `measuring.reached`."""
    engine = DockerEngine(task_image)
    try:
        return await measuring.reached(engine, _LABELS, repo, image, sides)
    finally:
        await engine.close()


async def reaching_most(repo: Repo, image: Image, ours: measuring.Lines, others: Sequence[TestId]) -> str:
    """Which other tests, or files of them, reach the most of some lines: `a.py::b (12 of 14 lines), ...`.

    Raises UserError.
    """
    groups: dict[str, list[TestId]] = defaultdict(list)
    for test in others:
        groups[str(test) if len(others) <= _BY_TEST else test.file].append(test)
    numbered = {str(number): name for number, name in enumerate(groups)}  # a test's name is no name of a folder
    found = await reached(repo, image, {number: groups[name] for number, name in numbered.items()})
    return most_shared(ours, {numbered[number]: lines for number, lines in found.items()})


def most_shared(ours: measuring.Lines, others: Mapping[str, measuring.Lines]) -> str:
    """In words, those first that share the most lines. Pure."""
    whole = sum(map(len, ours.values()))
    shared = {
        name: sum(len(numbers & lines.get(path, set())) for path, numbers in ours.items())
        for name, lines in others.items()
    }
    order = sorted((name for name in shared if shared[name]), key=lambda name: (-shared[name], name))
    told = ", ".join(f"{name}: {shared[name]} of {whole} lines" for name in order[:_NAMED])
    return told + (f", {len(order) - _NAMED} more" if len(order) > _NAMED else "")
