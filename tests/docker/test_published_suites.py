"""Published tasks of many kinds: campaigns, jest by folder, Go subtests, a database, C under Python."""

import os
from pathlib import Path

import pytest

from tests.support.few_arms import few_arms
from tests.support.published import image_map, is_as_expected, judged, outcome, submissions

# The time limit is of the judging alone: a fixture builds the image where it is not there.
pytestmark = [pytest.mark.docker, pytest.mark.timeout(func_only=True), pytest.mark.long]
SCAPY, JEST, GO = "scapy-tsig-time", "wordpress-url-for-display", "restic-table-output"
NAMES, CALYPSO, ADDRESSES = "scapy-type-bitmaps", "calypso-key-by", "scapy-mac-addresses"
DATABASE, EXTENSION, KITTY = "pq-transactions", "lru-dict-eviction", "kitty-cell-widths"
EXPECTED = {
    SCAPY: {
        "oracle": outcome("resolved", published="resolved"),
        "honest": outcome("resolved", published="resolved"),
        # As upstream writes them: a test's last expression is its check.
        "honest-bare-expressions": outcome("resolved", published="resolved"),
        # One of seven builds a record whose bytes are the same without the code.
        "weak": outcome("failed", "survived-removal", published="failed"),
        # No grammar reads a campaign, so that it checks nothing shows where it passes without the code.
        "only-prints": outcome("failed", "survived-removal", published="failed"),
        # The published rules have one variant of the source, and the first of two lines with one name.
        "looks-at-the-source": outcome("failed", "placebo-sensitive", published="resolved"),
        "forges-lines": outcome("invalid", "forged-report", published="resolved"),
    },
    NAMES: {
        # Behind the last test of a set, and behind a blank line of a test; the parser takes the summary for a test.
        "oracle": outcome("resolved", published="resolved"),
        # `typebitmaps()` for `Field().typebitmaps()`: the published rules ignore a name that no result has.
        "lists-a-part": outcome("failed", "manifest-unknown-test", "manifest-unlisted-test", published="resolved"),
        "lists-a-comment": outcome("failed", "manifest-unknown-test", published="resolved"),
    },
    JEST: {
        "oracle": outcome("resolved", published="resolved"),
        # One of its tests has cases, whose names only a log has.
        "honest": outcome("resolved", published="resolved"),
        # Listed as a log prints them: cases of tables, and blocks without the parentheses at their ends.
        "honest-names-of-a-log": outcome("resolved", published="resolved"),
        # In upstream's file, four tests of which fail with this Node.js, by bare names, below a shortened path.
        "honest-beside-red-tests": outcome("resolved", published="resolved"),
        # jest -u writes a snapshot anew: one test has nothing else, and a second one has a check beside it.
        "weak-snapshots": outcome("failed", "survived-removal", published="failed"),
        "only-logs": outcome("failed", "asserts-nothing", published="failed"),
        # Parts of lines, which stand in every text, or in none where the spaces are others.
        "looks-at-the-source": outcome("failed", "placebo-sensitive", "survived-removal", published="resolved"),
        "forges-lines": outcome("invalid", "forged-report", published="resolved"),
    },
    ADDRESSES: {
        # The manifest of a published task, six names of which stand there twice, and upstream's eighteen tests of
        # these twelve names, in a campaign of 1,226.
        "oracle": outcome("resolved", published="resolved"),
        # Parentheses and `::` in names, blank lines in tests, a set of its own and a heading at the end. The
        # published rules find `(02:00:5e::1)` by its last part, `1)`, in four of upstream's names, which still pass.
        "honest": outcome("resolved", published="failed"),
    },
    CALYPSO: {
        # The manifest of a published task and, in a release of the package, upstream's file that it lists.
        "oracle": outcome("resolved", published="resolved"),
        # Cases of a table by their template, a block with parentheses, a title with two spaces, and one with ` > `.
        "honest": outcome("resolved", published="resolved"),
        # An object without any key is an object, too.
        "weak": outcome("failed", "survived-removal", published="failed"),
        # Lines that a placebo has in another layout.
        "looks-at-the-source": outcome("failed", "placebo-sensitive", published="resolved"),
    },
    GO: {
        "oracle": outcome("resolved", published="resolved"),
        "honest": outcome("resolved", published="resolved"),
        # Listed as written; a log has underscores for spaces. The published rules find the one without a space.
        "honest-subtests-by-name": outcome("resolved", published="resolved"),
        # One of the tests is about code that the removal leaves.
        "weak": outcome("failed", "survived-removal", published="failed"),
        "only-logs": outcome("failed", "asserts-nothing", published="failed"),
        # Without the code the file is shorter; with other statements it is longer, which this one minds.
        "counts-bytes": outcome("failed", "placebo-sensitive", published="resolved"),
        "forges-lines": outcome("invalid", "forged-report", published="resolved"),
    },
    DATABASE: {
        "oracle": outcome("resolved", published="resolved"),
        # pytest functions with fixtures. The published rules ignore `test_length`, for the log has `test_length[0]`.
        "honest": outcome("resolved", published="resolved"),
        # One of three never uses what is removed, so it passes without it: survived by both.
        "weak": outcome("failed", "survived-removal", published="failed"),
        # A function that only prints, with the name of an assertion: no test checks anything. The exception of the
        # removal fails the tests all the same, which is all that the published rules ask for.
        "prints-instead": outcome("failed", "asserts-nothing", published="resolved"),
        # Lines and letters of the source: changed by the removal, but by a placebo as well.
        "counts-lines": outcome("failed", "placebo-sensitive", published="resolved"),
        # After the removal the log has a true PASSED and a printed FAILED of each test; their parser takes the last.
        "prints-result-lines": outcome("invalid", "forged-report", published="resolved"),
    },
    EXTENSION: {
        "oracle": outcome("resolved", published="resolved"),
        # Another file, a class and functions with cases; a docstring on one of its methods.
        "honest": outcome("resolved", published="resolved"),
        # A full cache evicts without a callback as well, which the removal leaves: survived by both.
        "weak": outcome("failed", "survived-removal", published="failed"),
        # A method with the name of an assertion that prints. The exception that the removal raises is all that fails.
        "asserts-by-printing": outcome("failed", "asserts-nothing", published="resolved"),
        # Size and lines of the C file: a placebo has others.
        "measures-the-source": outcome("failed", "placebo-sensitive", published="resolved"),
    },
    KITTY: {
        "oracle": outcome("resolved", published="resolved"),
        # A method with subtests does the comparing; some tests have a docstring, which the log has before the result.
        "honest": outcome("resolved", published="resolved"),
        # Wide characters are as wide after the removal: survived by both.
        "weak": outcome("failed", "survived-removal", published="failed"),
        # The class has an `ae` of its own, which prints. Nothing raises after the removal, so nothing fails either.
        "prints-instead": outcome("failed", "asserts-nothing", published="failed"),
        # The object file is no newer than a library of the build before: a placebo is compiled as well.
        "looks-at-the-build": outcome("failed", "baseline-red", "placebo-sensitive", published="resolved"),
    },
}
"""By task and submission: our verdict, its reasons, and that of the published rules."""

