"""Manifests as authors of published tasks wrote them: sixty are read, and each name is matched with its test."""

import json
import re
import shutil
import time
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from harness.authoring.task_check.check import check_tasks
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import ManifestError, read_lines
from harness.judging.verify.intake import FileChange
from harness.judging.verify.listed_names import Ambiguous, Candidate, meant
from harness.judging.verify.manifest_check import check_manifest
from harness.plugins.published import layout
from harness.plugins.published.campaigns import campaign_tests
from harness.plugins.published.seen_tests import SeenTests, reported_tests
from harness.plugins.published.task import PublishedTask, read_published
from harness.specs.catalog import Catalog
from harness.specs.problem import Severity
from harness.specs.reasons import ReasonCode
from harness.specs.task_facts import Level
from harness.specs.test_results import TestId
from harness.specs.tracks import TaskOptions
from tests.support.command import typed
from tests.support.patches import new_test_file

FIXTURES = Path(__file__).parents[1] / "fixtures"
SIXTY = json.loads((FIXTURES / "swe_atlas_manifests.json").read_text())


def source(path: str, names: list[str]) -> str:
    """A file with a test of each of these names, as a file of its kind has them."""
    if path.endswith(".py"):
        return _python(names)
    if path.endswith(".go"):
        tests = dict.fromkeys(name.partition("/")[0] for name in names)
        functions = (f"func {name}(t *testing.T) {{ t.Error() }}\n" for name in tests)
        return "".join(['package x\nimport "testing"\n', *functions])
    if path.endswith(".uts"):
        return "% a campaign\n+ a set\n" + "".join(f"= {name}\n~ now\nassert 1\n" for name in names)
    return "".join(_titled(name.split(" | ")) for name in names)


def _titled(parts: list[str]) -> str:
    if PurePosixPath(parts[0]).suffix:
        return _titled(parts[1:])
    text = f"it({json.dumps(parts[-1])}, () => expect(1).toBe(1));\n"
    for block in reversed(parts[:-1]):
        text = f"describe({json.dumps(block)}, () => {{\n{text}}});\n"
    return text


def _python(names: list[str]) -> str:
    classes: dict[str, list[str]] = defaultdict(list)
    for name in names:
        *above, test = name.split("::")
        classes[above[-1] if above and not above[-1].endswith(".py") else "TestAll"].append(test)
    return "import unittest\n" + "".join(
        f"class {name}(unittest.TestCase):\n" + "".join(f"    def {test}(self): assert 1\n" for test in tests)
        for name, tests in classes.items()
    )


def task_of(entry: dict[str, str], place: Path) -> tuple[Path, dict[str, str]]:
    """A task whose reference has the listed tests in the files that the author's patch touched."""
    shutil.copytree(FIXTURES / "swe_atlas" / "aiosmtpd-debugging-handler", place)
    files = list(entry["files_of_the_reference_patch"])
    by_file: dict[str, list[str]] = {path: [] for path in files}
    for item in read_lines(entry["manifest_as_written"].encode()):
        file = next(path for path in files if path.endswith(item.file.removeprefix("a/")))
        by_file[file].append(item.name)
    texts = {path: source(path, names) for path, names in by_file.items()}
    patch = b"".join(new_test_file(path, text).patch for path, text in texts.items())
    (place / layout.REFERENCE).write_bytes(patch)
    (place / layout.SOLUTION).write_text(f"<<TEST_MANIFEST>>\n{entry['manifest_as_written']}\n<<TEST_MANIFEST>>\n")
    return place, texts


