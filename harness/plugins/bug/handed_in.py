"""A submission of this track, split: tests below the test paths, the place of the fault, and the repair."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.judging.submission.policy import is_test_path
from harness.judging.verify.intake import FileChange, Intake, ingest
from harness.plugins.bug.asks_for_tests import asks_for_tests
from harness.plugins.bug.spans import FAULT_FILE, Span, SpanError, check_spans, parse_spans
from harness.plugins.bug.task import BugTask
from harness.sandbox.git_tree import GitTree
from harness.specs.reasons import NoteCode, ReasonCode
from harness.specs.repo import Repo

_ANYWHERE = ("**",)


@dataclass(frozen=True)
class HandedIn:
    """A submission's parts beside its tests.

    `refused` is the intake of a patch that isn't judged at all. `product` is the repair: changes outside of test
    paths and files that steer test runs. `fault` says why there are no spans, `asks` where the repair names a test
    runner.
    """

    refused: Intake | None = None
    product: tuple[FileChange, ...] = ()
    spans: tuple[Span, ...] = ()
    fault: str = ""
    asks: str = ""

    @property
    def changed(self) -> Mapping[str, bytes | None]:
        """Return what the repair makes of each file; None where it is gone."""
        return {change.path: change.new for change in self.product}

    @property
    def before(self) -> Mapping[str, bytes]:
        """Return what each file of the repair was; one that is new isn't there."""
        return {change.path: change.old for change in self.product if change.old is not None}

    @property
    def paths(self) -> frozenset[str]:
        """Return the files outside of test paths that count."""
        return frozenset({FAULT_FILE, *self.changed})


async def read_parts(task: BugTask, tree: GitTree, patch: bytes) -> HandedIn:
    """Read a patch with the same care as tests are read with, all of it. Nothing that it holds raises an error."""
    repo = task.repo
    intake = await ingest(tree, repo.model_copy(update={"test_paths": _ANYWHERE}), patch)
    if intake.reasons and not _has_nothing(intake):
        return HandedIn(refused=intake)
    outside = [change for change in intake.changes if not is_test_path(repo, change.path)]
    named = [change.new for change in outside if change.path == FAULT_FILE]
    product = tuple(change for change in outside if change.path != FAULT_FILE and change.old != change.new)
    asks = asks_for_tests(repo, product)
    if not named or named[0] is None:
        return HandedIn(product=product, fault=f"there is no {FAULT_FILE} at the root of the repository", asks=asks)
    try:
        spans = parse_spans(named[0])
        check_spans(spans, await _sizes(repo, tree, spans))
    except SpanError as error:
        return HandedIn(product=product, fault=f"{FAULT_FILE}: {error}", asks=asks)
    return HandedIn(product=product, spans=spans, asks=asks)


def _has_nothing(intake: Intake) -> bool:
    """Return whether it is refused for nothing but being empty: then each part says so."""
    return all(reason.code is ReasonCode.EMPTY_SUBMISSION for reason in intake.reasons)


async def _sizes(repo: Repo, tree: GitTree, spans: tuple[Span, ...]) -> dict[str, int]:
    """Return the number of lines of each named file of the code as it was given."""
    entries = await tree.entries()
    named = {span.file for span in spans if span.file in entries and not is_test_path(repo, span.file)}
    texts = await tree.read_all({path: entries[path] for path in named})
    return {path: len(text.splitlines()) for path, text in texts.items()}


def own_notes(intake: Intake, handed: HandedIn) -> Intake:
    """Return the intake without the notes on files that are no test and count all the same."""
    kept = [
        note for note in intake.notes if not (note.code is NoteCode.PRODUCTION_EDIT and note.subject in handed.paths)
    ]
    return Intake(intake.changes, intake.patch, tuple(kept), intake.reasons)
