"""Tasks with a bug: what lies in `tasks/NAME`, and what they have of the task that the bug was made from.

task.yaml            the base task, the probe that is planted, and the twins beside it
report.md            what a user saw: all that an agent is told of the bug
withheld.patch       upstream's tree -> the agent's: withheld tests, other text, decoys and the bug
fix.patch            the agent's tree -> the fixed one; all other patches start from the agent's tree too
plain.patch          the fixed code in upstream's own text
plain-bug.patch      the bug in upstream's own text
alternatives/*.patch correct fixes of another shape
partial/*.patch      fixes that mend what was reported, and no more
wrong.patch          another fault in the place of this one; absent where it is enough that the functions that the fix
                     changes refuse
reference/           a whole hand-in: test, repair and place in tests.patch, and the manifest
reported/            a test of the reported input alone, which each partial fix passes
hidden.yaml          the tests of upstream that judge repairs, by file
"""

import hashlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from harness.plugins.bug.spans import FAULT_FILE, FEWEST_LINES, MAX_SPANS, TIMES_GOLD
from harness.specs.errors import UserError
from harness.specs.rubric import Rubric
from harness.specs.task import Probe, Task, TaskFile, Twin
from harness.specs.test_results import Slug, TestId
from harness.specs.tracks import TaskCatalog
from harness.specs.variants import VARIANT_NAME
from harness.specs.yaml_files import FileModel, check_name, load_yaml, read_text
from harness.tracks.behaviour import load_task

if TYPE_CHECKING:
    from jinja2 import Environment

NAME = "bug"
FIX, PLAIN, PLAIN_BUG, HIDDEN = "fix.patch", "plain.patch", "plain-bug.patch", "hidden.yaml"
WRONG = "wrong.patch"
WRONG_FIX = Probe(name="wrong-fix", criterion="", path=Path(WRONG))
"""The variant in which the fault is gone and something else is wrong: no test of right behaviour passes there."""
NO_WRONG_FIX = f"is missing: what {FIX} changes lies in no function whose body can be taken out"


class Part(StrEnum):
    """Parts of a bug's task, each judged by itself."""

    REPRODUCE = "reproduce"
    LOCALISE = "localise"
    REPAIR = "repair"


class BugFile(TaskFile):
    """`tasks/ID/task.yaml` of a task with a bug."""

    base: Slug = Field(description="the task whose probe is the bug")
    bug: str = Field(description="the probe: probes/BUG.patch of the base task")
    decoys: tuple[str, ...] = Field(default=(), description="twins of the base task that the tree has as well")
    parts: tuple[Part, ...] = Field(
        default=tuple(Part), min_length=1, description="what a trial needs to be resolved"
    )


class HiddenTests(FileModel):
    """`tasks/ID/hidden.yaml`: tests of upstream that pass on the fixed tree, by file."""

    withheld: dict[str, tuple[str, ...]] = Field(
        default={}, description="tests that were withheld from the base task"
    )
    existing: dict[str, tuple[str, ...]] = Field(default={}, description="tests that are left in the agent's tree")
    showing: dict[str, tuple[str, ...]] = Field(
        default={}, description="tests of the base's reference that show the bug"
    )

    @property
    def tests(self) -> tuple[TestId, ...]:
        """Tests that a repair must pass beside the reference."""
        return (*_ids(self.withheld), *_ids(self.existing))

    @property
    def shown_by(self) -> frozenset[TestId]:
        """Tests of the reference that fail on the buggy tree."""
        return frozenset(_ids(self.showing))


def _ids(files: Mapping[str, tuple[str, ...]]) -> tuple[TestId, ...]:
    return tuple(TestId(file, name) for file, names in files.items() for name in names)