SAMPLE = {
    SCAPY: ("honest-bare-expressions", "forges-lines"),
    NAMES: ("oracle", "lists-a-part"),
    JEST: ("honest-beside-red-tests", "weak-snapshots"),
    CALYPSO: ("honest",),
    GO: ("honest-subtests-by-name",),
    DATABASE: ("oracle", "prints-instead"),
    EXTENSION: ("honest",),
    KITTY: ("honest", "looks-at-the-build"),
}
"""One honest suite of each task at least, and each reason once; but for a campaign of 1,226 tests, which takes five
minutes. TESTWRIGHT_PUBLISHED=all judges all of them."""


def test_the_sample_has_honest_work_of_each_task_and_each_reason():
    drawn = {task: {name: EXPECTED[task][name] for name in names} for task, names in SAMPLE.items()}
    assert drawn.keys() == EXPECTED.keys() - {ADDRESSES}
    assert all(any(ours == "resolved" for ours, *_ in each.values()) for each in drawn.values())

    def reasons(each):
        return {code for expected in each.values() for _, codes, _ in expected.values() for code in codes}

    assert reasons(drawn) == reasons(EXPECTED)


@pytest.fixture
async def images(tmp_path: Path, task: str) -> Path:
    return await image_map(tmp_path, task)


ALL = os.environ.get("TESTWRIGHT_PUBLISHED") == "all"
CHOSEN = EXPECTED if ALL else SAMPLE


@pytest.mark.parametrize(("task", "name"), [(task, name) for task, names in CHOSEN.items() for name in names])
async def test_honest_work_of_any_style_is_resolved_and_every_other_refused_for_its_reason(
    tmp_path, images, task, name, monkeypatch
):
    verdict, codes, _ = EXPECTED[task][name]
    if verdict == "resolved":  # more arms of right code or without it would find what few find
        few_arms(monkeypatch, 1 if ALL else 0)  # test_swe_atlas_more.py has control rounds and own runs
    elif verdict == "failed" and "placebo-sensitive" not in codes and not ALL:  # nor do more tell its reason
        few_arms(monkeypatch, 0)
    found = await judged(tmp_path, task, images, name)
    assert is_as_expected(found, EXPECTED[task][name]), found


@pytest.mark.parametrize("task", EXPECTED)
def test_each_submission_has_an_expectation(task):
    assert {"oracle", *submissions(task)} == EXPECTED[task].keys()
