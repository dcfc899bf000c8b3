"""Mutation scores of a task's suites, all on the same mutants: of the reference, and of the honest suites.

A suite is `thorough` where its expect.yaml says that it must be resolved, `lazy` where it must fail.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from statistics import mean
from typing import ClassVar
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from harness.authoring.task_check.context import arm_context_of
from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_check.same_images import recipes_alike
from harness.judging.submission.extraction import Submission
from harness.judging.verify.mutants.records import MutantsFile, MutantStatus
from harness.judging.verify.mutants.running import MutantOrder, run_mutants
from harness.runs.engine_session import EngineSession, engine_session
from harness.runs.submissions import read_batch
from harness.sandbox.images.recipe import read_recipe
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.task_facts import REFERENCE
from harness.specs.yaml_files import FileModel, load_yaml

MUTANTS, SEED = 15, 0
SECONDS = 3600.0
"""All containers of one suite's mutants together."""


class Care(StrEnum):
    """The quality that a suite must have."""

    REFERENCE = "reference"
    THOROUGH = "thorough"
    LAZY = "lazy"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScoredMutant(_Part):
    """One mutant that all suites ran on."""

    id: str
    file: str
    line: int
    description: str


class ScoredSuite(_Part):
    """A suite's mutants after its run, in their order. `digest` is of its patch and manifest."""

    name: str
    care: Care
    digest: str
    states: tuple[MutantStatus, ...]


class SuiteScores(FileModel):
    """`docs/mutation-scores/ID.json`. `code_digest` is of the code that is mutated: the tree and the removal."""

    is_record: ClassVar[bool] = True

    task: str
    code_digest: str
    seed: int
    asked: int
    candidates: int = Field(description="mutants that there are of the removed lines")
    mutants: tuple[ScoredMutant, ...]
    suites: tuple[ScoredSuite, ...]

    @property
    def valid(self) -> tuple[int, ...]:
        """Places of the mutants that every suite has killed or let live: only these count, for all suites alike."""
        return tuple(
            number
            for number in range(len(self.mutants))
            if all(suite.states[number].is_detected or suite.states[number].is_undetected for suite in self.suites)
        )

    def detected(self, suite: ScoredSuite) -> int:
        """Return how many of the valid mutants a suite kills."""
        return sum(suite.states[number].is_detected for number in self.valid)

    def score(self, care: Care) -> float | None:
        """Return the mean score of the suites of this kind; None where there is none, or no valid mutant."""
        found = [self.detected(suite) / len(self.valid) for suite in self.suites if suite.care is care and self.valid]
        return mean(found) if found else None


def submissions_of(catalog: Catalog, task: Task) -> dict[str, tuple[Care, Submission]]:
    """Return name -> a suite of the task, the reference first.

    Raises:
        UserError: One can't be read.
    """
    reference = Submission(task.patch("reference/tests.patch"), task.patch("reference/manifest.yaml"))
    folder = corpus_of(catalog.holding(task)) / task.id
    cases = read_batch(catalog, folder, task.id) if folder.is_dir() else []
    honest = {
        case.name: (Care.THOROUGH if case.expected.verdict is Verdict.RESOLVED else Care.LAZY, case.submission)
        for case in cases
        if case.submission and case.expected
    }
    return {REFERENCE: (Care.REFERENCE, reference), **honest}


def code_digest(task: Task, recipe: str) -> str:
    """Return the sha256 over what decides on mutants and how they run: image and tests, withheld tests, removal.

    `recipe` is the digest of the image's recipe.
    """
    parts = (
        recipe.encode(),
        task.repo.digest.encode(),
        task.patch("withheld.patch"),
        task.patch("removal.patch"),
    )
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def suite_digest(submission: Submission) -> str:
    """Return the sha256 over patch and manifest."""
    parts = (submission.patch, submission.manifest)
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def stale(scores: SuiteScores, catalog: Catalog, task: Task, records: Path) -> list[str]:
    """Return what has changed since the scores were measured, a line each; none where they still hold.

    They hold for each recipe that `records`, the folder of check records, has as one of the same image.

    Raises:
        UserError: What `records` has of the repository's images can't be read.
    """
    now = {name: (care, suite_digest(each)) for name, (care, each) in submissions_of(catalog, task).items()}
    known = {suite.name: (suite.care, suite.digest) for suite in scores.suites}
    recipe = read_recipe(task.repo).digest
    alike = {code_digest(task, each) for each in (recipe, *recipes_alike(records, task.repo.name, recipe))}
    found = [] if scores.code_digest in alike else [f"{task.id}: its code or removal has changed"]
    found += [f"{task.id}: the suite {name} has changed" for name in sorted(set(now) | set(known))
              if now.get(name) != known.get(name)]  # fmt: skip
    return found


