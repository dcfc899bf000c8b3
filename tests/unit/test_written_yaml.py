"""What `task check --fix` writes reads back as what was meant, whatever names there are."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.authoring.task_check.fixing import covers_text
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import format_manifest, parse_manifest
from harness.specs.catalog import Catalog
from harness.specs.test_results import TestId
from harness.specs.yaml_files import yaml_text
from tests.support.corpora import BEHAVIOUR_TASKS

NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)
COVERS = {
    TestId("tests/test_a: b #c.py", 'test_"quoted" \\ and: more'): ("1.1", "1.10"),
    TestId("tests/test_a: b #c.py", "yes"): (),
    TestId("- tests/[x].py", "describe > it {a: 1}"): ("1.2",),
}


DATA = st.recursive(NAMES, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=8)


@given(DATA)
def test_any_text_reads_back_as_it_was(data):
    assert yaml.safe_load(yaml_text(data)) == data


def test_covers_read_back_as_they_were(tmp_path):
    task = Catalog().task("jansson-object-merge").model_copy(update={"directory": tmp_path})
    (tmp_path / "reference").mkdir()
    overlaps = {"1.10": 'every test: starts "it" #all'}
    (tmp_path / "reference" / "covers.yaml").write_text(covers_text(COVERS, overlaps))
    assert (task.covers, task.overlaps) == (COVERS, overlaps)


@pytest.mark.parametrize("name", ["1.10", "1e3", "null", "0x1f", "12:30:45"])
def test_a_name_that_looks_like_a_number_stays_text(name):
    assert yaml.safe_load(covers_text({TestId("t.py", name): (name,)}, {})) == {"t.py": {name: [name]}}


@pytest.mark.parametrize("task", [task.id for task in BEHAVIOUR_TASKS])
def test_every_file_of_a_shipped_reference_is_written_as_it_stands(task):
    """So that a fix of one line changes one line."""
    reference = Catalog().task(task).directory / "reference"
    manifest = (reference / "manifest.yaml").read_bytes()
    ids = language_of(Catalog().task(task).repo).ids
    assert format_manifest(parse_manifest(manifest, ids).tests).encode() == manifest
    covers = (reference / "covers.yaml").read_text()
    assert "#" in covers or covers_text(Catalog().task(task).covers, Catalog().task(task).overlaps) == covers
