"""Parts are taken from a record where nothing that they read has changed since it was written."""

import json
from pathlib import Path

import pytest

from harness.authoring.task_check.context import Memory
from harness.authoring.task_check.controls import write_check_record
from harness.authoring.task_check.recorded_parts import kept_digests, recorded_parts
from harness.authoring.task_check.subject import Subject
from harness.specs.catalog import Catalog
from harness.specs.task_facts import CheckedStep, Level, StepId, StepOutcome, TaskCheck
from tests.support.bug_catalog import BASE, BUG, bug_catalog
from tests.support.sound_catalog import MUST, NICE, TASK, sound_catalog

RAN = (StepId.CONVENTIONS, StepId.AGENT_VIEW, StepId.FUZZ, StepId.REFERENCE, StepId.HONEST_SUITES)
JUDGED = {StepId.FUZZ, StepId.REFERENCE, StepId.HONEST_SUITES}


def subject_of(catalog: Path) -> Subject:
    loaded = Catalog(catalog)
    return Subject(loaded, loaded.task(TASK))


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record lies beside it."""
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    place = sound_catalog(tmp_path / "catalog").directory
    steps = tuple(CheckedStep(id=step, outcome=StepOutcome.PASSED, seconds=2.0) for step in RAN)
    digests = {"task_digest": "1", "part_digests": kept_digests(subject_of(place)), "image_digest": "2"}
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
    assert recorded(catalog) == JUDGED


def test_whatever_gates_needs_new_ones(catalog):
    replaced(catalog / "rubrics" / f"{TASK}.yaml", MUST["1.3"][0], "Tests that a start is added to the total once.")
    assert recorded(catalog) == set()


@pytest.mark.parametrize(
    ("file", "left"),
    [
        (f"tasks/{TASK}/probes/1.1.patch", set()),
        (f"tasks/{TASK}/reference/covers.yaml", {StepId.HONEST_SUITES}),
        (f"tasks/{TASK}/fuzz/test_fuzz_sums.py", JUDGED - {StepId.FUZZ}),
        (f"tasks/{TASK}/prompt.md", JUDGED),
        (f"honest/{TASK}/a/patch.diff", JUDGED - {StepId.HONEST_SUITES}),
    ],
)
def test_a_file_needs_the_parts_anew_that_read_it(catalog, file, left):
    path = catalog / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("another")
    assert recorded(catalog) == left


@pytest.mark.parametrize("other", [{"image": "3"}, {"isolation": "gvisor"}])
def test_another_image_or_engine_needs_them_all_anew(catalog, other):
    assert recorded(catalog, **other) == set()


def test_a_bugs_fixes_need_no_new_look_where_its_base_draws_other_inputs(tmp_path):
    place = bug_catalog(tmp_path)

    def digests() -> dict[StepId, str]:
        loaded = Catalog(place)
        return kept_digests(Subject(loaded, loaded.task(BUG)))

    before = digests()
    (place / "tasks" / BASE / "fuzz" / "test_more.py").write_text("another")
    drawn = digests()
    assert {step for step in before if drawn[step] == before[step]} == {StepId.ALTERNATIVE_FIXES}
    (place / "tasks" / BASE / "reference" / "manifest.yaml").write_text("another")
    assert not set(digests().values()) & set(drawn.values())


def test_a_record_without_digests_is_valid_for_no_part(catalog):
    record = catalog.parent / "records" / f"{TASK}.json"
    held = json.loads(record.read_text())
    assert held.pop("part_digests").keys() == JUDGED
    record.write_text(json.dumps(held))
    assert recorded(catalog) == set()


def test_a_part_that_is_taken_over_says_so_once():
    part = CheckedStep(id=StepId.REFERENCE, outcome=StepOutcome.PASSED, seconds=2.0)
    again = Memory(Path(), {}, {StepId.REFERENCE: part}).recall(StepId.REFERENCE)
    assert again is not None
    assert again == part.model_copy(update={"remarks": ("reference, several times: as recorded",)})
    assert Memory(Path(), {}, {StepId.REFERENCE: again}).recall(StepId.REFERENCE) == again
