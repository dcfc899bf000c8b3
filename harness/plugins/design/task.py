"""A design task: a requirement, a vocabulary, and what nobody who designs cases sees."""

import hashlib
import json
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import ClassVar

from harness.judging.submission.new_files import new_text_patch
from harness.plugins.design.design_file import PLAY, DesignFile, MutantKind, MutantSpec, line_with
from harness.plugins.design.played import Case, read_design
from harness.plugins.design.reading import Unreadable
from harness.plugins.design.requirement import Rule, read_requirement
from harness.plugins.design.vocabulary import Vocabulary, load_vocabulary
from harness.specs.errors import UserError
from harness.specs.repo import Repo, RepoLimits, Source
from harness.specs.rubric import Criterion, GradedBy, Importance, Rubric
from harness.specs.task import Probe, Task, TaskFile
from harness.specs.test_results import TestId
from harness.specs.tracks import BEHAVIOUR, TaskCatalog, TaskOptions
from harness.specs.yaml_files import check_name, load_yaml

NAME = "design"
CASES, FEATURE = "design/cases.yaml", "design/cases.feature"
REFERENCE, NEIGHBOURS = "reference/cases.yaml", "neighbours.yaml"
REQUIREMENT, VOCABULARY, DESIGN = "requirement.md", "vocabulary.yaml", "design.yaml"
_OWN = resources.files("harness.plugins.design")
IN_CONTAINER = _OWN / "in_container"
_MADE = ("reference/tests.patch", "reference/manifest.yaml")


