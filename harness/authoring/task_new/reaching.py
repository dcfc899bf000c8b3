"""Which lines of the code some tests reach, measured in the repository's own image."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import files

from harness.sandbox.deadline import seconds_per_test
from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import task_image
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Image, Job, PlacedFile
from harness.specs.errors import UserError
from harness.specs.globs import matches
from harness.specs.ids import TestId
from harness.specs.repo import Repo

Lines = dict[str, set[int]]
"""Path -> lines from 1."""
MEASURED = ("python", "go", "c", "typescript")
_TRACERS = ("sitecustomize.py", "reached.cjs")
"""What a process of tests loads first, by its language."""
_SECONDS = 900
_LABELS = {"testwright.check": "reach"}
_BLOCK = re.compile(r"(\S+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)")


async def reached(repo: Repo, image: Image, sides: Mapping[str, Sequence[TestId]]) -> dict[str, Lines]:
    """Side -> the lines of production code that its tests reach; those of a side without tests are none.

    Raises UserError for a language whose lines can't be told, and
    where tests fail.
    """
    if repo.language not in MEASURED:
        raise UserError(f"{repo.name}: can't tell for {repo.language} which code tests reach")
    tree = GitTree(image.tree)
    return {side: await _of_side(repo, image, tree, side, tests) for side, tests in sides.items()}


async def _of_side(repo: Repo, image: Image, tree: GitTree, side: str, tests: Sequence[TestId]) -> Lines:
    if not tests:
        return {}
    here = files(__package__) / "in_container"
    script = (here / "reach.sh").read_text()
    engine = DockerEngine(task_image)
    try:
        job = Job(
            argv=("bash", "-c", script, "reach", repo.language, side, *map(str, tests)),
            files=tuple(PlacedFile(f"/tmp/reach/{name}", (here / name).read_bytes()) for name in _TRACERS),
            env={
                "TESTWRIGHT_TEST_COMMAND": repo.test_command,
                "TESTWRIGHT_TEST_SECONDS": str(seconds_per_test(repo.limits.test_seconds)),
            },
            seconds=_SECONDS,
        )
        result = await engine.run_job(image, job, repo_options(repo), _LABELS)
    finally:
        await engine.close()
    if result.exit_status and side == "with":
        said = result.log.decode(errors="replace").strip().splitlines()[-1:]
        raise UserError(f"the chosen tests are not green in {repo.name}'s image: {''.join(said)}")
    found = await _read(repo.language, tree, result.outputs)
    return {path: lines for path, lines in found.items() if lines and not matches(path, repo.test_paths)}


async def _read(language: str, tree: GitTree, outputs: Mapping[str, bytes]) -> Lines:
    found: Lines = defaultdict(set)
    entries = await tree.entries()
    for data in outputs.values():
        for path, lines in _READERS[language](data).items():
            known = next((name for name in (path, *_endings(path)) if name in entries), None)
            if known:
                found[known] |= lines
    return found


def _endings(path: str) -> list[str]:
    """A Go profile names files below the module's import path."""
    parts = path.split("/")
    return ["/".join(parts[number:]) for number in range(1, len(parts))]


def _of_tracer(data: bytes) -> Lines:
    return {path: set(lines) for path, lines in json.loads(data).items()}


def _of_profile(data: bytes) -> Lines:
    found: Lines = defaultdict(set)
    for path, first, last, times in _BLOCK.findall(data.decode(errors="replace")):
        if times != "0":
            found[path] |= set(range(int(first), int(last) + 1))
    return found


def _of_gcov(data: bytes) -> Lines:
    found: Lines = defaultdict(set)
    for text in data.splitlines():
        for file in json.loads(text)["files"]:
            found[file["file"]] |= {line["line_number"] for line in file["lines"] if line["count"]}
    return found


_READERS = {"python": _of_tracer, "typescript": _of_tracer, "go": _of_profile, "c": _of_gcov}