async def measure_scores(
    session: EngineSession, catalog: Catalog, task: Task, tell: Callable[[str], None]
) -> SuiteScores:
    """Run every suite on the same mutants. No verdict is reached.

    Raises:
        UserError: A suite can't be run on them, or the time was over.
        SandboxLost: A container was lost.
    """
    context = await arm_context_of(session, task)
    order = MutantOrder(MUTANTS, SEED, SECONDS, coverage=False)
    suites: list[ScoredSuite] = []
    file: MutantsFile | None = None
    for name, (care, submission) in submissions_of(catalog, task).items():
        file = await run_mutants(task, submission, context, order)
        if file.why_none or file.count(MutantStatus.PENDING):
            raise UserError(f"{task.id}: {name}: {file.why_none or 'the time was over'}")
        states = tuple(each.status for each in file.mutants)
        suites.append(ScoredSuite(name=name, care=care, digest=suite_digest(submission), states=states))
        tell(
            f"{task.id}: {name}: {sum(each.is_detected for each in states)} of {len(states)} in {file.seconds:.0f} s"
        )
    assert file is not None
    mutants = tuple(
        ScoredMutant(id=each.id, file=each.file, line=each.place.line, description=each.description)
        for each in file.mutants
    )
    digest = code_digest(task, read_recipe(task.repo).digest)
    return SuiteScores(
        task=task.id, code_digest=digest, seed=SEED, asked=MUTANTS, candidates=file.candidates,
        mutants=mutants, suites=tuple(suites),
    )  # fmt: skip


async def measure_all(catalog: Catalog, tasks: Sequence[Task], folder: Path, tell: Callable[[str], None]) -> None:
    """Measure the suites of each task, and keep the scores in `folder`.

    Raises:
        UserError: A task or suite can't be read.
        SandboxLost: A container was lost.
    """
    folder.mkdir(parents=True, exist_ok=True)
    async with engine_session("docker", uuid4().hex) as session:
        for task in tasks:
            scores = await measure_scores(session, catalog, task, tell)
            (folder / f"{task.id}.json").write_text(scores.model_dump_json(indent=1) + "\n")


def read_scores(folder: Path) -> list[SuiteScores]:
    """Return the scores that a folder has, by task.

    Raises:
        UserError: A file can't be read.
    """
    return [load_yaml(path, SuiteScores) for path in sorted(folder.glob("*.json"))]


def score_cells(scores: SuiteScores) -> tuple[str, ...]:
    """Return how many mutants count, of how many; then the scores of each kind of suite: `1.00, 0.92`."""
    count = len(scores.valid)
    cells = [
        ", ".join(f"{scores.detected(suite) / count:.2f}" for suite in scores.suites if suite.care is care) or "-"
        for care in Care
        if count
    ]
    return (f"{count} of {scores.candidates}", *(cells or ["-"] * len(Care)))


def out_of_order(scores: SuiteScores) -> Iterator[str]:
    """Yield where suites that must be resolved kill fewer mutants than those that must fail.

    Nothing is said of the reference beside thorough suites: both meet every must-have, and neither was written for
    mutants.
    """
    lazy = scores.score(Care.LAZY)
    if lazy is None:
        return
    for care in (Care.REFERENCE, Care.THOROUGH):
        score = scores.score(care)
        if score is not None and score < lazy:
            yield f"{scores.task}: {care} {score:.2f} < lazy {lazy:.2f}"