@pytest.mark.parametrize("entry", SIXTY, ids=[f"{n}-{entry['repository']}" for n, entry in enumerate(SIXTY, 1)])
def test_each_of_sixty_manifests_is_read_and_each_of_its_names_has_its_test(tmp_path, entry):
    place, texts = task_of(entry, tmp_path / "task")
    [done] = check_tasks(Catalog(), {f"swe-atlas:{place}": Level.QUICK}, 1, lambda *_: None, lambda _: None)
    assert not [problem.message for problem in done.problems if problem.severity is Severity.ERROR]

    task = read_published(place, TaskOptions())
    check = check_manifest(
        entry["manifest_as_written"].encode(),
        tuple(FileChange(path, None, text.encode()) for path, text in texts.items()),
        seen(task, texts, entry),
    )
    assert check.reasons == ()
    assert {test.file for test in check.tests} == set(texts)
    assert row(SIXTY.index(entry) + 1, entry, len(check.reasons)) in PAGE.read_text().splitlines()


PAGE = FIXTURES.parents[1] / "docs" / "swe-atlas.md"


def row(number: int, entry: dict[str, str], unmatched: int) -> str:
    """What the page on published tasks says of a manifest."""
    names = {(item.file, item.name) for item in read_lines(entry["manifest_as_written"].encode())}
    files = entry["files_of_the_reference_patch"]
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    found = f"{len(names) - unmatched} of {len(names)}"
    return line(number, entry["repository"], f"`{files[0]}`{more}", found)


TASKS = {
    "wp-calypso": 4, "paperless-ngx": 10, "scapy": 10, "minio": 10, "app": 10, "trufflehog": 8, "k6": 8,
    "grafana": 5, "sftpgo": 7, "kitty": 14, "maddy": 4,
}  # fmt: skip
RUNS = {
    "paperless-ngx": "rebuilt, 8 of its 10 run | 8 of 8 | 8 of 8 | they don't",
    "k6": "rebuilt, 5 of its 8 run | 5 of 5 | 5 of 5 | they don't",
    "app": "rebuilt, 3 of its 10 run | 3 of 3 | 3 of 3 | they don't",
    "kitty": "rebuilt, 13 of its 14 run | 11 of 13 | 11 of 13 | they don't: the image fails the two",
    "scapy": "rebuilt, all 10 run | 0 of 10, before the repair | 10 of 10 | UTscapy's summary was taken for a test",
}
"""What was told of runs: image, our rules, the published mutation, why they differ. It was told by repository."""


RUNS_SINCE = {
    1: "a release's | resolved | passes | they don't",
    18: "a release's; rebuilt, all 10 run | resolved; 0 of 10, before the repair | passes; 10 of 10 | they don't; "
    "UTscapy's summary was taken for a test",
}
"""By task, on images of releases: `make published`."""


def line(number: int, repository: str, *static: str) -> str:
    """All that is known of a task."""
    told = RUNS.get(repository, "none | not run | not run | nobody ran it")
    run = RUNS_SINCE.get(number, told)
    return f"| {number} | {repository} | {' | '.join(static)} | {run} |"


def test_the_page_on_published_tasks_has_a_line_for_each_of_the_ninety():
    known = Counter(entry["repository"] for entry in SIXTY)
    assert sum(TASKS.values()) == 90
    others = [repository for repository, tasks in TASKS.items() for _ in range(tasks - known[repository])]
    page = [line for line in PAGE.read_text().splitlines() if re.match(r"\| \d{1,2} \|", line)]
    first = [" | ".join(line.split(" | ")[:2]) for line in page[:60]]
    assert first == [f"| {number} | {entry['repository']}" for number, entry in enumerate(SIXTY, 1)]
    assert page[60:] == [line(number, name, "not here", "unknown") for number, name in enumerate(others, 61)]


def seen(task: PublishedTask, texts: dict[str, str], entry: dict[str, str]):
    """The task's language, with what its parser would report of files that no grammar reads."""
    language = language_of(task.repo)
    names = [item.name for item in read_lines(entry["manifest_as_written"].encode())]
    unread = {path: text.encode() for path, text in texts.items() if not language.discovery.is_test_file(path)}
    found = {(path, text): reported_tests(text, names) for path, text in unread.items()}
    return type(language)(**{**vars(language), "discovery": SeenTests(language.discovery, found)})


