"""The published rule against an emulation that is written from its description alone, on drawn manifests and logs."""

import json
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.published.parsed_log import ParsedTest
from harness.plugins.published.rule import is_test_path, judge_mutation, listed_names, log_records
from harness.plugins.published.task import read_published
from harness.specs.tracks import TaskOptions

TASK = Path(__file__).parents[1] / "fixtures" / "swe_atlas" / "aiosmtpd-debugging-handler"
FENCE = "<<TEST_MANIFEST>>"
WORDS = ("alpha", "Beta", "test_x", "test x", "two words", "two_words", "f()", 'it returns "x"')
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


def compared(forms, underscored):
    """One task writes spaces in names as underscores."""
    return {re.sub(" ", "_", form) for form in forms} if underscored else forms


def passes(names, before, after, underscored):
    """One matched test or more passed at baseline, and each of those is red after the removal."""
    listed = set().union(*(compared(offered_by_manifest(name), underscored) for name in names))
    passed = [test.name for test in before if test.status == "PASSED"]
    green = [name for name in passed if compared(offered_by_log(name), underscored) & listed]
    later = {test.name: test.status for test in after}
    return bool(green) and all(later.get(name) in ("FAILED", "ERROR") for name in green)


PARTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
NAMES = st.builds(lambda glue, parts: glue.join(parts), st.sampled_from([" > ", " | ", "::", ".", " - "]), PARTS)
LOGS = st.dictionaries(NAMES, st.tuples(*[st.sampled_from(STATUSES)] * 2), max_size=5)


def run_of(log, number):
    return [ParsedTest(name, found[number]) for name, found in log.items() if found[number]]


def written_in_dashes(names):
    return f"- file: a.py\n  tests:\n{''.join(f'    - {name}' + chr(10) for name in names)}"


def written_in_json(names):
    return json.dumps([{"file": "a.py", "tests": names}])


@given(
    st.lists(NAMES, max_size=4, unique=True),
    LOGS,
    st.booleans(),
    st.sampled_from([written_in_dashes, written_in_json]),
)
def test_the_mutation_stage_is_decided_as_described(names, log, underscored, written):
    before, after = run_of(log, 0), run_of(log, 1)
    assert listed_names(written(names)) == names
    found = judge_mutation(names, before, after, underscored=underscored)
    assert (found == ()) == passes(names, before, after, underscored)


@pytest.mark.parametrize("underscored", [True, False])
def test_underscores_and_spaces_are_the_same_only_where_a_task_says_so(underscored):
    before, after = [ParsedTest("TestSums::adds_two", "PASSED")], [ParsedTest("TestSums::adds_two", "FAILED")]
    assert (judge_mutation(["adds two"], before, after, underscored=underscored) == ()) == underscored
    [row] = log_records(["adds two"], before, after, underscored=underscored)
    assert row.arms["baseline"] == ("passed" if underscored else "no result")


@pytest.mark.parametrize(
    ("rule", "underscored"),
    [
        ('return name.lower().replace(" ", "_")', True), (r'return re.sub(r"\s+", "_", name)', True),
        ('return " ".join(name.lower().split())', False), ("return name  # .replace(' ', '_')", False), (")", False),
    ],
)  # fmt: skip
def test_a_task_says_so_in_its_own_verifier(tmp_path, rule, underscored):
    place = Path(shutil.copytree(TASK, tmp_path / "task"))
    assert not read_published(place, TaskOptions()).is_underscored
    (place / "tests" / "evaluate_tests.py").write_text(f"import re\n\n\ndef normal(name):\n    {rule}\n")
    assert read_published(place, TaskOptions()).is_underscored == underscored


@pytest.mark.parametrize(
    ("manifest", "names"),
    [
        ('["a", "b c", "a"]', ["a", "b c"]), ('{"tests": ["a"]}', ["a"]),
        ('[{"file": "x.py", "tests": ["a", 1]}, {"file": "y.py"}, "b"]', ["a", "b"]),
        ('[\n- "a"\n]', ["a"]), ("[" * 200_000, []), ('{"file": "x.py"}', []),
    ],
)  # fmt: skip
def test_a_manifest_in_json_has_its_names_in_its_strings(manifest, names):
    assert listed_names(manifest) == names
    assert listed_names(f"{FENCE}\n{manifest}\n{FENCE}\n") == names


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
