"""Names of published tests that are free text: in campaigns, in files without a grammar, in blocks and tables.

Each test is about a reference that our rules refused, or a name that they found where it isn't.
"""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.languages.found import TestFile
from harness.judging.languages.registry import LANGUAGES, language_of
from harness.judging.submission.manifest import read_lines
from harness.judging.verify.intake import FileChange
from harness.judging.verify.listed_names import Ambiguous, Candidate, meant
from harness.judging.verify.manifest_check import check_manifest
from harness.plugins.published.campaigns import campaign_tests
from harness.plugins.published.parsed_log import attributed, means, read_published
from harness.plugins.published.rule import listed_names
from harness.plugins.published.seen_tests import SeenTests, reported_tests, unheaded
from harness.plugins.published.task import read_published as read_task
from harness.specs.test_results import TestId
from harness.specs.tracks import TaskOptions

TASK = Path(__file__).parents[1] / "fixtures" / "swe_atlas_published" / "scapy-tsig-time"
LANGUAGE = language_of(read_task(TASK, TaskOptions()).repo)

CAMPAIGN = b"""\
% Weird names

+ Test fragment() / defragment() functions
= Packet().fragment()
assert fragment(1)

= in6_getAddrType - Weird address (1::1)
assert kind("1::1") == (1)

= Test hexdiff function
assert hexdiff(1)

###########
# Scanners
###########
+ Scanners [slow]
= Scan [IPv6]
s = UDS_ServiceEnumerator(sock)
assert s
"""
NAMES = ["Packet().fragment()", "in6_getAddrType - Weird address (1::1)", "Test hexdiff function", "Scan [IPv6]"]


def summary(passed: int) -> str:
    """The last line of UTscapy's log, which a parser took for a test."""
    return f"PASSED={passed} FAILED=0 | All campaigns executed. Writing output..."


def by_grammar(before: bytes, after: bytes, _added: list[str]) -> dict[bytes, TestFile]:
    return {text: campaign_tests(text) for text in (before, after)}


def by_run(before: bytes, after: bytes, added: list[str]) -> dict[bytes, TestFile]:
    """As a log shows them, its summary among them."""
    found = {
        before: reported_tests(before, [*NAMES, summary(4)]),
        after: reported_tests(after, [*NAMES, *added, summary(4 + len(added))]),
    }
    return unheaded(found, FileChange("test/weird.tests", before, after))


WAYS = {"test/weird.uts": by_grammar, "test/weird.tests": by_run}


def refusals(path: str, after: bytes, listed: list[str], added: list[str]) -> list[str]:
    """Why the static stage of our rules refuses a patch that makes `after` of the campaign."""
    seen = {(path, text): file for text, file in WAYS[path](CAMPAIGN, after, added).items()}
    manifest = "".join(f"- {name}\n" for name in listed).encode()
    language = replace(LANGUAGE, discovery=SeenTests(LANGUAGE.discovery, seen))
    found = check_manifest(manifest, (FileChange(path, CAMPAIGN, after),), language)
    return [f"{reason.code} {reason.subject.partition('::')[2]}" for reason in found.reasons]


def changed(old: bytes, new: bytes) -> bytes:
    assert CAMPAIGN.count(old) == 1
    return CAMPAIGN.replace(old, new)


NEW = b"\n= One more (2::2)\nassert 1\n"
LONGER = b"assert hexdiff(1)\n\n" + b"assert hexdiff(2)\n" * 52
ACCEPTED = {
    "behind the last of a set": (changed(b"hexdiff(1)\n", b"hexdiff(1)\n" + NEW), ["One more (2::2)"]),
    "at the end": (CAMPAIGN + NEW, ["One more (2::2)"]),
    "with a set of its own": (CAMPAIGN + b"\n# about it\n+ Another set" + NEW, ["One more (2::2)"]),
    "52 lines behind a blank one": (changed(b"assert hexdiff(1)\n", LONGER), ["Test hexdiff function"]),
    "lines at the end behind a blank one": (CAMPAIGN + b"\nassert s\n", ["Scan [IPv6]"]),
    "name with two colons": (changed(b"== (1)", b"== (2)"), ["in6_getAddrType - Weird address (1::1)"]),
}


@pytest.mark.parametrize("path", WAYS)
@pytest.mark.parametrize("case", ACCEPTED)
def test_what_a_patch_does_to_tests_with_free_names_is_seen_and_no_more(path, case):
    after, listed = ACCEPTED[case]
    assert refusals(path, after, listed, [name for name in listed if name not in NAMES]) == []