class BugTask(Task):
    """A task with a bug. Variants of the judging: partial fixes are its probes, alternative fixes its twins."""

    NEEDED: ClassVar[tuple[str, ...]] = ("withheld.patch", FIX)
    STANDS_FOR: ClassVar[dict[str, str]] = {"removal.patch": FIX, "placebo.patch": PLAIN}
    """Parts that others ask for by these names: the change of the code in question, and other text of it."""

    file: BugFile
    base: Task

    @property
    def is_whole_instruction(self) -> bool:
        return True

    @cached_property
    def objective(self) -> str:
        """The user's report."""
        return read_text(self.directory / "report.md").strip() + "\n"

    @cached_property
    def prompt(self) -> str:
        """The report, and what is to be handed in."""
        from harness.judging.languages.registry import language_of  # grammars, which lists of tasks do without

        repo, ids = self.repo, language_of(self.repo).ids
        template = _templates().get_template("request.j2")
        return template.render(
            report=self.objective.strip(),
            parts=[part.value for part in self.file.parts],
            test_paths=repo.test_paths,
            test_command=repo.test_command,
            id_form=ids.words,
            id_examples=ids.examples,
            fault_file=FAULT_FILE,
            most_spans=MAX_SPANS,
            fewest_lines=FEWEST_LINES,
            times=TIMES_GOLD,
        )

    @cached_property
    def probes(self) -> tuple[Probe, ...]:
        paths = sorted((self.directory / "partial").glob("*.patch"))
        return tuple(Probe(name=path.stem, criterion="", path=path) for path in paths)

    @cached_property
    def twins(self) -> tuple[Twin, ...]:
        paths = sorted((self.directory / "alternatives").glob("*.patch"))
        return tuple(Twin(name=path.stem, path=path) for path in paths)

    @cached_property
    def fuzz_files(self) -> tuple[Path, ...]:
        return self.base.fuzz_files

    @property
    def has_authored_placebo(self) -> bool:
        return self.path(PLAIN).is_file()

    @property
    def has_garbage(self) -> bool:
        return False

    @cached_property
    def hidden(self) -> HiddenTests:
        """Upstream's tests that a repair must pass.

        Raises:
            UserError: The file is absent or wrong.
        """
        return load_yaml(self.path(HIDDEN), HiddenTests)

    @cached_property
    def covers(self) -> dict[TestId, tuple[str, ...]]:
        return {}

    @cached_property
    def overlaps(self) -> dict[str, str]:
        return {}

    def path(self, name: str) -> Path:
        return self.directory / self.STANDS_FOR.get(name, name)

    @cached_property
    def digest(self) -> str:
        """sha256 over everything that can change a verdict: its own files, and the hidden tests of its base."""
        return self._with_base(self.base.fuzz_files)

    @cached_property
    def digest_without_drawn(self) -> str:
        """sha256 over all that decides where no input is drawn: hidden tests, and nothing of the fuzz files."""
        return self._with_base(())

    @property
    def digest_without_rubric(self) -> str:
        return self.digest

    def _with_base(self, fuzz_files: Sequence[Path]) -> str:
        files = [*(self.base.directory / "reference").glob("*"), *fuzz_files, self.base.path("withheld.patch")]
        text = f"{self._digest(self._files())}\n{self.base._digest(sorted(files))}\n"
        return hashlib.sha256(text.encode()).hexdigest()


def load_bug(directory: Path, catalog: TaskCatalog) -> BugTask:
    """Return the task whose `task.yaml` lies in `directory`.

    Raises:
        UserError: A file is absent or wrong.
    """
    path = directory / BugTask.DESCRIPTION
    file = load_yaml(path, BugFile)
    check_name(path, file.id)
    place = catalog.directory / "tasks" / file.base
    if not (place / Task.DESCRIPTION).is_file():
        raise UserError(f"{path}: base: no task {file.base!r} in {catalog.directory / 'tasks'}")
    base = load_task(place, catalog)
    if base.repo.name != file.repo:
        raise UserError(f"{path}: repo: the base task's is {base.repo.name!r}")
    if file.bug not in {probe.name for probe in base.probes}:
        raise UserError(f"{path}: bug: {file.base} has no probe {file.bug!r}")
    task = BugTask(file=file, repo=base.repo, rubric=Rubric.none(file.id), directory=directory, base=base)
    if WRONG_FIX.name in {probe.name for probe in task.probes}:
        raise UserError(f"{directory / 'partial'}: no partial fix may be called {WRONG_FIX.name}")
    for patch in (*(probe.path for probe in task.probes), *(twin.path for twin in task.twins)):
        if not VARIANT_NAME.fullmatch(patch.stem):
            raise UserError(f"{patch}: its name may have A-Z a-z 0-9 . _ - alone")
    return task


def bug_task(task: Task) -> BugTask:
    """Return a task of this track as such.

    Raises:
        UserError: The task is of another track.
    """
    if isinstance(task, BugTask):
        return task
    raise UserError(f"task {task.id}: it is no task of the bug track (-t {NAME}:NAME)")


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("harness.plugins.bug", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
