"""`testwright task new`: a new task's files, and a proposal of what to remove.

Test classes that inherit withheld tests from a class of another file lose them too. The proposal follows from the
lines that the withheld tests reach in the repository's own image.
"""

import ast
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness.authoring.function_spans import spans_of
from harness.authoring.suite_record import all_tests
from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_new import skeletons
from harness.authoring.task_new.withholding import chosen_tests, withheld
from harness.judging.languages.registry import language_of
from harness.judging.testing.reaching import measuring
from harness.judging.testing.reaching.measuring import MEASURED, Lines
from harness.runs.concurrency import run_to_end
from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image, task_image
from harness.sandbox.protocol import Image
from harness.specs.authoring_facts import Proposal, Symbol
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.repo import Repo, matches
from harness.specs.test_results import TestId


class Heir(NamedTuple):
    """A class of `file` that inherits from `base`, which is withheld or an heir itself."""

    file: str
    name: str
    base: str


def heirs_of(tests: Iterable[TestId], files: Mapping[str, bytes]) -> list[Heir]:
    """Return the Python test classes that inherit withheld tests, by way of others too, in the files' order."""
    classes = [(path, *found) for path, text in files.items() for found in _classes(text)]
    withheld = {(test.file, test.name.rpartition(".")[0].rpartition(".")[2]) for test in tests if "." in test.name}
    named = {name: file for file, name in withheld}
    found: dict[tuple[str, str], Heir] = {}
    grown = True
    while grown:
        grown = False
        for path, name, bases in classes:
            base = next((base for base in bases if base in named), None)
            if base and (path, name) not in {*withheld, *found}:
                found[path, name] = Heir(path, name, base)
                named.setdefault(name, path)
                grown = True
    order = [(path, name) for path, name, _ in classes]
    return [found[key] for key in order if key in found]


def _classes(text: bytes) -> list[tuple[str, tuple[str, ...]]]:
    """Return name and bases of each class; none of a text that this Python can't read."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return [(node.name, tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)) for node in found]


_LABELS = {"testwright.check": "reach"}
_BY_TEST = 12
"""The most tests that are run one by one to see what each reaches; of more, each file is run."""
_NAMED = 4


async def reached(repo: Repo, image: Image, sides: Mapping[str, Sequence[TestId]]) -> dict[str, measuring.Lines]:
    """Return side -> the lines of production code that its tests reach on a Docker engine."""
    engine = DockerEngine(task_image)
    try:
        return await measuring.reached(engine, _LABELS, repo, image, sides)
    finally:
        await engine.close()


async def reaching_most(repo: Repo, image: Image, ours: measuring.Lines, others: Sequence[TestId]) -> str:
    """Return which other tests, or files of them, reach the most of some lines: `a.py::b (12 of 14 lines), ...`.

    Raises:
        UserError: Nothing tells which lines of the language run.
    """
    groups: dict[str, list[TestId]] = defaultdict(list)
    for test in others:
        groups[str(test) if len(others) <= _BY_TEST else test.file].append(test)
    numbered = {str(number): name for number, name in enumerate(groups)}  # a test's name is no name of a folder
    found = await reached(repo, image, {number: groups[name] for number, name in numbered.items()})
    return most_shared(ours, {numbered[number]: lines for number, lines in found.items()})


def most_shared(ours: measuring.Lines, others: Mapping[str, measuring.Lines]) -> str:
    """Return in words which suites share lines with ours, those first that share the most. Pure."""
    whole = sum(map(len, ours.values()))
    shared = {
        name: sum(len(numbers & lines.get(path, set())) for path, numbers in ours.items())
        for name, lines in others.items()
    }
    order = sorted((name for name in shared if shared[name]), key=lambda name: (-shared[name], name))
    told = ", ".join(f"{name}: {shared[name]} of {whole} lines" for name in order[:_NAMED])
    return told + (f", {len(order) - _NAMED} more" if len(order) > _NAMED else "")


@dataclass(frozen=True)
class NewTask:
    """The author's wishes: `tests` are ids FILE::NAME, or files. With `files_only` none of them runs."""

    id: str
    repo: str
    behaviour: str
    tests: tuple[str, ...]
    kind: str = "unit"
    files_only: bool = False


def new_task(catalog: Catalog, given: NewTask, tell: Callable[[str], None]) -> Proposal:
    """Write the task's files, and propose what to remove.

    Raises:
        UserError: An id is taken, or a test isn't there; nothing is written then.
    """
    return run_to_end(_new_task(catalog, given, tell))


