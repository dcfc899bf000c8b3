"""Designs as people write them, a file of cases each, judged without a run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.judging.submission.extraction import Submission
from harness.judging.submission.manifest import TOO_LARGE, too_large
from harness.judging.submission.new_files import new_text_patch
from harness.judging.verify.verdict import VerdictRecord
from harness.plugins.design.figures import Figures, figures_of
from harness.plugins.design.grading import design_task
from harness.plugins.design.played import read_design
from harness.plugins.design.reading import MAX_BYTES
from harness.plugins.design.task import CASES, FEATURE, DesignTask, manifest_of
from harness.runs.submissions import Case, Expectation, judge_cases
from harness.specs.errors import UserError
from harness.specs.task import Task

NAMES = tuple(PurePosixPath(name).name for name in (CASES, FEATURE))
_MANIFEST = "manifest.yaml"


@dataclass(frozen=True)
class HandIn:
    """A design that was judged: the file it was in, its verdict and its figures, None where no case was played."""

    name: str
    record: VerdictRecord

    @property
    def figures(self) -> Figures | None:
        return figures_of(self.record)

    @property
    def alive(self) -> list[str]:
        """Return the mutants that no case kills."""
        return [name for name, cases in self.figures.killed.items() if not cases] if self.figures else []


def judge_hand_ins(
    task: Task, places: Sequence[Path], sandbox: str, keep: Path | None, done: Callable[[HandIn], None]
) -> list[HandIn]:
    """Judge files of cases.

    Args:
        task: Of the track `design`.
        places: Files, or folders: then all `cases.yaml` and `cases.feature` below.
        sandbox: Where the cases are played.
        keep: Folder for verdicts and what arms print.
        done: Told of each as it ends.

    Raises:
        UserError: There is none, or the engine isn't there.
    """
    design = design_task(task)
    cases = [case_of(design, path, name) for place in places for path, name in _files(place)]
    judged = judge_cases(cases, sandbox, keep, 1, lambda item: done(HandIn(item.case.name, item.record)))
    return [HandIn(item.case.name, item.record) for item in judged]


def _files(place: Path) -> Iterator[tuple[Path, str]]:
    if not place.is_dir():
        yield place, place.name
        return
    found = sorted(path for name in NAMES for path in place.rglob(name))
    if not found:
        raise UserError(f"{place}: no design here (no file {' or '.join(NAMES)} at any depth)")
    yield from ((path, path.relative_to(place).as_posix()) for path in found)


def case_of(task: DesignTask, path: Path, name: str, expected: Expectation | None = None) -> Case:
    """Return a file as an agent would hand it in. A manifest beside it counts; else it lists all cases."""
    data = _read(path, MAX_BYTES)
    inside = FEATURE if path.suffix == ".feature" else CASES
    patch = new_text_patch(inside, data, path)
    told = path.with_name(_MANIFEST)
    if told.is_file():
        manifest = told.read_bytes()
        if too_large(manifest):
            raise UserError(f"{told}: {TOO_LARGE}; is this the manifest?")
    else:
        manifest = manifest_of(inside, read_design(data, inside, task.vocabulary)[0])
    return Case(name, task, Submission(patch, manifest), expected)


def _read(path: Path, most: int) -> bytes:
    try:
        if path.stat().st_size > most:
            raise UserError(f"{path}: larger than {most} bytes")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
