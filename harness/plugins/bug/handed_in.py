"""A submission of this track, split: tests below the test paths, the place of the fault, and the repair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.judging.languages.found import TooMuchToRead
from harness.judging.submission.policy import is_test_path
from harness.judging.testing.reading_process import Text, try_code
from harness.judging.verify.intake import FileChange, Intake, ingest
from harness.judging.verify.suite_reader import READING, read_apart
from harness.judging.verify.task_texts import Files
from harness.plugins.bug.asks_for_tests import asks_for_tests
from harness.plugins.bug.places import is_in_a_known_place, without_known_places
from harness.plugins.bug.spans import (
    FAULT_FILE,
    Span,
    SpanError,
    check_spans,
    contain,
    parse_spans,
    widest,
    width,
)
from harness.plugins.bug.task import BugTask
from harness.plugins.bug.texts import read_bug_texts
from harness.sandbox.git_tree import GitTree
from harness.specs.reasons import NoteCode, Reason, ReasonCode, Stage
from harness.specs.repo import Repo
from harness.specs.variants import VariantKind

_ANYWHERE = ("**",)


@dataclass(frozen=True)
class HandedIn:
    """A submission's parts beside its tests.

    `refused` is the intake of a patch that isn't judged at all. `product` is the repair: changes outside of test
    paths and files that steer test runs. `fault` says why there are no spans, `asks` where the repair names a test
    runner. `is_within` tells whether the spans are narrow enough and have all of the repair in them, and `is_known`
    whether it is where a known fix is then; `elsewhere` are its texts without what it changes there, none where that
    is all.
    """

    refused: Intake | None = None
    product: tuple[FileChange, ...] = ()
    spans: tuple[Span, ...] = ()
    fault: str = ""
    asks: str = ""
    is_within: bool = False
    is_known: bool = False
    elsewhere: Mapping[str, bytes] = field(default_factory=dict)

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
    handed = HandedIn(product=product)
    if not named or named[0] is None:
        handed = replace(handed, fault=f"there is no {FAULT_FILE} at the root of the repository")
    else:
        try:
            spans = parse_spans(named[0])
            check_spans(spans, await _sizes(repo, tree, spans))
            handed = replace(handed, spans=spans)
        except SpanError as error:
            handed = replace(handed, fault=f"{FAULT_FILE}: {error}")
    try:
        return await _read(task, tree, handed)
    except TooMuchToRead as error:
        reason = Reason(code=ReasonCode.PATCH_TOO_LARGE, stage=Stage.INTAKE, words=str(error))
        return HandedIn(refused=Intake(reasons=(reason,)))


async def _read(task: BugTask, tree: GitTree, handed: HandedIn) -> HandedIn:
    """Return a hand-in with what the text of its repair shows. Raises TooMuchToRead."""
    texts = [Text(change.path, change.new) for change in handed.product if change.new]
    if unread := await try_code(texts, READING):
        raise TooMuchToRead(f"{unread.path}: {unread.words}")
    handed = replace(handed, asks=await read_apart(lambda: asks_for_tests(task.repo, handed.product)))
    if not (handed.spans and handed.product):
        return handed
    known = await read_bug_texts(task, tree)
    buggy, fixes = known.removals[VariantKind.REMOVAL], (known.pristine, *known.twins.values())
    return await read_apart(lambda: with_place(handed, buggy, fixes))


def with_place(handed: HandedIn, buggy: Files, fixes: Sequence[Files]) -> HandedIn:
    """Return a hand-in with what is known of its repair's place. Takes a limited number of steps.

    Args:
        handed: What was handed in.
        buggy: Texts of the files in question, as the submission got them.
        fixes: The same texts as the fixed code and all other known fixes have them.
    """
    changed, before = handed.changed, handed.before
    if width(handed.spans) > widest(buggy, fixes[0]) or not contain(handed.spans, before, changed):
        return handed
    if not is_in_a_known_place(buggy, fixes, changed):
        return replace(handed, is_within=True)
    written = {path: text for path, text in changed.items() if text is not None}
    texts = without_known_places(before, fixes, written)
    return replace(handed, is_within=True, is_known=True, elsewhere={} if texts == before else texts)


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
