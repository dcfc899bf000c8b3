"""The published rule against an emulation that is written from its description alone, on drawn manifests and logs."""

import json
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.published.parsed_log import ParsedTest
from harness.plugins.published.rule import found_as, is_test_path, judge_mutation, listed_names, log_records
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
    for separator in ("::", "."):
        parts = name.split(separator)
        if len(parts) > 1:
            forms |= {parts[-1], separator.join(parts[-2:])}
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


GLUES = st.sampled_from([" > ", " | ", "::", ".", " - "])
PARTS = st.lists(st.tuples(GLUES, st.sampled_from(WORDS)), min_size=1, max_size=4)
"""Each word behind what joins it to the one before: a name may have separators of several kinds."""


def joined(parts):
    return "".join(piece for pair in parts for piece in pair).removeprefix(parts[0][0])


NAMES = PARTS.map(joined)
LOGS = st.dictionaries(NAMES, st.tuples(*[st.sampled_from(STATUSES)] * 2), max_size=5)


def run_of(log, number):
    return [ParsedTest(name, found[number]) for name, found in log.items() if found[number]]


def names_of(block):
    """Lines that start with a dash, less `file:` and `tests:` in any case and number; or the strings of a list."""
    if block.lstrip().startswith("[") and FENCE not in block:
        return [name for entry in json.loads(block) for name in (entry["tests"] if type(entry) is dict else [entry])]
    names = []
    for line in map(str.strip, block.split("\n")):
        if line[:1] == "-":
            name = line[1:].strip()
            key, colon, rest = name.partition(":")
            is_key = colon and (key.lower() == "file" or (key.lower() in ("test", "tests") and rest[:1] in ("", " ")))
            if not is_key:
                names.append(name[1:-1].strip() if len(name) > 1 and name[0] == name[-1] in ("'", '"') else name)
    return names


def names_listed(manifest):
    """Those of the last block between two fences, each once; of all of it where there are no two."""
    fences = manifest.count(FENCE)
    block = manifest.split(FENCE)[fences - 1 if fences % 2 == 0 else fences - 2] if fences > 1 else manifest
    return [name for name in dict.fromkeys(names_of(block)) if name]


LINES = st.one_of(
    st.builds("{}- {}".format, st.sampled_from(["", "  ", "    "]), NAMES),
    st.builds("- {0}{1}{0}".format, st.sampled_from("'\""), NAMES),
    st.builds("- {}{}".format, st.sampled_from(["file:", "File: ", "tests:", "test:", "Tests: ", "tests:f"]), NAMES),
    st.sampled_from(
        ["", "- file: a.py", "  tests:", "- tests:", "- test:", "prose: no name", "-", "file: - x", '- "']
    ),
)
DASHES = st.lists(LINES, max_size=6).map("\n".join)
JSON = st.lists(
    st.one_of(NAMES, st.builds(lambda tests: {"file": "a.py", "tests": tests}, st.lists(NAMES))), max_size=3
)
BLOCKS = st.one_of(DASHES, JSON.map(json.dumps))
MANIFESTS = st.lists(BLOCKS, min_size=1, max_size=6).map(lambda blocks: f"\n{FENCE}\n".join(blocks))


@given(MANIFESTS)
def test_a_manifest_has_the_names_that_are_described(manifest):
    assert listed_names(manifest) == names_listed(manifest)


@given(MANIFESTS, LOGS, st.booleans())
def test_the_mutation_stage_is_decided_as_described(manifest, log, underscored):
    names, before, after = names_listed(manifest), run_of(log, 0), run_of(log, 1)
    found = judge_mutation(listed_names(manifest), before, after, underscored=underscored)
    assert (found == ()) == passes(names, before, after, underscored)


@given(LOGS, st.booleans())
def test_each_listed_name_of_a_log_is_decided_as_described(log, underscored):
    before, after = run_of(log, 0), run_of(log, 1)
    for name in log:
        found = judge_mutation([name], before, after, underscored=underscored)
        assert (found == ()) == passes([name], before, after, underscored), name


@given(PARTS, PARTS, st.booleans())
def test_names_that_end_alike_are_the_same_as_described(longer, ending, underscored):
    """One of a manifest and one of a log, either of which may have more above it."""
    names = (joined([*longer, *ending]), joined(ending))
    for listed, parsed in (names, reversed(names)):
        offers = compared(offered_by_manifest(listed), underscored) & compared(offered_by_log(parsed), underscored)
        found = found_as(listed, [ParsedTest(parsed, "PASSED")], underscored=underscored)
        assert found == ([parsed] if offers else [])


def is_described(path):
    """Below test/ or tests/, or a file with one of these beginnings, ends or parts in its name; in any case."""
    path = path.lower()
    *folders, name = path.split("/")
    below = any(folder in ("test", "tests") or folder.endswith("_tests") for folder in folders)
    ends = any(path[-len(end) :] == end for end in ("_test.go", "_test.py", ".uts"))
    return below or ends or name[:5] == "test_" or any(part in name for part in (".test.", ".spec."))


FOLDERS = st.lists(
    st.sampled_from(["src", "test", "Tests", "unit_tests", "latest", "test_x", "a.test.b"]), max_size=3
)
FILES = st.sampled_from(
    [
        "a.py",
        "A_Test.go",
        "a_test.py",
        "a_tests.py",
        "Test_a.py",
        "test.py",
        "a.test.ts",
        "a.Spec.js",
        "a.uts",
        "tests",
    ]
)


@given(FOLDERS, FILES)
def test_a_path_is_a_test_file_as_described(folders, file):
    path = "/".join([*folders, file])
    assert is_test_path(path) == is_described(path)


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
