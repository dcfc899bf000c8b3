import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.testing.go_test import MAX_REPORT_BYTES, read_go_test
from harness.judging.testing.readers import Report, ReportError
from harness.specs.test_results import Outcome, Quality, TestId, combine

REPORTS = Path(__file__).parents[1] / "fixtures" / "reports" / "go"
NAMES = sorted(path.stem for path in REPORTS.glob("*.jsonl"))
FILE = "internal/sample/sample_test.go"


def data_of(name: str) -> bytes:
    return (REPORTS / f"{name}.jsonl").read_bytes()


def read(name: str) -> Report:
    return read_go_test(data_of(name), FILE)


def ends(report: Report) -> dict[str, tuple[Outcome, Quality | None]]:
    tests = {case.test for case in report.cases}
    results = [combine(test, [case for case in report.cases if case.test == test]) for test in tests]
    return {result.test.name: (result.outcome, result.quality) for result in results}


def events_of(*ended: tuple[str, str]) -> bytes:
    package = {"Package": "internal/sample"}
    names = [{"Action": "run", "Test": name} for name, _ in ended]
    ends_of = [{"Action": end, "Test": name} for name, end in ended]
    events = [*names, *ends_of, {"Action": "pass"}]
    return b"".join(json.dumps(event | package).encode() + b"\n" for event in events)


@pytest.mark.parametrize(
    ("ended", "outcome", "skipped"),
    [
        ([("TestA/one", "skip"), ("TestA/two", "pass"), ("TestA", "pass")], Outcome.PASSED, 1),
        ([("TestA/one", "skip"), ("TestA/two", "skip"), ("TestA", "pass")], Outcome.PASSED, 2),
        ([("TestA/group/one", "skip"), ("TestA/group", "pass"), ("TestA", "pass")], Outcome.PASSED, 1),
        ([("TestA/1/2", "skip"), ("TestA/1x", "pass"), ("TestA", "pass"), ("TestAB", "pass")], Outcome.PASSED, 1),
        ([("TestA", "skip")], Outcome.SKIPPED, 1),
        ([("TestA", "pass")], Outcome.PASSED, 0),
    ],
)
def test_a_test_passes_whatever_subtests_are_skipped(ended, outcome, skipped):
    """It may check in its own body as well."""
    report = read_go_test(events_of(*ended), FILE)
    test = TestId(FILE, "TestA")
    found = combine(test, [case for case in report.cases if case.test == test])
    assert (found.outcome, found.skipped) == (outcome, skipped)


@pytest.mark.parametrize(
    ("test", "outcome", "quality"),
    [
        ("TestFails", Outcome.FAILED, Quality.ASSERTION),
        ("TestFailsInAHelper", Outcome.FAILED, Quality.ASSERTION),
        ("TestSkips", Outcome.SKIPPED, None),
        ("TestTable", Outcome.FAILED, Quality.ASSERTION),
        ("TestTablePasses", Outcome.PASSED, None),
        ("TestTableSkips", Outcome.PASSED, None),
        ("TestParallelA", Outcome.PASSED, None),
        ("TestParallelB", Outcome.PASSED, None),
        ("TestGlued", Outcome.PASSED, None),
        ("TestGluedFails", Outcome.FAILED, Quality.ASSERTION),
        ("TestSubGluedFails", Outcome.FAILED, Quality.ASSERTION),
        ("FuzzSeeds", Outcome.PASSED, None),
        ("ExamplePrints", Outcome.PASSED, None),
    ],
)
def test_every_end_of_a_test_is_told_apart(test, outcome, quality):
    assert ends(read("outcomes"))[test] == (outcome, quality)


@pytest.mark.parametrize(
    ("report", "test", "quality"),
    [
        ("panic", "TestPanics", Quality.RAISED),
        ("panic-in-subtest", "TestPanicsInSubtest", Quality.RAISED),
        ("panic-elsewhere", "TestPanicsElsewhere", Quality.CRASH),
        ("exit-zero", "TestExitsZero", Quality.RAISED),
        ("exit-one", "TestExitsOne", Quality.CRASH),
        ("killed", "TestKilled", Quality.CRASH),
        ("timeout", "TestHangs", Quality.TIMEOUT),
        ("timeout-parallel", "TestHangsParallel", Quality.TIMEOUT),
    ],
)
def test_a_process_that_breaks_down_is_the_failure_of_the_test_that_ran(report, test, quality):
    found = ends(read(report))
    assert found.pop(test) == (Outcome.FAILED, quality)
    assert set(found.values()) == {(Outcome.PASSED, None)}


def test_of_two_unfinished_tests_none_is_blamed_for_a_breakdown():
    events = [
        {"Action": "run", "Package": "internal/sample", "Test": "TestA"},
        {"Action": "pause", "Package": "internal/sample", "Test": "TestA"},
        {"Action": "run", "Package": "internal/sample", "Test": "TestB"},
        {"Action": "output", "Package": "internal/sample", "Test": "TestB", "Output": "panic: somewhere\n"},
        {"Action": "fail", "Package": "internal/sample", "Test": "TestB"},
        {"Action": "fail", "Package": "internal/sample"},
    ]
    assert read_go_test(lines(events), FILE) == Report((), collection_failed=False)