async def _new_task(catalog: Catalog, given: NewTask, tell: Callable[[str], None]) -> Proposal:
    directory, rubric = catalog.directory / "tasks" / given.id, catalog.directory / "rubrics" / f"{given.id}.yaml"
    _check(given, directory, rubric)
    repo = catalog.repo(given.repo)
    tell(f"{repo.name}: its image")
    image = await repo_image(repo)
    tree = GitTree(image.tree)
    known = await all_tests(repo, tree)
    tests = chosen_tests(known, given.tests)
    patch = await withheld(repo, tree, tests)
    symbols, remark = ((), "") if given.files_only else await _symbols(repo, image, tests, known, tell)
    remark = "; ".join(filter(None, (remark, await _inherited(repo, tree, tests, given.id))))
    written = {
        directory / "task.yaml": skeletons.task_yaml(given.id, given.repo, given.kind, given.behaviour),
        directory / "prompt.md": skeletons.prompt(given.behaviour),
        rubric: skeletons.rubric_yaml(given.id, given.behaviour),
    }
    neighbour = tests[0].file
    text = (await tree.read(neighbour)).decode(errors="replace")
    fuzz = skeletons.fuzz_file(language_of(repo), given.id, neighbour, text)
    written |= {directory / "fuzz" / name: drawn for name, drawn in fuzz.items()}
    suites = corpus_of(catalog) / given.id
    written |= {
        suites / name / "expect.yaml": skeletons.expectation(given.id, verdict)
        for name, verdict in skeletons.SUITES.items()
    }
    for name in ("reference", "probes", "twins", "probes-on-placebo", "fuzz"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    (directory / "withheld.patch").write_bytes(patch)
    for path, drafted in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(drafted)
    files = (*written, directory / "withheld.patch")
    return Proposal(task=given.id, tests=tuple(map(str, tests)), symbols=symbols, remark=remark, written=files)


def _check(given: NewTask, directory: Path, rubric: Path) -> None:
    skeletons.check_slug(given.id, "a task")
    for path in (directory, rubric):
        if path.exists():
            raise UserError(f"{path}: is there already; take another name, or remove it")
    if not given.tests:
        raise UserError("name upstream's tests of the behaviour: --tests FILE::NAME, or FILE for all of one")


async def _symbols(
    repo: Repo, image: Image, tests: Sequence[TestId], known: Sequence[TestId], tell: Callable[[str], None]
) -> tuple[tuple[Symbol, ...], str]:
    """Return the functions that the tests reach, those first that other tests don't; raise UserError for none."""
    if repo.language not in MEASURED:
        return (), f"can't tell for {repo.language} which code these tests reach; find it by hand"
    chosen = set(tests)
    folders = {PurePosixPath(test.file).parent for test in tests}
    others = [test for test in known if test not in chosen and PurePosixPath(test.file).parent in folders]
    tell(f"{repo.name}: what {len(tests)} tests reach, and the {len(others)} others beside them")
    lines = await reached(repo, image, {"with": tests, "without": others})
    found = [symbol async for symbol in _compared(repo, GitTree(image.tree), lines["with"], lines["without"])]
    if not any(symbol.alone for symbol in found):
        tell(f"{repo.name}: which of the {len(others)} others reach the same code")
        who = await reaching_most(repo, image, lines["with"], others)
        words = "no line of the code is reached by these tests alone; the tests beside them reach all of it as well"
        raise UserError(f"{', '.join(map(str, tests[:3]))}: {words} ({who}): choose those too, or another behaviour")
    return tuple(sorted(found, key=lambda symbol: (-symbol.alone, symbol.file, symbol.name))), ""


async def _inherited(repo: Repo, tree: GitTree, tests: Sequence[TestId], task: str) -> str:
    """Return what is to be said of classes that go on running withheld tests, or fail since their base is gone."""
    if repo.language != "python":
        return ""
    entries = await tree.entries()
    files = {
        path: entry for path, entry in entries.items() if path.endswith(".py") and matches(path, repo.test_paths)
    }
    found = heirs_of(tests, await tree.read_all(files))
    if not found:
        return ""
    named = ", ".join(f"{each.file}::{each.name} (of {each.base})" for each in found)
    return f"these inherit withheld tests, take them out too: {named}: testwright task edit {task} withheld"


async def _compared(repo: Repo, tree: GitTree, ours: Lines, others: Lines) -> AsyncIterator[Symbol]:
    for path, lines in ours.items():
        for name, (first, last) in spans_of(repo.language, await tree.read(path)).items():
            body = set(range(first + 1, last + 1)) or {first}
            mine = lines & body
            if mine:
                alone = len(mine - others.get(path, set()))
                yield Symbol(file=path, name=name, first_line=first, reached=len(mine), alone=alone)
