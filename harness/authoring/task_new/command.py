"""`testwright task new`."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter, ValidationError

from harness.authoring.suite_record import all_tests
from harness.authoring.task_new import skeletons
from harness.authoring.task_new.heirs import heirs_of
from harness.authoring.task_new.reaching import reached, reaching_most
from harness.authoring.task_new.symbols import spans_of
from harness.authoring.task_new.withholding import chosen_tests, withheld
from harness.runs.interruption import run_to_end
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.protocol import Image
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.globs import matches
from harness.specs.ids import Slug, TestId
from harness.specs.proposal import Proposal, Symbol
from harness.specs.repo import Repo
from harness.testing.reaching.measuring import MEASURED, Lines


@dataclass(frozen=True)
class NewTask:
    """What the author says: `tests` are ids FILE::NAME, or files."""

    id: str
    repo: str
    behaviour: str
    tests: tuple[str, ...]
    kind: str = "unit"


def new_task(catalog: Catalog, given: NewTask, tell: Callable[[str], None]) -> Proposal:
    """Write the task's files and say what to remove. Raises UserError, and then nothing is written."""
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
    symbols, remark = await _symbols(repo, image, tests, known, tell)
    remark = "; ".join(filter(None, (remark, await _inherited(repo, tree, tests, given.id))))
    written = {
        directory / "task.yaml": skeletons.task_yaml(given.id, given.repo, given.kind, given.behaviour),
        directory / "prompt.md": skeletons.prompt(given.behaviour),
        rubric: skeletons.rubric_yaml(given.id, given.behaviour),
    }
    for name in ("reference", "probes", "twins", "probes-on-placebo", "fuzz"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    (directory / "withheld.patch").write_bytes(patch)
    rubric.parent.mkdir(exist_ok=True)
    for path, text in written.items():
        path.write_text(text)
    files = (*written, directory / "withheld.patch")
    return Proposal(task=given.id, tests=tuple(map(str, tests)), symbols=symbols, remark=remark, written=files)


def _check(given: NewTask, directory: Path, rubric: Path) -> None:
    try:
        TypeAdapter(Slug).validate_python(given.id)
    except ValidationError:
        raise UserError(f"{given.id!r} is no name of a task: small letters, digits, '.' and '-'") from None
    for path in (directory, rubric):
        if path.exists():
            raise UserError(f"{path}: is there already; take another name, or remove it")
    if not given.tests:
        raise UserError("name upstream's tests of the behaviour: --tests FILE::NAME, or FILE for all of one")


async def _symbols(
    repo: Repo, image: Image, tests: Sequence[TestId], known: Sequence[TestId], tell: Callable[[str], None]
) -> tuple[tuple[Symbol, ...], str]:
    """Functions that the tests reach, those first that the tests beside them don't. Raises UserError for none."""
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
    """What is to be said of classes that go on running withheld tests, or fail since their base is gone."""
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
