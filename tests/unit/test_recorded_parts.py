"""Judgings are taken from a record where nothing but nice-to-haves has changed since it was written."""

from pathlib import Path

import pytest

from harness.authoring.task_check.context import Memory
from harness.authoring.task_check.controls import write_check_record
from harness.authoring.task_check.recorded_parts import judged_digest, recorded_parts
from harness.authoring.task_check.subject import Subject
from harness.specs.catalog import Catalog
from harness.specs.task_facts import CheckedStep, Level, StepId, StepOutcome, TaskCheck
from tests.support.sound_catalog import MUST, NICE, TASK, sound_catalog

RAN = (StepId.CONVENTIONS, StepId.AGENT_VIEW, StepId.REFERENCE, StepId.HONEST_SUITES)


def subject_of(catalog: Path) -> Subject:
    loaded = Catalog(catalog)
    return Subject(loaded, loaded.task(TASK))


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record lies beside it."""
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    place = sound_catalog(tmp_path / "catalog").directory
    steps = tuple(CheckedStep(id=step, outcome=StepOutcome.PASSED, seconds=2.0) for step in RAN)
    digests = {"task_digest": "1", "judged_digest": judged_digest(subject_of(place)), "image_digest": "2"}
    done = TaskCheck(task=TASK, level=Level.FULL, **digests, isolation="docker", steps=steps)
    assert write_check_record(tmp_path / "records", done)
    return place


def recorded(catalog: Path, image: str = "2", isolation: str = "docker") -> set[StepId]:
    return set(recorded_parts(catalog.parent / "records", subject_of(catalog), {"1", image}, isolation))


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_another_nice_to_have_leaves_the_judgings_as_they_were(catalog):
    replaced(catalog / "rubrics" / f"{TASK}.yaml", NICE["4.1"], "No test writes a file while it adds up its numbers.")
    assert recorded(catalog) == {StepId.REFERENCE, StepId.HONEST_SUITES}


def test_whatever_gates_needs_new_ones(catalog):
    replaced(catalog / "rubrics" / f"{TASK}.yaml", MUST["1.3"][0], "Tests that a start is added to the total once.")
    assert recorded(catalog) == set()


@pytest.mark.parametrize("file", [f"tasks/{TASK}/probes/1.1.patch", f"honest/{TASK}/a/patch.diff"])
def test_so_does_a_file_of_the_task_or_of_an_honest_suite(catalog, file):
    path = catalog / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("another")
    assert recorded(catalog) == set()


@pytest.mark.parametrize("other", [{"image": "3"}, {"isolation": "gvisor"}])
def test_so_does_another_image_or_engine(catalog, other):
    assert recorded(catalog, **other) == set()


def test_a_record_without_the_digest_holds_for_nothing(catalog):
    record = catalog.parent / "records" / f"{TASK}.json"
    replaced(record, f'"judged_digest": "{judged_digest(subject_of(catalog))}"', '"judged_digest": ""')
    assert recorded(catalog) == set()


def test_a_part_that_is_taken_over_says_so_once():
    part = CheckedStep(id=StepId.REFERENCE, outcome=StepOutcome.PASSED, seconds=2.0)
    again = Memory(Path(), {}, {StepId.REFERENCE: part}).recall(StepId.REFERENCE)
    assert again is not None
    assert again == part.model_copy(update={"remarks": ("reference, three times: as recorded",)})
    assert Memory(Path(), {}, {StepId.REFERENCE: again}).recall(StepId.REFERENCE) == again
