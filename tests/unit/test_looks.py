"""Looks beside a verdict: their notes are in it, nothing else of it changes, and another judging keeps them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.plugins.names.beside import LOOK, MOST_NOTES
from harness.plugins.names.findings import Finding, Kind, NamesFile, digest_of, keep_names
from harness.runs.command import configure
from harness.runs.looks import LOOKS, note_again
from harness.runs.regrade import regrade
from harness.runs.store import find_trials
from harness.runs.trial_store import TrialStore
from harness.specs.errors import UserError
from harness.specs.reasons import Note, NoteCode
from tests.support.scenes import Scene, scenes

NOTE = Note(code=NoteCode.ABSENT_NAME, subject="tests/test_a.py:3", words="gone (member) doesn't exist")


@dataclass
class SeenLook:
    """Keeps a file where it has looked; fails where it is told to."""

    fails: bool = False
    looks: int = 0

    async def look(self, trial, task, submission, context, /) -> str:
        self.looks += 1
        if self.fails:
            raise RuntimeError("no room here")
        (trial / "seen.txt").write_text(submission.manifest.decode())
        return "looked"

    def notes(self, trial, submission, /) -> list[Note]:
        seen = trial / "seen.txt"
        return [NOTE] if seen.exists() and seen.read_text() == submission.manifest.decode() else []


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Scene]:
    with scenes(tmp_path, {}) as made:
        yield made()


def trial(scene: Scene, attempt: int = 1) -> TrialStore:
    return {store.directory.name: store for store in find_trials(scene.output)}[str(attempt)]


@pytest.fixture
def look() -> Iterator[SeenLook]:
    found = SeenLook()
    LOOKS.register("seen", found)
    yield found
    LOOKS.unregister("seen")


def test_a_look_notes_and_changes_nothing_else_of_a_verdict(here: Scene, look: SeenLook) -> None:
    here.run()
    plain = trial(here).verdict()
    assert look.looks == 0
    here.run(attempts=2, extend=True, looks=("seen",))
    noted = trial(here, 2).verdict()
    assert plain is not None
    assert noted is not None
    assert noted.notes == (*plain.notes, NOTE)
    assert noted.model_copy(update={"notes": plain.notes}) == plain
    assert "seen: looked" in (trial(here, 2).directory / "log.txt").read_text()
    assert look.looks == 1


def test_another_judging_keeps_what_a_look_has_found_without_another_look(here: Scene, look: SeenLook) -> None:
    here.run(looks=("seen",))
    store = trial(here)
    before = store.verdict()
    [regraded] = regrade(here.catalog, here.output, "rubric", None, True, lambda _: None)
    assert regraded.new == before == store.verdict()
    assert NOTE in regraded.new.notes
    assert look.looks == 1
    (store.directory / "seen.txt").write_text("of another submission")
    [regraded] = regrade(here.catalog, here.output, "rubric", None, True, lambda _: None)
    assert NOTE not in regraded.new.notes


def test_a_look_that_fails_is_a_line_of_the_log_and_no_more(here: Scene, look: SeenLook) -> None:
    here.run()
    plain = trial(here).verdict()
    look.fails = True
    here.run(attempts=2, extend=True, looks=("seen",))
    assert trial(here, 2).verdict() == plain
    assert "seen: nothing could be looked at: no room here" in (trial(here, 2).directory / "log.txt").read_text()


def test_a_later_look_is_noted_in_the_verdict_that_is_there(here: Scene, look: SeenLook) -> None:
    here.run()
    store = trial(here)
    submission = store.submission()
    (store.directory / "seen.txt").write_bytes(submission.manifest)
    for _ in range(2):
        note_again(store, submission)
        record = store.verdict()
        assert record is not None
        assert record.notes.count(NOTE) == 1
    assert not list(store.directory.glob("verdict.*.json"))


def test_a_look_that_nobody_has_is_one_line() -> None:
    with pytest.raises(UserError, match="unknown look 'absent-nmaes'; did you mean 'absent-names'"):
        configure({"looks": ("absent-nmaes",)}, None)


def test_each_absent_name_is_a_note_up_to_a_number(here: Scene) -> None:
    here.run()
    store = trial(here)
    submission = store.submission()
    found = [Finding(file="t.py", line=line, kind=Kind.MEMBER, name="gone", evidence="0x1") for line in range(1, 24)]
    names = NamesFile(
        task="tiny-add", submission=digest_of(submission.patch, submission.manifest), findings=tuple(found)
    )
    keep_names(store.directory, names)
    notes = LOOK.notes(store.directory, submission)
    assert len(notes) == MOST_NOTES + 1
    assert notes[0] == Note(code=NoteCode.ABSENT_NAME, subject="t.py:1", words="gone (member) doesn't exist")
    assert notes[-1].words == "3 more in names.json"
    keep_names(store.directory, names.model_copy(update={"submission": "0" * 64}))
    assert LOOK.notes(store.directory, submission) == []
