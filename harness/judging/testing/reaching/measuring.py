"""Measuring which lines of the code some tests reach, in an image, by the tools of each language."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict, TypeAdapter

from harness.sandbox.deadline import seconds_per_test
from harness.sandbox.git_tree import GitTree
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Engine, Image, Job, JobResult, PlacedFile
from harness.specs.errors import UserError
from harness.specs.repo import Repo, matches
from harness.specs.test_results import TestId

Lines = dict[str, set[int]]
"""Path -> lines from 1."""
MEASURED = ("python", "go", "c", "typescript")
_BRANCHED = frozenset({"python", "c", "typescript"})
"""Go's profiles have blocks only."""
_TRACERS = {
    "lines.py": "lines/sitecustomize.py",
    "branches.py": "branches/sitecustomize.py",
    "reached.cjs": "reached.cjs",
}
"""Files that a process of tests loads first, by its language, and their places below /tmp/reach."""
_SECONDS = 900
_BLOCK = re.compile(r"(\S+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)")


@dataclass
class Reached:
    """Reached lines of one file. `lines` are those that can run. A branch is a word: its line, a colon, its way.

    `taken` may have more than `branches`. Without chosen files `lines` and `branches` may be empty.
    """

    lines: set[int] = field(default_factory=set)
    ran: set[int] = field(default_factory=set)
    branches: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)

    def add(self, other: "Reached") -> None:
        """Add what another run of the same file has reached."""
        self.lines |= other.lines
        self.ran |= other.ran
        self.branches |= other.branches
        self.taken |= other.taken


Found = dict[str, Reached]


@dataclass(frozen=True)
class Laid:
    """A suite's files as they are laid over an image's tree, and the paths that it takes out."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()
    removed: tuple[str, ...] = ()


async def reached(
    engine: Engine, labels: Mapping[str, str], repo: Repo, image: Image, sides: Mapping[str, Sequence[TestId]]
) -> dict[str, Lines]:
    """Return side -> the lines of production code that its tests reach; none for a side without tests.

    Raises:
        UserError: Nothing tells which lines of the language run, or tests of the side `with` fail.
    """
    if repo.language not in MEASURED:
        raise UserError(f"{repo.name}: can't tell for {repo.language} which code tests reach")
    tree, found = GitTree(image.tree), {side: Lines() for side in sides}
    for side, tests in sides.items():
        if not tests:
            continue
        result = await engine.run_job(image, reach_job(repo, image, side, tests), repo_options(repo), labels)
        if result.exit_status and side == "with":
            said = result.log.decode(errors="replace").strip().splitlines()[-1:]
            raise UserError(f"the chosen tests are not green in {repo.name}'s image: {''.join(said)}")
        ran = {path: each.ran for path, each in (await read_reached(repo.language, tree, result)).items()}
        found[side] = {path: lines for path, lines in ran.items() if lines and not matches(path, repo.test_paths)}
    return found


def has_branches(language: str) -> bool:
    """Return whether the language's tool counts branches."""
    return language in _BRANCHED


def reach_job(
    repo: Repo,
    image: Image,
    side: str,
    tests: Sequence[TestId],
    chosen: Collection[str] = (),
    laid: Laid | None = None,
    seconds: float = _SECONDS,
) -> Job:
    """Return the job that runs tests and counts what they reach.

    Args:
        repo: Its language says how.
        image: Where the tree lies.
        side: Names the folder of its reports.
        tests: What runs.
        chosen: Count in these files alone, with branches; empty: in all, without.
        laid: Files to lay over the tree first.
        seconds: The job's time on an idle machine.
    """
    here, laid = files(__package__) / "in_container", laid or Laid()
    script = (here / "reach.sh").read_text()
    placed = [PlacedFile(f"/tmp/reach/{to}", (here / name).read_bytes()) for name, to in _TRACERS.items()]
    for path, data in sorted(laid.files.items()):
        mode = 0o755 if path in laid.executable else 0o644
        placed.append(PlacedFile(str(PurePosixPath(image.workdir, path)), data, mode))
    env = {
        "TESTWRIGHT_TEST_COMMAND": repo.test_command,
        "TESTWRIGHT_TEST_SECONDS": str(seconds_per_test(repo.limits.test_seconds)),
    }
    if chosen:
        folders = {f"./{PurePosixPath(path).parent}" for path in chosen}
        env |= {"TESTWRIGHT_FILES": json.dumps(sorted(chosen)), "TESTWRIGHT_FOLDERS": ",".join(sorted(folders))}
    begin = f'removed=$1; shift; rm -f -- "${{@:1:removed}}"; shift "$removed"\n{script}'
    words = (str(len(laid.removed)), *laid.removed, repo.language, side, *map(str, tests))
    return Job(argv=("bash", "-c", begin, "reach", *words), files=tuple(placed), env=env, seconds=seconds)


async def read_reached(language: str, tree: GitTree, result: JobResult) -> Found:
    """Return path -> what was reached of it, of the tree's files.

    Raises:
        UserError: A file is no such report.
    """
    found: Found = defaultdict(Reached)
    entries = await tree.entries()
    for data in result.outputs.values():
        try:
            read = list(_READERS[language](data))
        except ValueError:  # pydantic's is one
            raise UserError("the report of the lines that tests reach can't be read") from None
        for path, each in read:
            known = next((name for name in (path, *_endings(path)) if name in entries), None)
            if known:
                found[known].add(each)
    return dict(found)


def _endings(path: str) -> list[str]:
    """Return a Go profile names files below the module's import path."""
    parts = path.split("/")
    return ["/".join(parts[number:]) for number in range(1, len(parts))]


class _Traced(BaseModel):
    """A tracer's report on a file whose branches were asked for."""

    model_config = ConfigDict(strict=True)

    lines: list[int]
    ran: list[int]
    branches: list[str]
    taken: list[str]


_SAID = TypeAdapter(dict[str, _Traced | list[int]])


def _of_tracer(data: bytes) -> Iterator[tuple[str, Reached]]:
    for path, said in _SAID.validate_json(data).items():
        if isinstance(said, list):
            yield path, Reached(ran=set(said))
        else:
            yield path, Reached(set(said.lines), set(said.ran), set(said.branches), set(said.taken))


def _of_profile(data: bytes) -> Iterator[tuple[str, Reached]]:
    for path, first, last, times in _BLOCK.findall(data.decode(errors="replace")):
        lines = set(range(int(first), min(int(last), int(first) + _LONGEST) + 1))
        yield path, Reached(lines, lines if times != "0" else set())


_LONGEST = 100_000
"""Lines of one block."""


class _CountedBranch(BaseModel):
    count: int


class _CountedLine(BaseModel):
    line_number: int
    count: int
    branches: list[_CountedBranch] = []


class _CountedFile(BaseModel):
    file: str
    lines: list[_CountedLine]


class _Counts(BaseModel):
    files: list[_CountedFile]


def _of_gcov(data: bytes) -> Iterator[tuple[str, Reached]]:
    for text in data.splitlines():
        for file in _Counts.model_validate_json(text).files:
            found = Reached()
            for line in file.lines:
                found.lines.add(line.line_number)
                names = [f"{line.line_number}:{number}" for number in range(len(line.branches))]
                found.branches.update(names)
                if line.count:
                    found.ran.add(line.line_number)
                    found.taken.update(name for name, each in zip(names, line.branches, strict=True) if each.count)
            yield file.file, found


_READERS: Mapping[str, Callable[[bytes], Iterator[tuple[str, Reached]]]] = {
    "python": _of_tracer,
    "typescript": _of_tracer,
    "go": _of_profile,
    "c": _of_gcov,
}
