"""The published verifier's rules as described, ours for the same logs, and what is said where they differ."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.testing.readers import ReportError, reader_of
from harness.judging.verify.verdict import VerdictRecord, decide
from harness.plugins.published.parsed_log import ParsedTest, attributed, means, parsed_tests, read_published
from harness.plugins.published.rule import is_test_path, judge_mutation, listed_names, log_records
from harness.results.parity import WHY_PUBLISHED_TAKES, disagreement
from harness.specs.grading import GradingRules
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.test_results import Outcome, Quality, TestId

FILE = "tests/test_sums.py"
GREEN = [ParsedTest("tests/test_sums.py::TestSums::test_adds", "PASSED")]


def log(*tests: tuple[str, str]) -> bytes:
    return json.dumps({"tests": [{"name": name, "status": status} for name, status in tests]}).encode()


def codes(names: list[str], before: list[ParsedTest], after: list[ParsedTest]) -> list[ReasonCode]:
    return [reason.code for reason in judge_mutation(names, before, after)]


@pytest.mark.parametrize(
    "path", ["test/a.c", "tests/data/x.json", "a/test/b.py", "a/unit_tests/b.py", "a_test.go", "x/a_test.py", "a.uts",
             "src/test_x.py", "src/a.test.ts", "src/a.spec.js"],
)  # fmt: skip
def test_what_the_published_verifier_takes_for_a_test_file(path):
    assert is_test_path(path)


@pytest.mark.parametrize("path", ["src/tester.py", "contest/a.py", "a.go", "latest/x.ts", "conftest.py"])
def test_what_it_does_not_take_for_one(path):
    assert not is_test_path(path)


def test_names_of_a_manifest_are_its_lines_with_a_dash_whatever_they_stand_under():
    inside = "- file: a.py\n  tests:\n    - \"A.b\"\n    - 'c'\n- d > e\n"
    assert listed_names(f"cat <<EOF\n<<TEST_MANIFEST>>\n{inside}<<TEST_MANIFEST>>\n- no\n") == ["A.b", "c", "d > e"]
    assert listed_names("- tests: x\nfile: y\n- z\n- z\n") == ["z"]


@pytest.mark.parametrize(
    ("listed", "parsed"),
    [
        ("TestSums.test_adds", "tests/test_sums.py::TestSums::test_adds"),
        ("test_adds", "tests/test_sums.py::TestSums::test_adds"),
        ("other/file.py::TestSums::TEST_ADDS", "tests/test_sums.py::TestSums::test_adds"),
        ("sums > adds", "x | sums | adds"),
        ("a > sums > adds", "sums | adds"),
        ("adds", "adds - two numbers"),
        ("adds  two", "ADDS TWO"),
    ],
)
def test_a_listed_name_finds_a_result_as_published(listed, parsed):
    before, after = [ParsedTest(parsed, "PASSED")], [ParsedTest(parsed, "FAILED")]
    assert codes([listed], before, after) == []


@pytest.mark.parametrize("status", ["PASSED", "SKIPPED", None])
def test_what_is_green_skipped_or_gone_after_the_removal_survives_it(status):
    after = [ParsedTest(GREEN[0].name, status)] if status else []
    assert codes(["test_adds"], GREEN, after) == [ReasonCode.SURVIVED_REMOVAL]


def test_the_record_says_what_the_two_runs_showed_of_each_listed_name():
    after = [ParsedTest(GREEN[0].name, "ERROR")]
    assert [row.arms for row in log_records(["test_adds", "test_unheard_of"], GREEN, after)] == [
        {"baseline": "passed", "removal": "error"}, {"baseline": "no result", "removal": "no result"},
    ]  # fmt: skip


def test_listed_tests_that_match_nothing_or_are_red_are_ignored_as_published():
    before = [*GREEN, ParsedTest("test_red", "FAILED")]
    after = [ParsedTest(GREEN[0].name, "ERROR"), ParsedTest("test_red", "PASSED")]
    assert codes(["test_adds", "test_red", "test_unheard_of"], before, after) == []
    assert codes(["test_red"], before, after) == [ReasonCode.BASELINE_MISSING]


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("tests/test_sums.py::TestSums::test_adds[1-2]", TestId(FILE, "TestSums.test_adds")),
        ("test_sums.py::TestSums::test_adds", TestId(FILE, "TestSums.test_adds")),
        ("test_adds (tests.test_sums.TestSums)", TestId(FILE, "TestSums.test_adds")),
        ("test_adds (tests.test_sums.TestSums.test_adds)\nAdds numbers.", TestId(FILE, "TestSums.test_adds")),
        ("TestSums.test_adds", TestId(FILE, "TestSums.test_adds")),
        ("TestAdds/two_numbers", TestId("sums/sums_test.go", "TestAdds")),
        ("test_sums", TestId("test/test_sums.c", "test_sums")),
        ("sums | adds", TestId("a.test.ts", "sums > adds")),
        ("outer > sums > adds 3", TestId("a.test.ts", "sums > adds %i")),
    ],
)
def test_a_parsed_name_means_a_test(name, test):
    assert means(name, test)


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("tests/test_other.py::TestSums::test_adds", TestId(FILE, "TestSums.test_adds")),
        ("tests/test_sums.py::TestOther::test_adds", TestId(FILE, "TestSums.test_adds")),
        ("TestAddsMore", TestId("sums/sums_test.go", "TestAdds")),
        ("sums | adds more", TestId("a.test.ts", "sums > adds")),
        ("", TestId(FILE, "test_adds")),
    ],
)
def test_a_parsed_name_of_another_file_class_or_test_means_something_else(name, test):
    assert not means(name, test)


def results(data: bytes, *tests: TestId) -> dict[str, list[tuple[Outcome, Quality | None]]]:
    report = attributed(read_published(data, tests[0].file), tests)
    return {test.name: [(case.outcome, case.quality) for case in report.cases if case.test == test] for test in tests}


def test_each_status_is_recorded_and_a_log_says_no_more_than_that_a_test_failed():
    names = ("test_a", "test_b", "test_c", "test_d")
    data = log(*zip(names, ("PASSED", "FAILED", "SKIPPED", "ERROR"), strict=True))
    assert results(data, *(TestId(FILE, name) for name in names)) == {
        "test_a": [(Outcome.PASSED, None)],
        "test_b": [(Outcome.FAILED, Quality.RAISED)],
        "test_c": [(Outcome.SKIPPED, None)],
        "test_d": [(Outcome.FAILED, Quality.RAISED)],
    }


def test_a_name_that_could_be_of_two_listed_tests_is_of_none():
    one, two = TestId(FILE, "TestA.test_x"), TestId(FILE, "TestB.test_x")
    assert results(log(("test_x", "PASSED")), one, two) == {"TestA.test_x": [], "TestB.test_x": []}
    assert results(log(("tests/test_sums.py::TestA::test_x", "PASSED")), one, two)["TestA.test_x"]


def test_a_log_that_has_a_test_both_ways_contradicts_itself():
    assert read_published(log(("test_a", "PASSED"), ("test_a", "FAILED")), FILE).contradiction
    assert not read_published(log(("test_a", "PASSED"), ("test_a", "ERROR")), FILE).contradiction, "a teardown"
    assert not read_published(log(("test_a[1]", "PASSED"), ("test_a[2]", "FAILED")), FILE).contradiction


@given(st.integers(min_value=0, max_value=len(log(("test_a", "PASSED"), ("test_b", "FAILED"))) - 1))
def test_a_parsers_output_that_is_cut_off_says_nothing(length):
    with pytest.raises(ReportError):
        reader_of("published").read(log(("test_a", "PASSED"), ("test_b", "FAILED"))[:length], FILE)


@pytest.mark.parametrize("data", [b"[]", b'{"tests": [{"name": "a"}]}', log(("a", "FINE")), b"\xff", b'{"tests": 1}'])
def test_what_no_parser_writes_is_refused(data):
    with pytest.raises(ReportError):
        parsed_tests(data)


def record(*found: ReasonCode, protocol: GradingRules = GradingRules.TESTWRIGHT) -> VerdictRecord:
    reasons = tuple(Reason(code=code, stage=Stage.MUTATION, subject="t", words="w") for code in found)
    return VerdictRecord(
        task="t", task_digest="0", image_digest="0", protocol_version=1, protocol=protocol, isolation="docker",
        verdict=decide(reasons), reasons=reasons,
    )  # fmt: skip


def published(*found: ReasonCode) -> VerdictRecord:
    return record(*found, protocol=GradingRules.PUBLISHED)


def test_verdicts_that_lead_to_the_same_are_no_disagreement():
    assert disagreement(record(), published()) is None
    assert disagreement(record(ReasonCode.FORGED_REPORT), published(ReasonCode.SURVIVED_REMOVAL)) is None
    assert disagreement(record(ReasonCode.JUDGE_UNAVAILABLE), published(ReasonCode.JUDGE_UNAVAILABLE)) is None


@pytest.mark.parametrize("code", ReasonCode)
def test_every_reason_of_ours_that_the_published_verifier_lacks_is_explained(code):
    found = disagreement(record(code), published())
    assert found is not None
    assert (found.ours, found.published) == (code.verdict, Verdict.RESOLVED)
    [why] = found.why
    assert code in why
    assert WHY_PUBLISHED_TAKES[code] in why


def test_what_the_published_verifier_refuses_and_we_take_is_explained_as_well():
    found = disagreement(record(), published(ReasonCode.SURVIVED_REMOVAL))
    assert found is not None
    assert "all of the same name" in found.why[0]