REFUSED = {
    "a change behind a blank line that isn't listed": (
        changed(b"assert hexdiff(1)\n", LONGER) + NEW, ["One more (2::2)"], "unlisted-test Test hexdiff function",
    ),
    "a part of a name": (CAMPAIGN + NEW, ["One more (2::2)", "1)"], "unknown-test 1)"),
    "the end of a name": (CAMPAIGN + NEW, ["One more (2::2)", "fragment()"], "unknown-test fragment()"),
    "a name in a body": (
        CAMPAIGN + NEW, ["One more (2::2)", "UDS_ServiceEnumerator"], "unknown-test UDS_ServiceEnumerator",
    ),
    "a heading": (CAMPAIGN + NEW, ["One more (2::2)", "Scanners [slow]"], "unknown-test Scanners [slow]"),
    "the summary": (CAMPAIGN + NEW, ["One more (2::2)", summary(5)], f"unknown-test {summary(5)}"),
}  # fmt: skip


@pytest.mark.parametrize("path", WAYS)
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_test_or_was_changed_in_silence_is_refused_by_its_name(path, case):
    after, listed, reason = REFUSED[case]
    assert refusals(path, after, listed, ["One more (2::2)"]) == [f"manifest-{reason}"]


def test_a_heading_in_words_belongs_to_the_new_test_below_it_and_two_paragraphs_are_code():
    before = b"= A\ncheck 1\n\nSection two:\n= B\ncheck 2\n"

    def changed_tests(after: bytes, names: str) -> list[str]:
        found = {before: reported_tests(before, ["A", "B"]), after: reported_tests(after, names)}
        texts = unheaded(found, FileChange("test/x.tests", before, after))
        both = [(texts[before].find(test.name), test) for test in texts[after].tests]
        return [test.name for old, test in both if old and old.text != test.text]

    assert changed_tests(before.replace(b"check 1\n", b"check 1\n\n= C\ncheck 3\n"), "ABC") == []
    assert changed_tests(before + b"\nSection three:\n= C\ncheck 3\n", "ABC") == []
    assert changed_tests(before + b"\ncheck 4\n\ncheck 5\n\n= C\ncheck 3\n", "ABC") == ["B"]
    assert changed_tests(before.replace(b"Section two:", b"check 9"), "AB") == ["A"]


def test_a_form_feed_or_a_line_separator_begins_no_line_of_a_campaign():
    text = "= one\nassert '\x0c= two'\nassert '\u2028+ three'\r\n= four\rpass\n"
    assert [test.name for test in campaign_tests(text.encode()).tests] == ["one", "four"]


TITLES = "client/lib/url/test/url.js"


def results(printed: list[str], titles: list[str]) -> list[str | None]:
    """The listed title that each result of a log counts for."""
    data = json.dumps({"tests": [{"name": name, "status": "PASSED"} for name in printed]}).encode()
    listed = [TestId(TITLES, title) for title in titles]
    cases = attributed(read_published(data, TITLES), listed).cases
    return [case.test.name if case.test in listed else None for case in cases]


def listed_as(name: str, titles: list[str]) -> str | None:
    """The title that a name of a manifest means; `several` where it may be one of several."""
    tests = [TestId(TITLES, title) for title in titles]
    candidates = [Candidate(test, True) for test in tests]
    [found] = meant(read_lines(f"- {name}\n".encode()), candidates, {TITLES}, LANGUAGE.ids)
    return "several" if isinstance(found, Ambiguous) else found.name if found in tests else None


BLOCK = ["resemblesUrl() > should detect a URL", "resemblesUrl() > should detect a path (relative)", "other() > x"]


@pytest.mark.parametrize(
    ("printed", "title"),
    [
        ("resemblesUrl | should detect a URL", BLOCK[0]),
        ("resemblesUrl() | should detect a URL", BLOCK[0]),
        ("resemblesUrl | should detect a path (relative)", BLOCK[1]),
        ("resemblesUrl | should detect a path", BLOCK[1]),
        ("resembles | should detect a URL", None),
        ("resemblesUrl | should detect", None),
        ("resemblesUrl(x) | should detect a path", None),
    ],
)
def test_a_block_that_ends_in_parentheses_is_known_as_it_is_written_and_as_logs_print_it(printed, title):
    assert results([f"{TITLES} | {printed}", printed], BLOCK) == [title, title]
    assert listed_as(printed, BLOCK) == title
    assert any(means(printed, TestId(TITLES, known)) for known in BLOCK) == (title is not None)


def test_titles_that_differ_only_in_parentheses_keep_their_own_results():
    titles = ["parse > t", "parse() > t", "parse > t (deep)"]
    assert results(["parse | t", "parse() | t", "parse | t (deep)"], titles) == titles
    assert [listed_as(title.replace(" > ", " | "), titles) for title in titles] == titles
    assert results(["parse | t"], titles[1:]) == [None], "it may be that of either"
    assert listed_as("parse | t", titles[1:]) == "several"


ODD = ["url() > Spaced   out", "url() > line\nbreak (deep)", "url() > x > y", "url() > a | b", "url() > c :: d"]