def test_lines_are_read_without_yaml():
    text = b"""
    Here is what I wrote:
    - file: src/a/test_x.py
      tests:
        - TestA::test_one
        - "defragment() - Missing: fragments # 3"
        - 'it's fine'
        - TestA::test_one
    - tests:
    - bare
    """
    assert [(item.file, item.name) for item in read_lines(text)] == [
        ("src/a/test_x.py", "TestA::test_one"),
        ("src/a/test_x.py", "defragment() - Missing: fragments # 3"),
        ("src/a/test_x.py", "it's fine"),
        ("src/a/test_x.py", "bare"),
    ]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"- file: a.py\n  tests:\n", ReasonCode.MANIFEST_MISSING),
        (b"- a\x07bell\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: ../../etc/passwd\n- a\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"".join(b"- t%d\n" % n for n in range(2001)), ReasonCode.MANIFEST_UNPARSEABLE),
    ],
)
def test_lines_that_name_nothing_or_too_much_are_refused(data, code):
    with pytest.raises(ManifestError) as refused:
        read_lines(data)
    assert refused.value.code is code


PY = [TestId("src/d/tests/test_x.py", name) for name in ("TestA.test_one", "TestB.test_one", "TestB.test_two")]
TS = [TestId("lib/test/url.js", name) for name in ("url > is a URL", "url > `_.property` shorthands")]


def resolve(text: str, tests: list[TestId], language: str = "python", kept: tuple[TestId, ...] = ()):
    ids = language_of(read_published(FIXTURES / "swe_atlas" / "aiosmtpd-debugging-handler", TaskOptions()).repo).ids
    candidates = [Candidate(test, test not in kept) for test in tests]
    return list(meant(read_lines(text.encode()), candidates, {test.file for test in tests}, ids))


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("TestA::test_one", PY[0]),
        ("TestB.test_one", PY[1]),
        ("d/tests/test_x.py::TestA::test_one", PY[0]),
        ("a/src/d/tests/test_x.py::TestA::test_one", PY[0]),
        ("src.d.tests.test_x.TestA.test_one", PY[0]),
        ("TESTA::Test One", PY[0]),
        ("test_two", PY[2]),
        ("test_two[case-1]", PY[2]),
    ],
)
def test_a_name_means_a_test_as_logs_and_people_write_it(name, test):
    assert resolve(f"- {name}\n", PY) == [test]


def test_a_name_that_fits_several_tests_is_told_with_them_and_written_ones_come_first():
    [unclear] = resolve("- test_one\n", PY)
    assert isinstance(unclear, Ambiguous)
    assert unclear.tests == (PY[0], PY[1])
    assert "this name fits 2 tests: src/d/tests/test_x.py::TestA.test_one, " in unclear.words
    assert resolve("- test_one\n", PY, kept=(PY[1],)) == [PY[0]]


def test_titles_are_matched_whatever_separates_them():
    text = "- file: lib/test/url.js\n- lib/test/url.js | url | is a URL\n- with\n- url > `_.property` shorthands\n"
    first, second, third = resolve(text, TS)
    assert (first, third) == (TS[0], TS[1])
    assert second == TestId("lib/test/url.js", "with"), "no test of this name: the manifest's check says so"


def test_a_file_of_another_place_is_not_guessed():
    tests = [TestId("a/test_x.py", "test_one"), TestId("b/test_x.py", "test_one")]
    [unclear] = resolve("- file: test_x.py\n- test_one\n", tests)
    assert isinstance(unclear, Ambiguous)
    assert resolve("- file: c/test_x.py\n- test_one\n", tests) == [TestId("c/test_x.py", "test_one")]


CAMPAIGN = b"% c\n+ set\n= first (a)\nassert a\n\n= first\nassert b\n# = not run\n"