def test_half_a_surrogate_pair_in_an_event_fits_into_a_file():
    package = {"Package": "internal/sample"}
    events = [
        {"Action": "run", "Test": "TestA/\ud800"},
        {"Action": "output", "Test": "TestA/\ud800", "Output": "--- FAIL: TestA/\ufffd (0.00s) \udc00\n"},
        {"Action": "fail", "Test": "TestA/\ud800"},
        {"Action": "fail"},
    ]
    [case] = read_go_test(b"".join(json.dumps(event | package).encode() + b"\n" for event in events), FILE).cases
    assert (case.case, case.outcome) == ("\ufffd", Outcome.FAILED)
    assert case.model_dump_json()


def test_subtests_are_cases_of_their_test():
    cases = [case.case for case in read("outcomes").cases if case.test.name == "TestTable"]
    assert cases == ["", "one", "two_words", "a/b"]


def test_a_result_that_a_test_prints_itself_does_not_undo_a_failure():
    assert ends(read("outcomes"))["TestPasses"] == (Outcome.FAILED, Quality.ASSERTION)


@pytest.mark.parametrize(("report", "file"), [("build-failed", "internal/broken/b_test.go")])
def test_a_package_that_cannot_be_built_is_a_collection_failure(report, file):
    assert read_go_test(data_of(report), file) == Report((), collection_failed=True)


def test_a_package_that_ends_before_its_first_test_is_a_collection_failure():
    assert read_go_test(data_of("main-fails"), "internal/mainfails/b_test.go") == Report((), collection_failed=True)


def test_results_of_another_package_are_left_out():
    assert read_go_test(data_of("outcomes"), "internal/other/sample_test.go") == Report((), collection_failed=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_that_is_cut_off_anywhere_is_none(name):
    whole = data_of(name)
    for end in range(max(0, len(whole) - 500), len(whole)):
        with pytest.raises(ReportError):
            read_go_test(whole[:end], FILE)


@given(st.sampled_from(NAMES), st.data())
def test_cutting_a_report_never_adds_a_pass(name, data):
    whole = data_of(name)
    end = data.draw(st.integers(0, len(whole)))
    try:
        cut = ends(read_go_test(whole[:end], FILE))
    except ReportError:
        return
    assert passes(cut) <= passes(ends(read(name)))


@given(st.sampled_from(NAMES), st.data())
def test_lines_that_are_lost_never_turn_a_missing_end_into_a_pass(name, data):
    events = data_of(name).splitlines(keepends=True)
    lost = data.draw(st.sets(st.integers(0, len(events) - 1), max_size=5))
    try:
        left = ends(read_go_test(b"".join(line for at, line in enumerate(events) if at not in lost), FILE))
    except ReportError:
        return
    assert all(f"--- PASS: {test} (".encode() in data_of(name) for test in passes(left))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PASS\n",
        b"[]\n",
        b'{"Action":"pass"}\0\n',
        b'\xff\xfe{"Action":"pass"}\n',
        b'{"Action":"pass","Package":1}\n',
        b'{"Action":"win","Package":"x"}\n',
        b'{"Action":"pass","Package":"x","Elapsed":NaN}\n',
        b'{"Action":"pass","Package":"x","Elapsed":-1}\n',
        b'{"Action":"pass","Package":"x","Elapsed":"1"}\n',
        b'{"Action":"pass","Package":"x"}',
        b'{"Action":"pass","Package":"x","Elapsed":1' + b"0" * 400 + b"}\n",
        b"[" * 100_000 + b"\n",
        b'{"Action":' * 100_000 + b"\n",
        b" " * (MAX_REPORT_BYTES + 1),
    ],
    ids=range(15),
)
def test_what_is_no_report_is_refused(data):
    with pytest.raises(ReportError):
        read_go_test(data, FILE)


def passes(found: dict[str, tuple[Outcome, Quality | None]]) -> set[str]:
    return {name for name, (outcome, _) in found.items() if outcome is Outcome.PASSED}


def lines(events: list[dict[str, str]]) -> bytes:
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def test_a_report_without_times_has_those_that_the_test_itself_prints():
    events = [
        {"Action": "run", "Package": "internal/sample", "Test": "TestWaits"},
        {
            "Action": "output",
            "Package": "internal/sample",
            "Test": "TestWaits",
            "Output": "--- FAIL: TestOther (9.00s)\n",
        },
        {
            "Action": "output",
            "Package": "internal/sample",
            "Test": "TestWaits",
            "Output": "--- PASS: TestWaits (12.02s)\n",
        },
        {"Action": "pass", "Package": "internal/sample", "Test": "TestWaits"},
        {"Action": "pass", "Package": "internal/sample"},
    ]
    told = "".join(json.dumps(event) + "\n" for event in events)
    timed = told.replace(
        '"Test": "TestWaits"}\n{"Action": "pass", "P', '"Test": "TestWaits", "Elapsed": 12.5}\n{"Action": "pass", "P'
    )
    assert [case.seconds for case in read_go_test(told.encode(), FILE).cases] == [12.02]
    assert timed != told
    assert [case.seconds for case in read_go_test(timed.encode(), FILE).cases] == [12.5]


@pytest.mark.parametrize(("printed", "seconds"), [("1.25", 1.25), ("9" * 400 + ".00", 0.0), ("0." + "9" * 400, 0.0)])
def test_seconds_that_a_test_prints_count_only_as_long_as_go_writes_them(printed, seconds):
    line = {"Action": "output", "Test": "TestA", "Output": f"--- PASS: TestA ({printed}s)\n"}
    begun, ended, whole = events_of(("TestA", "pass")).splitlines(keepends=True)
    said = json.dumps(line | {"Package": "internal/sample"}).encode() + b"\n"
    for events in (begun + said + ended + whole, begun + said + whole):
        [case] = read_go_test(events, FILE).cases or [None]
        assert case is None or case.seconds == seconds
