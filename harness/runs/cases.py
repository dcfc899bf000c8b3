"""Submissions in files, and the verdict that each is expected to get."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from harness.agents.ending import Ending
from harness.sandbox.protocol import MANIFEST_NAMES
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.loading import FileModel, load_yaml
from harness.specs.reasons import NoteCode, ReasonCode, Verdict
from harness.specs.task import Task
from harness.submission.extraction import Submission
from harness.submission.manifest import TOO_LARGE, too_large

MAX_SUBMISSION_BYTES = 100_000_000


class Expectation(FileModel):
    """`expect.yaml` beside a submission: its task, and what it must come to.

    Every code in `reasons` and `notes` must be among the verdict's, one at least of `any_of`, none in `never`.
    `criteria` are those that must be named as unmet. `tests` are several attempts in one submission: each listed
    test with the reasons for which it must be refused; those in `refused` must be for some reason, and chance decides
    which. Where an agent works, `ending` is how it must end, and
    its trajectory must hold every text of `shown` and none of `not_shown`.
    """

    task: str
    verdict: Verdict | None = None
    ending: Ending | None = None
    shown: tuple[str, ...] = ()
    not_shown: tuple[str, ...] = ()
    reasons: tuple[ReasonCode, ...] = ()
    any_of: tuple[ReasonCode, ...] = ()
    notes: tuple[NoteCode, ...] = ()
    never: tuple[ReasonCode, ...] = ()
    criteria: tuple[str, ...] = ()
    tests: dict[str, tuple[ReasonCode, ...]] = Field(default_factory=dict)
    refused: tuple[str, ...] = ()
    about: str = ""

    @property
    def codes(self) -> tuple[ReasonCode, ...]:
        """Every reason that this expects, of the whole or of one test, each once."""
        of_tests = [code for codes in self.tests.values() for code in codes]
        return tuple(dict.fromkeys([*self.reasons, *of_tests]))


@dataclass(frozen=True)
class Case:
    """A submission to judge, or the script of an agent that is to make one.

    `expected` is None where nothing is expected of it. `judge` is a scenario of what a judge says to it.
    """

    name: str
    task: Task
    submission: Submission | None
    expected: Expectation | None = None
    script: Path | None = None
    judge: Path | None = None


def read_case(task: Task, patch: Path, manifest: Path, name: str = "", expected: Expectation | None = None) -> Case:
    """A submission from two files that a person names. Raises UserError where one isn't what it should be."""
    submission = Submission(_read(patch), _read(manifest))
    if submission.patch.strip() and not any(mark in submission.patch for mark in (b"\n+++ ", b"diff --git ")):
        raise UserError(f"{patch}: not a patch; give the output of git diff")
    if too_large(submission.manifest):
        raise UserError(f"{manifest}: {TOO_LARGE}; is this the manifest?")
    return Case(name or task.id, task, submission, expected)


def read_batch(catalog: Catalog, directory: Path, task: str | None) -> list[Case]:
    """Every folder below `directory` that holds `patch.diff` or `script.yaml`, ordered by path.

    Its task is `task`, or what `expect.yaml` beside it says. A folder without a manifest has handed in none.
    A script is what the model of `mini` says (see ScriptedModel); `judge.yaml` what a judge says, whoever is
    named (see Scenario). Raises UserError.
    """
    found = {path.parent for name in ("patch.diff", "script.yaml") for path in directory.rglob(name)}
    cases = [_read_case(catalog, directory, folder, task) for folder in sorted(found)]
    if not cases:
        raise UserError(f"{directory}: no submission here (no folder with a patch.diff or a script.yaml)")
    return cases


def _read_case(catalog: Catalog, directory: Path, folder: Path, task: str | None) -> Case:
    expected = load_yaml(folder / "expect.yaml", Expectation) if (folder / "expect.yaml").exists() else None
    name = expected.task if expected else task
    if name is None:
        raise UserError(f"{folder}: whose task is this? write expect.yaml with 'task: ID', or name the task")
    place, script = folder.relative_to(directory).as_posix(), folder / "script.yaml"
    if script.exists():
        return Case(place, catalog.task(name), None, expected, script)
    manifest = next((folder / each for each in MANIFEST_NAMES if (folder / each).exists()), None)
    data = _read(manifest) if manifest else b""
    submission = Submission(_read(folder / "patch.diff"), data)
    judge = folder / "judge.yaml"
    return Case(place, catalog.task(name), submission, expected, judge=judge if judge.exists() else None)


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_SUBMISSION_BYTES:
            raise UserError(f"{path}: larger than {MAX_SUBMISSION_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