def test_more_names_and_lines_than_any_honest_file_has_are_not_compared():
    began = time.process_time()
    assert reported_tests(b"= x\n" * 100_000, [f"x {number}" for number in range(100_000)]).tests == ()
    assert time.process_time() - began < 5


def test_the_text_of_a_reported_test_goes_to_the_next_one():
    found = reported_tests(CAMPAIGN, ["first", "first (a)", "of another file"])
    assert [(test.name, test.first_line, test.last_line) for test in found.tests] == [
        ("first (a)", 3, 5),
        ("first", 6, 8),
    ]
    assert b"assert b" in found.tests[1].text
    changed = reported_tests(CAMPAIGN.replace(b"assert b", b"assert c"), ["first", "first (a)"])
    assert changed.tests[0].text == found.tests[0].text
    assert changed.tests[1].text != found.tests[1].text


SUMMARY = "PASSED=2 FAILED=0 | All campaigns executed. Writing output..."
WEIRD = b"""% addresses
+ Test fragment() / defragment() functions
= in6_getAddrType - Weird address (1::1)
assert kind("1::1") == (1)
= Packet().fragment()
assert fragment()

############
# Next set
############
+ Scanners
= UDS_ServiceEnumerator
s = UDS_ServiceEnumerator(sock)
"""


def names_and_texts(text: bytes) -> dict[str, bytes]:
    return {test.name: test.text for test in campaign_tests(text).tests}


def test_a_summary_of_a_log_is_no_test_and_a_name_is_looked_up_whole():
    names = ["in6_getAddrType - Weird address (1::1)", "Packet().fragment()", "UDS_ServiceEnumerator"]
    assert list(names_and_texts(WEIRD)) == names
    lines = {test.name: test.first_line for test in reported_tests(WEIRD, [SUMMARY, *names, "ragment()"]).tests}
    assert lines.keys() == set(names)
    assert lines["in6_getAddrType - Weird address (1::1)"] == 3
    assert lines["Packet().fragment()"] == 5


def test_a_test_behind_the_last_of_a_set_leaves_the_one_above_it_as_it_was():
    before = names_and_texts(WEIRD)
    added = WEIRD.replace(b"assert fragment()\n", b"assert fragment()\n\n= One more\nassert 1\n")
    after = names_and_texts(added)
    assert after.pop("One more") == b"= One more\nassert 1\n"
    assert after == before


def test_lines_of_code_behind_a_blank_line_and_in_a_second_test_of_a_name_change_a_test():
    before = names_and_texts(WEIRD)["Packet().fragment()"]
    longer = WEIRD.replace(b"assert fragment()\n", b"assert fragment()\n\nassert 2\n")
    assert names_and_texts(longer)["Packet().fragment()"] == before + b"\nassert 2\n"
    twice = WEIRD + b"= Packet().fragment()\npass\n"
    assert names_and_texts(twice)["Packet().fragment()"] == before + b"= Packet().fragment()\npass\n"


@pytest.mark.parametrize(
    ("listed", "title"),
    [("resemblesUrl | is true", "resemblesUrl() > is true"), ("url | takes it (http)", "url > takes it (%s)")],
)
def test_a_listed_name_is_a_title_as_the_log_prints_it(listed, title):
    tests = [TestId("lib/test/url.ts", title), TestId("lib/test/url.ts", "url > another")]
    assert resolve(f"- {listed}", tests) == tests[:1]


@pytest.mark.parametrize("listed", ["resemblesUrls | is true", "url | takes it [http]", "url | takes"])
def test_a_name_that_no_title_prints_stays_unknown(listed):
    tests = [TestId("lib/test/url.ts", "resemblesUrl() > is true"), TestId("lib/test/url.ts", "url > takes it (%s)")]
    assert resolve(f"- {listed}", tests)[0] not in tests