class DesignTask(Task):
    """A task whose must-haves are the rules of a requirement; a rule is met when all its mutants are killed.

    `host` is the repository in whose image agents work, `base` the task whose code the cases are played on, None
    where the task brings its own.
    """

    NEEDED: ClassVar[tuple[str, ...]] = (REQUIREMENT, VOCABULARY, DESIGN)

    host: Repo
    base: Task | None
    design: DesignFile
    vocabulary: Vocabulary
    rules: tuple[Rule, ...]

    @cached_property
    def prompt(self) -> str:
        return (_OWN / "request.md").read_text(encoding="utf-8") + self.patch(REQUIREMENT).decode()

    @property
    def is_whole_instruction(self) -> bool:
        return True

    @cached_property
    def probes(self) -> tuple[Probe, ...]:
        path = self.directory / DESIGN
        return tuple(Probe(name=item.id, criterion=item.rule, path=path) for item in self.design.mutants)

    @cached_property
    def digest_without_rubric(self) -> str:
        """sha256 also over what adapters share, and over the code that cases are played on."""
        parts = [super()._digest(self._files()), self.base.digest_without_rubric if self.base else ""]
        parts += [(IN_CONTAINER / "adapter.py").read_text(), (_OWN / "reading.py").read_text()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @cached_property
    def digest(self) -> str:
        """sha256 over the task. Its rubric is the requirement, so there is nothing more."""
        return self.digest_without_rubric

    @cached_property
    def work_digest(self) -> str:
        """sha256 also over the files that agents get."""
        parts = [super().work_digest, self.patch(VOCABULARY).decode(), json.dumps(self.vocabulary.compiled)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def patch(self, name: str) -> bytes:
        """Return a part's bytes; the reference's patch and manifest are made of its cases.

        Raises:
            UserError: It is absent or wrong.
        """
        if name not in _MADE:
            return super().patch(name)
        if name == _MADE[0]:
            return new_text_patch(CASES, super().patch(REFERENCE), self.path(REFERENCE))
        return manifest_of(CASES, self.cases(REFERENCE))

    def cases(self, name: str) -> tuple[Case, ...]:
        """Return cases of the task's own.

        Raises:
            UserError: They are wrong, in one line with file and line.
        """
        cases, faults = read_design(self.patch(name), name, self.vocabulary)
        if faults:
            raise fault_of(self.path(name), faults[0])
        return cases

    def mutants(self, kind: MutantKind) -> tuple[MutantSpec, ...]:
        """Return the mutants of a kind."""
        return tuple(mutant for mutant in self.design.mutants if mutant.kind is kind)


def fault_of(path: Path, fault: Unreadable) -> UserError:
    """Return a fault of a file of cases as an error that names file and line."""
    return UserError(f"{path}:{fault.line or 1}: {fault.words}")


def manifest_of(file: str, cases: tuple[Case, ...]) -> bytes:
    """Return the manifest that lists all cases of a file."""
    return f"- file: {file}\n  tests: [{', '.join(case.id for case in cases)}]\n".encode()


def test_ids(file: str, cases: tuple[Case, ...]) -> tuple[TestId, ...]:
    """Return the cases as tests."""
    return tuple(TestId(file, case.id) for case in cases)


def load_design(directory: Path, catalog: TaskCatalog, options: TaskOptions) -> DesignTask:
    """Return the design task in a directory.

    Raises:
        UserError: A file is absent or wrong; the first one is named.
    """
    path = directory / Task.DESCRIPTION
    file = load_yaml(path, TaskFile)
    check_name(path, file.id)
    rules = read_requirement(directory / REQUIREMENT)
    design = load_yaml(directory / DESIGN, DesignFile)
    base = _base(design, directory, catalog, options)
    task = DesignTask(
        file=file,
        repo=_repo(file.id, base),
        rubric=Rubric(task=file.id, criteria=tuple(map(_criterion, rules))),
        directory=directory,
        host=catalog.repo(file.repo),
        base=base,
        design=design,
        vocabulary=load_vocabulary(directory / VOCABULARY),
        rules=rules,
    )
    _check_rules(task)
    return task


def _base(design: DesignFile, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task | None:
    if design.base is None:
        return None
    from harness.tracks.behaviour import TRACK

    where = f"{directory / DESIGN}:{line_with(directory / DESIGN, 'base:')}"
    place = catalog.directory / "tasks" / design.base
    if not (place / Task.DESCRIPTION).is_file():
        raise UserError(f"{where}: base: there is no task {design.base!r} in this catalog")
    base = TRACK.load(place, catalog, options)
    if base.track != BEHAVIOUR:
        raise UserError(f"{where}: base: {design.base} is of the track {base.track}; name one of {BEHAVIOUR}")
    return base


def _criterion(rule: Rule) -> Criterion:
    return Criterion(
        id=rule.id, axis=1, importance=Importance.MUST, statement=rule.words, graded_by=(GradedBy.PROBE,)
    )


def _check_rules(task: DesignTask) -> None:
    """Check that each rule has a mutant that drops it, each edge two, and each mutant a rule."""
    path, known = task.path(DESIGN), {rule.id for rule in task.rules}
    for mutant in task.design.mutants:
        if mutant.rule not in known:
            raise UserError(f"{path}:{line_with(path, mutant.id)}: {REQUIREMENT} has no rule {mutant.rule}")
    for rule in task.rules:
        kinds = [mutant.kind for mutant in task.design.mutants if mutant.rule == rule.id]
        if MutantKind.PARTITION not in kinds:
            words = f"rule {rule.id} has no mutant {rule.id}-partition-NAME in {DESIGN}"
            raise UserError(f"{task.path(REQUIREMENT)}:{rule.line}: {words}")
        if kinds.count(MutantKind.BOUNDARY) == 1:
            words = f"rule {rule.id} has one mutant of a boundary; an edge needs two"
            raise UserError(f"{task.path(REQUIREMENT)}:{rule.line}: {words}")


def _repo(name: str, base: Task | None) -> Repo:
    """Return the repository as agents and arms see it: the folder of cases, and the adapter as its test command."""
    limits = base.repo.limits if base else RepoLimits(memory_mb=1024, cpus=1, pids=256, disk_mb=512)
    return Repo(
        name=name,
        language="python",
        upstream="",
        version="",
        licence="",
        source=Source(kind="image", package=name, version="", sha256=hashlib.sha256(b"").hexdigest()),
        report="junit",
        test_paths=("design/**",),
        workdir=base.repo.workdir if base else "/app",
        test_command=f"{PLAY}/run",
        limits=limits,
    )
