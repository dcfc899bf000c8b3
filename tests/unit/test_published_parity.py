"""The published rule against an emulation that is written from its description alone, on drawn manifests and logs."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.published.parsed_log import ParsedTest
from harness.plugins.published.rule import is_test_path, judge_mutation, listed_names

FENCE = "<<TEST_MANIFEST>>"
WORDS = ("alpha", "Beta", "test_x", "two words", "f()", 'it returns "x"')
STATUSES = ("PASSED", "FAILED", "ERROR", "SKIPPED", None)


def fold(name):
    return re.sub(r"\s+", " ", name.strip().lower()).replace(" > ", " | ")


def offered_by_log(name):
    """Itself, the last and the last two parts of ` | ` or `::`, and what stands before ` - `."""
    name = fold(name)
    bars, colons = name.split(" | "), name.split("::")
    forms = {name, name.split(" - ")[0]}
    if len(bars) > 1:
        forms |= {bars[-1], " | ".join(bars[-2:])}
    if len(colons) > 1:
        forms |= {colons[-1], "::".join(colons[-2:]), ".".join(colons[-2:])}
    return forms


def offered_by_manifest(name):
    """Itself, the last two parts of ` > ` or ` | `, and the last one and two parts of `::` or `.`."""
    name = fold(name)
    forms = {name}
    if " | " in name:
        forms.add(" | ".join(name.split(" | ")[-2:]))
    cuts = [found.span() for found in re.finditer(r"::|\.", name)]
    if cuts:
        forms.add(name[cuts[-1][1] :])
        forms.add(name[cuts[-2][1] :] if len(cuts) > 1 else name)
    return forms


def passes(names, before, after):
    """One matched test or more passed at baseline, and each of those is red after the removal."""
    listed = set().union(*map(offered_by_manifest, names)) if names else set()
    green = [test.name for test in before if test.status == "PASSED" and offered_by_log(test.name) & listed]
    later = {test.name: test.status for test in after}
    return bool(green) and all(later.get(name) in ("FAILED", "ERROR") for name in green)


PARTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
NAMES = st.builds(lambda glue, parts: glue.join(parts), st.sampled_from([" > ", " | ", "::", ".", " - "]), PARTS)
LOGS = st.dictionaries(NAMES, st.tuples(*[st.sampled_from(STATUSES)] * 2), max_size=5)


def run_of(log, number):
    return [ParsedTest(name, found[number]) for name, found in log.items() if found[number]]


@given(st.lists(NAMES, max_size=4, unique=True), LOGS)
def test_the_mutation_stage_is_decided_as_described(names, log):
    before, after = run_of(log, 0), run_of(log, 1)
    manifest = f"- file: a.py\n  tests:\n{''.join(f'    - {name}' + chr(10) for name in names)}"
    assert listed_names(manifest) == names
    assert (judge_mutation(names, before, after) == ()) == passes(names, before, after)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('- it returns "x"', ['it returns "x"']), ('- "it returns x"', ["it returns x"]), ("- test:", []),
        ("- Tests:", []), ("- File: a.py", []), ("- tests:foo", ["tests:foo"]),
    ],
)  # fmt: skip
def test_a_line_of_a_manifest_is_read_as_published(line, names):
    assert listed_names(line) == names


@pytest.mark.parametrize("fences", [4, 5])
def test_the_last_whole_manifest_counts(fences):
    blocks = ["", "- first\n", "", "- last\n", "", "- cut off\n"]
    assert listed_names(FENCE.join(blocks[: fences + 1])) == ["last"]


def test_paths_are_test_files_in_any_case():
    assert is_test_path("src/Tests/A.cs")
    assert is_test_path("a/Test_x.py")
    assert not is_test_path("src/Latest.cs")
