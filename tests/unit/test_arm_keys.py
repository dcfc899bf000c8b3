"""An arm's key and its name in files are the same thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.variants import ArmKey, Role
from tests.support.sound_catalog import TASK, sound_catalog

VARIANTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}", fullmatch=True)
KEYS = st.builds(ArmKey, st.sampled_from(Role), VARIANTS, st.integers(1, 999_999), st.integers(0, 999_999))


@given(KEYS)
def test_a_key_is_read_back_from_its_name(key):
    assert ArmKey.parse(str(key)) == key


@given(KEYS, KEYS)
def test_two_keys_have_the_same_name_only_when_they_are_equal(one, other):
    assert (str(one) == str(other)) == (one == other)


PARTS = st.sampled_from(["removal", "run-2", "test-1", "listed", "existing-after", "probe-1.4", ""])


@given(st.text(max_size=60) | st.lists(PARTS).map(",".join))
def test_a_text_is_a_name_only_when_it_is_how_the_key_is_written(text):
    try:
        key = ArmKey.parse(text)
    except ValueError:
        return
    assert str(key) == text


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (ArmKey(Role.LISTED, "baseline"), "baseline"),
        (ArmKey(Role.LISTED, "baseline").again, "baseline,run-2"),
        (ArmKey(Role.LISTED, "removal").alone(3), "removal,test-3"),
        (ArmKey(Role.EXISTING_AFTER, "baseline").again, "baseline,existing-after,run-2"),
        (ArmKey(Role.CHANGED_BEFORE, "probe-1.4-b"), "probe-1.4-b,changed-before"),
    ],
)
def test_names_say_variant_role_repetition_and_part(key, name):
    assert str(key) == name


@pytest.mark.parametrize(
    "name",
    ["", "removal,run-1", "removal,run-02", "removal,test-0", "removal,listed", "../x", "a/b", ".x", "removal\n",
     "removal,test-1,run-2", "removal,run-" + "9" * 5000, "removal,run-２"],
)  # fmt: skip
def test_other_spellings_are_no_names(name):
    with pytest.raises(ValueError, match="is not the name of an arm"):
        ArmKey.parse(name)


@pytest.mark.parametrize("arguments", [("a,b",), ("",), ("a", 0), ("a", 1, -1), ("a", 10**6)])
def test_a_key_that_could_not_be_written_is_not_made(arguments):
    with pytest.raises(ValueError, match="no arm can be called"):
        ArmKey(Role.LISTED, *arguments)


def test_a_probe_whose_file_name_could_name_no_arm_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    catalog = sound_catalog(tmp_path / "catalog")
    probes = catalog.task(TASK).directory / "probes"
    (probes / "1.4.patch").rename(probes / "1.4-a,b.patch")
    with pytest.raises(UserError, match=r"1\.4-a,b\.patch: name it CRITERION\.patch or CRITERION-SUFFIX\.patch"):
        Catalog(catalog.directory).task(TASK)
