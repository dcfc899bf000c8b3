import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.languages.found import Start
from harness.judging.languages.title_templates import Template
from harness.judging.languages.typescript.discovery import discover
from harness.judging.testing.arm_job import TestRun, collected, read_job
from harness.judging.testing.readers import Report, ReportError, claimed, reader_of
from harness.judging.testing.vitest import MAX_REPORT_BYTES, read_vitest
from harness.sandbox.protocol import JobResult
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId, combine
from harness.specs.variants import ArmStatus

REPORTS = Path(__file__).parents[1] / "fixtures" / "reports" / "typescript"
KINDS = (REPORTS / "kinds.json").read_bytes()
EMPTY_DESCRIBE = (REPORTS / "empty-describe.json").read_bytes()
FILE = "src/tests/kinds.test.ts"


def ids(*names: str) -> list[TestId]:
    return [TestId(FILE, name) for name in names]


def one(result: dict[str, object]) -> bytes:
    """A report of one result, in jest's shape: no place, colours."""
    whole = {"ancestorTitles": ["describe"], "title": "it", "status": "passed", "failureMessages": []}
    entry = {"name": f"/app/{FILE}", "status": "passed", "assertionResults": [{**whole, **result}]}
    return json.dumps({"testResults": [entry]}).encode()


def results(report: Report) -> dict[str, tuple[Outcome, Quality | None]]:
    return {case.test.name: (case.outcome, case.quality) for case in report.cases}


def test_each_test_is_registered_on_a_line_whether_it_ran_or_not() -> None:
    data = json.loads(one({"status": "skipped", "location": {"line": 8, "column": 4}}))
    report = read_vitest(json.dumps(data).encode(), FILE)
    assert report.registered == {Start(TestId(FILE, "describe > it"), FILE, 8)}
    assert read_vitest(one({}), FILE).registered == {Start(TestId(FILE, "describe > it"), FILE, 0)}
    assert read_vitest(one({"status": "pending"}), FILE).registered == set()


async def test_a_runner_that_tells_no_test_that_it_leaves_out_has_no_word() -> None:
    """As jest, which calls each of them pending: its report alone can't be told from that of a file without tests."""
    run = TestRun((TestId(FILE, "none of this name"),), {}, frozenset(), (), (), 10)

    def ended(status: str) -> JobResult:
        report = one({"status": status})
        return JobResult(4, False, False, b"", {"1.json": report}, True, 1.0)

    assert await collected("vitest", run, ended("pending")) == {}
    both = json.loads(one({"status": "todo"}))
    both["testResults"] += json.loads(one({"status": "pending"}))["testResults"]
    assert not read_vitest(json.dumps(both).encode(), FILE).registered
    assert list(await collected("vitest", run, ended("skipped"))) == [FILE]


def test_half_a_surrogate_pair_in_a_title_or_a_message_fits_into_a_file():
    data = one({"title": "half \ud800, \U0001f600", "status": "failed", "failureMessages": ["Error: \udc00"]})
    assert b"\\ud800" in data
    [case] = read_vitest(data, FILE).cases
    assert case.test.name == "describe > half \ufffd, \U0001f600"
    assert combine(case.test, [case]).model_dump_json().endswith('"message":"Error: \ufffd","elsewhere":false}')


@pytest.mark.parametrize(
    ("name", "outcome", "quality"),
    [
        ("passes", Outcome.PASSED, None),
        ("fails by assertion", Outcome.FAILED, Quality.ASSERTION),
        ("node assertion", Outcome.FAILED, Quality.ASSERTION),
        ("soft", Outcome.FAILED, Quality.ASSERTION),
        ("retries", Outcome.FAILED, Quality.ASSERTION),
        ("unexpected pass", Outcome.FAILED, Quality.ASSERTION),
        ("raises", Outcome.FAILED, Quality.RAISED),
        ("throws a string", Outcome.FAILED, Quality.RAISED),
        ("exits", Outcome.FAILED, Quality.RAISED),
        ("times out", Outcome.FAILED, Quality.TIMEOUT),
        ("before all fails > never ran", Outcome.FAILED, Quality.SETUP),
        ("before all fails > deep > never ran either", Outcome.FAILED, Quality.SETUP),
        ("before each asserts > never ran", Outcome.FAILED, Quality.SETUP),
        ("after each fails > ran", Outcome.FAILED, Quality.TEARDOWN),
        ("after all fails > ran", Outcome.FAILED, Quality.TEARDOWN),
        ("skipped", Outcome.SKIPPED, None),
        ("todo", Outcome.SKIPPED, None),
        ("skips itself", Outcome.SKIPPED, None),
        ("expected failure", Outcome.SKIPPED, None),
        ("outer > odd > inner > is here", Outcome.PASSED, None),
    ],
)
def test_every_end_of_a_real_test_is_told_apart(name, outcome, quality):
    assert results(read_vitest(KINDS, FILE))[name] == (outcome, quality)