def test_two_blocks_that_differ_only_in_parentheses_are_told_to_the_author():
    tests = [TestId("lib/test/url.ts", f"a > {block} > is true") for block in ("parse", "parse()")]
    found = resolve("- is true", tests)[0]
    assert isinstance(found, Ambiguous)
    assert resolve("- a > parse() > is true", tests) == tests[1:]


@pytest.mark.parametrize("is_comment", [True, False])
def test_a_comment_that_is_listed_as_a_test_is_a_weakness_of_the_task(tmp_path, is_comment):
    place = tmp_path / "scapy-tsig-time"
    shutil.copytree(FIXTURES / "swe_atlas_published" / "scapy-tsig-time", place)
    patch = place / "solution" / "addition.patch"
    line = b"+= TimeSignedField: h2i() and i2h()"
    assert line in patch.read_bytes()
    if is_comment:
        patch.write_bytes(patch.read_bytes().replace(line, line.replace(b"+=", b"+#")))
    done = typed("task", "check", "--quick", "--json", f"swe-atlas:{place}", cwd=tmp_path)
    assert done.status == 0, done.output + done.complaint
    [task] = json.loads(done.output)["tasks"]
    assert (task["task"], task["counts"]["reference_tests"]) == ("swe-atlas-scapy-tsig-time", 5)
    [step] = [step for step in task["steps"] if step["id"] == "manifest"]
    told = [problem["message"] for problem in step["problems"]]
    listed = "test/dnssecRR.uts::TimeSignedField: h2i() and i2h()"
    assert told == ([f"weakness of the task: lists {listed}, {COMMENT}"] if is_comment else [])


def judged(before: bytes, after: bytes, *names: str) -> list[tuple[ReasonCode, str]]:
    """The static stage of our rules on a patch of one campaign that lists these names."""
    task = read_published(FIXTURES / "swe_atlas_published" / "scapy-tsig-time", TaskOptions())
    language = language_of(task.repo)
    path = "test/weird.uts"
    discovery = SeenTests(language.discovery, {(path, text): campaign_tests(text) for text in (before, after)})
    manifest = "".join(f"- {name}\n" for name in names) or "- none\n"
    changes = (FileChange(path, before, after),)
    found = check_manifest(manifest.encode(), changes, replace(language, discovery=discovery))
    return [(reason.code, reason.subject.partition("::")[2]) for reason in found.reasons]


ADDED = WEIRD.replace(b"\n####", b"\n= One more\nassert fragment(2)\n\n####", 1)


def test_a_campaign_that_gets_one_test_is_accepted_with_its_name():
    assert ADDED != WEIRD
    assert judged(WEIRD, ADDED, "One more") == []


WEIRD_NAME, HEADING = "in6_getAddrType - Weird address (1::1)", "Test fragment() / defragment() functions"
FRAGMENT = b"= Packet().fragment()\nassert fragment()\n"


@pytest.mark.parametrize(
    ("old", "new", "listed", "reason"),
    [
        (b'kind("1::1") == (1)', b"True", "", (ReasonCode.MANIFEST_UNLISTED_TEST, WEIRD_NAME)),
        (FRAGMENT, b"", "", (ReasonCode.EXISTING_TEST_BROKEN, "Packet().fragment()")),
        (b"", b"", HEADING, (ReasonCode.MANIFEST_UNKNOWN_TEST, HEADING)),
        (b"", b"", "fragment()", (ReasonCode.MANIFEST_UNKNOWN_TEST, "fragment()")),
        (b"", b"", SUMMARY, (ReasonCode.MANIFEST_UNKNOWN_TEST, SUMMARY)),
    ],
    ids=["changed", "removed", "heading", "part", "summary"],
)
def test_cheats_in_a_campaign_are_refused(old, new, listed, reason):
    after = ADDED.replace(old, new, 1) if old else ADDED
    assert judged(WEIRD, after, "One more", *filter(None, [listed])) == [reason]


COMMENT = "which is a comment and no test: our rules refuse the reference"