@pytest.mark.parametrize("above", ["url() | ", "url | ", "url() > ", ""])
@pytest.mark.parametrize("title", ODD)
def test_a_title_with_runs_of_space_or_with_a_separator_in_it_has_its_results(title, above):
    below = title.removeprefix("url() > ")
    assert results([f"{above}{below}"], ODD) == [title]
    if above:
        assert results([f"{TITLES} | {above}{below}"], ODD) == [title]
    assert listed_as(f"{above}{' '.join(below.split())}", ODD) == title
    assert listed_as(f"{above}{' '.join(below.split())}".lower(), ODD) == title


@pytest.mark.parametrize("language", ["python", "go", "typescript"])
def test_what_is_the_case_of_a_test_in_one_language_is_a_part_of_a_title(language):
    titles, ids = ["url > takes a/b", "url > takes [x]", "url > takes"], LANGUAGES.get(language).ids
    candidates = [Candidate(TestId(TITLES, title), True) for title in titles]
    listed = read_lines("".join(f"- {title}\n" for title in titles).encode())
    assert [test.name for test in meant(listed, candidates, {TITLES}, ids)] == titles
    unknown = read_lines(b"- url | takes/c\n- url | takes [c]\n")
    assert not any(test in {each.test for each in candidates} for test in meant(unknown, candidates, {TITLES}, ids))


def test_titles_that_differ_only_in_their_spaces_have_no_result_of_one_another():
    assert results(["url | a  b", "url | c"], ["url > a b", "url > a  b", "url > c"]) == [None, "url > c"]


TABLE = ["url > takes it (%s)", "url > adds %i to $name.first (%p)", "of %s > holds %d%% of `x`", "url > refuses it"]


@pytest.mark.parametrize(
    ("printed", "title"),
    [
        ("url | takes it (http)", TABLE[0]),
        ("url | takes it (a | b)", None),
        ("url | takes it", TABLE[0]),
        ("url | adds 1 to Anne (3)", TABLE[1]),
        ("of maps | holds 100% of `x`", TABLE[2]),
        ("url | takes them (http)", None),
        ("url | adds 1 to", None),
    ],
)
def test_cases_of_a_table_are_of_their_template_in_manifests_and_in_logs(printed, title):
    assert listed_as(printed, TABLE) == title
    assert results([printed], TABLE) == [title]


def test_a_value_with_a_separator_in_it_is_of_its_template_and_a_title_with_one_comes_first():
    titles = ["url > takes %s", "url > takes a > b"]
    assert results(["url | takes c > d", "url | takes a > b"], titles) == titles


def test_a_title_that_is_written_out_comes_before_a_template_that_could_print_it():
    titles = ["url > takes it (%s)", "url > takes it (ftp)"]
    assert results(["url | takes it (ftp)", "url | takes it (http)"], titles) == [titles[1], titles[0]]
    assert listed_as("url | takes it (ftp)", titles) == titles[1]


def test_names_and_paragraphs_of_any_length_are_compared_in_linear_time():
    began = time.process_time()
    text = b"= A\n\n" + b"a" * 200_000 + b"\n" * 1000 + b" \n" * 1000
    found = {text: reported_tests(text, ["A"]), text + b"\x00= B\n": reported_tests(text + b"= B\n", ["A", "B"])}
    unheaded(found, FileChange("x.tests", text, text + b"\x00= B\n"))
    assert listed_as("(" * 1000 + ")" * 500, ["(" * 900 + ")"]) is None
    assert time.process_time() - began < 5


@pytest.mark.parametrize("key", ["tests:", "Tests:", "test:"])
@pytest.mark.parametrize("file", ["file:", "File:"])
def test_our_rules_read_the_keys_of_a_manifest_as_the_published_ones_do(file, key):
    text = f'- {file} a.py\n  {key}\n    - tests:foo\n    - it returns "x"\n- {key}\n- "quoted"\n'
    names = ["tests:foo", 'it returns "x"', "quoted"]
    assert [(item.file, item.name) for item in read_lines(text.encode())] == [("a.py", name) for name in names]
    assert listed_names(text) == names


@pytest.mark.parametrize("name", ["my tests/test_a.py::TestA::test_one", "TestA::test_one", "test_one"])
def test_a_path_with_a_space_has_parts_and_prose_has_none(name):
    file = "src/my tests/test_a.py"
    assert means(name, TestId(file, "TestA.test_one"))
    candidates = [Candidate(TestId(file, "TestA.test_one"), True)]
    assert list(meant(read_lines(f"- {name}\n".encode()), candidates, {file}, LANGUAGE.ids)) == [candidates[0].test]
    for prose in ("Weird address (1::1)", "RFC 4291: address (v1.2::3)"):
        assert means(prose, TestId("test/x.uts", prose))
        assert not means(prose, TestId("test/x.uts", prose.rpartition("::")[2]))