def test_cases_of_a_table_and_of_a_loop_belong_to_the_test_as_it_is_written():
    tests = ids("adds %i + %i", "with $n > works", "outer > odd > loop ${x}")
    report = claimed(read_vitest(KINDS, FILE), tests)
    folded = [combine(test, [case for case in report.cases if case.test == test]) for test in tests]
    assert [(result.outcome, result.cases) for result in folded] == [
        (Outcome.FAILED, 2),
        (Outcome.FAILED, 2),
        (Outcome.PASSED, 2),
    ]
    assert [case.case for case in report.cases if case.test == tests[0]] == ["17:33 adds 1 + 1", "17:33 adds 1 + 2"]


def test_every_test_that_discovery_finds_has_its_cases_in_the_report():
    found = discover((REPORTS / "kinds.test.ts").read_bytes(), FILE)
    tests = ids(*(test.name for test in found.tests if test.name not in found.twice))
    report = claimed(read_vitest(KINDS, FILE), tests)
    others = {case.test.name for case in report.cases if case.test not in tests}
    assert {case.test for case in report.cases} >= set(tests)
    assert others == {"same > twin (28:26)", "same > twin (28:48)", "todo"}


def test_a_test_whose_cases_come_of_two_places_has_none():
    report = claimed(read_vitest(KINDS, FILE), ids("same > twin", "%s", "passes"))
    assert {case.test.name for case in report.cases} >= {"passes", "same > twin (28:26)", "same > twin (28:48)"}
    assert not {"same > twin", "%s"} & {case.test.name for case in report.cases}
    assert len(report.cases) == len(read_vitest(KINDS, FILE).cases)


def test_a_case_goes_to_the_template_with_the_most_literal_text():
    report = claimed(read_vitest(KINDS, FILE), ids("%s %i + %i", "adds %i + %i"))
    assert {case.test.name for case in report.cases if "adds" in case.case} == {"adds %i + %i"}


LISTED = ids("b > $type and $id", "b > $name", "takes %s", "takes yes", "%s and %s", "%s")
MADE = [
    ("b > $name", "9:3", ["b > words", "b > yes and no"]),
    ("b > $type and $id", "12:3", ["b > $type and $id"]),
    ("takes %s", "15:1", ["takes yes", "takes no"]),
    ("takes yes", "16:1", ["takes yes"]),
    ("%s and %s", "20:1", ["a and b", "c and d"]),
    ("%s", "21:1", ["a and b", "c"]),
]


@pytest.mark.parametrize("last_first", [False, True])
def test_a_name_that_two_tests_can_have_made_is_that_of_the_test_that_can_have_made_all_of_its_place(last_first):
    cases = [
        CaseResult(test=TestId(FILE, name), case=place, outcome=Outcome.PASSED)
        for _, place, names in MADE
        for name in names
    ]
    report = claimed(Report(tuple(reversed(cases) if last_first else cases), False, False), LISTED)
    found = {(case.test.name, case.case.partition(" ")[0]) for case in report.cases}
    assert found == {(name, place) for name, place, _ in MADE}


def test_where_no_test_can_have_made_all_of_a_place_a_name_of_two_places_has_none():
    places = {"15:1": ["takes yes", "gives no"], "16:1": ["takes yes"]}
    cases = [
        CaseResult(test=TestId(FILE, name), case=place, outcome=Outcome.PASSED)
        for place, names in places.items()
        for name in names
    ]
    report = claimed(Report(tuple(cases), False, False), ids("takes yes"))
    assert {case.test.name for case in report.cases} == {"takes yes (15:1)", "takes yes (16:1)", "gives no"}


@pytest.mark.parametrize(
    ("name", "template"),
    [
        ("adds 1 + 2", "adds %i + %i"),
        ("100% of a", "100%% of $name"),
        ("of {x}", "of ${`{${y}}`}"),
        ("a > b > c", "${x} > c"),
        ("", "%s"),
        ("case $1", "case $1"),
    ],
)
def test_a_name_follows_its_template(name, template):
    assert Template(template).makes(name)


@pytest.mark.parametrize(("name", "template"), [("adds 1", "adds %i + %i"), ("ab", "ab%sb"), ("x", "y")])
def test_another_name_does_not(name, template):
    assert not Template(template).makes(name)


@given(st.lists(st.text(st.characters(exclude_characters="$%"), max_size=4), min_size=1, max_size=6), st.data())
def test_whatever_is_put_into_a_template_follows_it(pieces, data):
    values = [data.draw(st.text(max_size=4)) for _ in pieces[1:]] + [""]
    name = "".join(piece + value for piece, value in zip(pieces, values, strict=True))
    template = "%s".join(pieces)
    assert Template(template).makes(name)
    assert Template(template).pieces == tuple(pieces)


@pytest.mark.parametrize("report", ["absent", "syntax", "top", "none"])
def test_a_file_that_cannot_be_loaded_is_a_collection_failure(report):
    read = read_vitest((REPORTS / f"{report}.json").read_bytes(), f"src/tests/{report}.test.ts")
    assert read == Report((), collection_failed=True, file_failed=True)


@pytest.mark.parametrize(
    ("file_status", "exit_status", "status"),
    [
        ("failed", 1, ArmStatus.FINISHED),
        ("failed", 0, ArmStatus.DISAGREES),
        ("passed", 1, ArmStatus.DISAGREES),
        ("passed", 0, ArmStatus.FINISHED),
    ],
)
async def test_a_describe_without_a_test_explains_the_exit_status_and_costs_no_other_test(
    file_status: str, exit_status: int, status: ArmStatus
) -> None:
    data = EMPTY_DESCRIBE.replace(b'"status":"failed"', f'"status":"{file_status}"'.encode())
    tests = (TestId("src/tests/empty.test.ts", "something > adds"),)
    run = TestRun(tests, {}, frozenset(), (), (), 10)
    reading = await read_job(
        "vitest", run, (), JobResult(exit_status, False, False, b"", {"1.json": data}, True, 1.0)
    )
    assert reading.status is status
    assert [result.outcome for result in reading.results] == [Outcome.PASSED]


@pytest.mark.parametrize(
    ("status", "messages", "quality"),
    [
        ("failed", ["Error: \x1b[2mexpect(\x1b[22mreceived).toBe()"], Quality.ASSERTION),
        ("failed", ["Error: Snapshot `it 1` mismatched"], Quality.ASSERTION),
        ("failed", ['Error: thrown: "Exceeded timeout of 50 ms'], Quality.TIMEOUT),
        ("failed", ["Error: no", "AssertionError: no"], Quality.ASSERTION),
        ("failed", [], Quality.RAISED),
    ],
)
def test_messages_of_both_runners_are_understood(status, messages, quality):
    report = read_vitest(one({"status": status, "failureMessages": messages}), FILE)
    assert results(report) == {"describe > it": (Outcome.FAILED, quality)}


def test_every_end_of_a_real_test_of_jest_is_told_apart():
    read = results(read_vitest((REPORTS / "jest.json").read_bytes(), "src/tests/kinds.test.js"))
    assert read.pop("times out") == (Outcome.FAILED, Quality.TIMEOUT)
    assert read.pop("raises") == (Outcome.FAILED, Quality.RAISED)
    assert read.pop("todo") == (Outcome.SKIPPED, None)
    assert "skipped" not in read
    passed = {name for name, result in read.items() if result == (Outcome.PASSED, None)}
    assert passed == {"passes", "adds 1 + 1", "outer > inner > is here"}
    failed = {name for name, result in read.items() if result == (Outcome.FAILED, Quality.ASSERTION)}
    assert failed == {"fails by assertion", "node assertion", "unexpected pass", "adds 1 + 2", "snapshot"}


def test_a_test_that_did_not_come_to_its_end_has_no_result():
    assert read_vitest(one({"status": "pending"}), FILE).cases == ()


def test_a_report_of_other_files_is_none_of_this_one():
    with pytest.raises(ReportError, match="nothing of this file"):
        read_vitest(KINDS, "src/tests/other.test.ts")
    with pytest.raises(ReportError):
        read_vitest(KINDS, "kinds.test.tsx")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b'{"testResults": 3}',
        b'{"testResults": [{}]}',
        b'{"testResults": [null]}',
        one({"status": "excellent"}),
        one({"status": ["passed"]}),
        one({"title": None}),
        one({"duration": "soon"}),
        one({"location": {"line": "x", "column": 1}}),
        one({}).replace(b'"it"', b'"\0"'),
        one({}).decode().encode("utf-16"),
        one({}).replace(b"it", b"\xff"),
        b'{"testResults": ' + b"[" * 100_000,
        b'{"testResults": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b" " * MAX_REPORT_BYTES + one({}),
        one({"duration": float("inf")}),
        one({"duration": 10**400}),
        one({"location": {"line": float("inf"), "column": 1}}),
        one({"duration": float("nan")}),
    ],
)
def test_what_is_no_report_is_refused(data):
    with pytest.raises(ReportError):
        read_vitest(data, FILE)


@given(st.integers(0, len(KINDS) - 1))
def test_a_report_that_is_cut_off_anywhere_is_none(end):
    with pytest.raises(ReportError):
        read_vitest(KINDS[:end], FILE)


@given(st.integers(0, len(KINDS)), st.integers(0, 200), st.binary(max_size=8))
def test_no_damage_to_a_report_turns_what_did_not_pass_into_a_pass(start, length, put):
    passed = {name for name, result in results(read_vitest(KINDS, FILE)).items() if result[0] is Outcome.PASSED}
    try:
        damaged = read_vitest(KINDS[:start] + put + KINDS[start + length :], FILE)
    except ReportError:
        return
    failed = {case.test.name for case in read_vitest(KINDS, FILE).cases} - passed
    now = {name for name, result in results(damaged).items() if result[0] is Outcome.PASSED}
    assert not now & failed


def test_the_format_has_a_reader_for_names_that_were_computed():
    reader = reader_of("vitest")
    assert (reader.suffix, reader.read, reader.name_cases) == ("json", read_vitest, claimed)
