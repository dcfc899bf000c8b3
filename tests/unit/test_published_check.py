"""What a check of published tasks finds in their files, and in the logs that a run of the reference leaves."""

import difflib
import json
import shutil
from pathlib import Path

import pytest

from harness.authoring.task_check.check import check_tasks
from harness.authoring.task_check.subject import Subject
from harness.judging.verify.verdict import TestRecord
from harness.plugins.published import layout
from harness.plugins.published.check.leaks import differences, leaks, statuses
from harness.plugins.published.check.oracle import ReferenceRun, defects
from harness.plugins.published.parsed_log import ParsedTest
from harness.specs.catalog import Catalog
from harness.specs.problem import Problem, Severity
from harness.specs.task_facts import Level, TaskCheck
from tests.support.command import Done, typed
from tests.support.patches import new_test_file

FIXTURES = Path(__file__).parents[1] / "fixtures" / "swe_atlas"
PYTHON, C, GO = "aiosmtpd-debugging-handler", "jansson-load-sources", "restic-pattern-lists"
LISTED = "    - TestCLI.test_debugging_no_args\n"
FILE = "tests/test_sums.py"


@pytest.fixture
def place(tmp_path) -> Path:
    """A copy of a task, to be broken."""
    return copy(PYTHON, tmp_path)


def copy(name: str, directory: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / name, directory / name))


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def checked(place: Path) -> TaskCheck:
    [done] = check_tasks(Catalog(), {f"swe-atlas:{place}": Level.QUICK}, 1, lambda *_: None, lambda _: None)
    return done


def found(place: Path) -> list[tuple[str, str, Severity]]:
    """Where below the task, what and how bad; without what every fixture has."""
    told = [(item.where.removeprefix(f"{place}/"), item.message, item.severity) for item in checked(place).problems]
    return [item for item in told if "verifier.env" not in item[1]]


@pytest.mark.parametrize(("name", "remarks"), [(PYTHON, 1), (C, 2), (GO, 1)])
def test_a_sound_task_has_nothing_but_remarks(name, remarks):
    done = checked(FIXTURES / name)
    assert done.passed
    assert done.task == f"swe-atlas-{name}"
    assert [item.severity for item in done.problems] == [Severity.WARNING] * remarks
    assert done.problems[0] == Problem(
        where=f"tests/fixtures/swe_atlas/{name}/task.toml",
        message="without effect here: verifier.env (JUDGE_MODEL), handed to no container",
        severity=Severity.WARNING,
    )


def test_what_is_read_and_does_not_count_is_a_warning_at_its_file(place):
    change(place / layout.DESCRIPTION, "allowed_hosts = []", 'allowed_hosts = ["far.example"]\nmood = "good"')
    [told] = [problem for problem in checked(place).problems if problem.where.endswith("task.toml")]
    assert told.severity is Severity.WARNING
    assert told.message == (
        "without effect here: unknown keys agent.mood; a network, which neither agents nor tests have; "
        "verifier.env (JUDGE_MODEL), handed to no container"
    )


def test_a_task_that_cannot_be_read_is_an_error_that_names_its_file(place):
    (place / layout.PARSER).unlink()
    [problem] = checked(place).problems
    assert problem.where == str(place / layout.PARSER)
    assert problem.message == "the published layout needs this file, and it isn't there"


def test_a_solution_without_a_manifest_is_an_error(place):
    change(place / layout.SOLUTION, "<<TEST_MANIFEST>>\nEOF", "EOF")
    [(where, words, severity)] = found(place)
    assert (where, severity) == (layout.SOLUTION, Severity.ERROR)
    assert words.startswith("no manifest between two <<TEST_MANIFEST>> lines, of which it has 1")


def test_a_manifest_that_our_rules_cannot_read_is_an_error(place):
    change(place / layout.SOLUTION, LISTED, "    - \u202eslower\n")
    [(where, words, severity)] = found(place)
    assert (where, severity) == (f"{layout.SOLUTION}:11", Severity.ERROR)
    assert words.startswith("its manifest, manifest-unparseable: line ")


def test_a_listed_test_that_a_new_file_does_not_have_is_an_error_with_the_nearest_names(tmp_path):
    place = copy(GO, tmp_path)
    change(place / layout.SOLUTION, "TestValidPatterns/detect", "TestValidPattern/detect")
    [(where, words, severity)] = found(place)
    assert (where, severity) == (f"{layout.SOLUTION}:19", Severity.ERROR)
    assert words == (
        "weakness of the task: lists internal/filter/filter_patterns_test.go::TestValidPattern, and the file has no "
        "test of this name; nearest: TestValidPatterns"
    )


def test_a_listed_test_that_a_changed_file_does_not_show_is_a_warning_and_an_untouched_file_an_error(place):
    change(place / layout.SOLUTION, LISTED, "    - TestCLI.test_sums\n")
    list_tests(place, "aiosmtpd/tests/test_smtp.py", "test_helo")
    first, second, third = found(place)
    assert third[1].startswith(
        "weakness of the task: addition.patch adds or changes aiosmtpd/tests/test_handlers.py::"
    )
    assert first[1].startswith(
        "lists aiosmtpd/tests/test_handlers.py::TestCLI.test_sums, which addition.patch doesn't"
    )
    assert first[2] is Severity.WARNING
    assert second[1].startswith(
        "weakness of the task: lists aiosmtpd/tests/test_smtp.py::test_helo, and addition.patch doesn't touch"
    )
    assert second[2] is Severity.ERROR


def test_one_name_in_several_files_is_a_warning_with_the_files(place):
    add(place, "aiosmtpd/tests/test_other.py", "def test_same():\n    assert 1\n", "test_same")
    add(place, "aiosmtpd/tests/test_third.py", "def test_same():\n    assert 2\n", "test_same")
    [(_, words, severity)] = found(place)
    assert words.startswith("one name in several files: test_same is in aiosmtpd/tests/test_other.py, aios")
    assert severity is Severity.WARNING


def test_tests_that_no_grammar_reads_are_left_to_the_run_script_where_they_are_listed(place):
    text = "+ a test\n= it says so\n1 == 1\n"
    with (place / layout.REFERENCE).open("ab") as patch:
        patch.write(new_test_file("test/test_more.uts", text).patch)
    [(where, words, severity)] = found(place)
    assert (where, severity) == (layout.REFERENCE, Severity.WARNING)
    assert words.startswith("test/test_more.uts: not listed, and tests are told by grammar only where it must lie")
    list_tests(place, "test/test_more.uts", "it says so")
    assert found(place) == []


def test_what_a_new_campaign_does_not_have_as_a_test_is_a_weakness_of_the_task_at_its_own_line(place):
    text = "% all\n+ Set (one)\n= A (1::1)\nassert 1\n# B\n* C\n"
    add(place, "test/own.uts", text, "A (1::1)", "Set (one)", "B", "C")
    lines = (place / layout.SOLUTION).read_text().splitlines()
    told = {lines[int(where.partition(":")[2]) - 1].strip(): words for where, words, _ in found(place)}
    absent = "no `=` line of the file has this name; nothing is like it among the 1 names that are there"
    comment = "which is a comment and no test: our rules refuse the reference"
    assert told == {
        f"- {name}": f"weakness of the task: lists test/own.uts::{name}, {why}"
        for name, why in {"Set (one)": f"and {absent}", "B": comment, "C": comment}.items()
    }


SUMS = "def test_adds():\n    assert 1 + 1 == 2\n\n\ndef test_takes():\n    assert 2 - 1 == 1\n"
OTHER = "aiosmtpd/tests/test_other.py"


def changed_file(path: str, old: str, new: str) -> bytes:
    """A patch of a file that was there before, shown whole."""
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{path}", f"b/{path}", n=99
    )
    return f"diff --git a/{path} b/{path}\n{''.join(lines)}".encode()


def edit(place: Path, new: str, *names: str) -> list[tuple[str, str, Severity]]:
    """Findings where the reference also makes `new` of a file that was there before, and lists these of its tests."""
    with (place / layout.REFERENCE).open("ab") as patch:
        patch.write(changed_file(OTHER, SUMS, new))
    list_tests(place, OTHER, *names)
    return found(place)


def test_a_listed_test_that_the_reference_changes_has_no_finding(place):
    assert edit(place, SUMS.replace("2 - 1 == 1", "3 - 1 == 2"), "test_takes") == []


def test_a_listed_test_that_is_already_in_the_tree_is_a_weakness_of_the_task(place):
    changed = SUMS.replace("2 - 1 == 1", "3 - 1 == 2")
    [(where, words, severity)] = edit(place, changed, "test_takes", "test_adds")
    assert (where.partition(":")[0], severity) == (layout.SOLUTION, Severity.WARNING)
    assert words == (
        f"weakness of the task: lists {OTHER}::test_adds, which addition.patch neither adds nor changes, as far as "
        "it shows the file; oracle tells"
    )


def test_a_listed_test_that_changes_only_through_a_helper_is_a_weakness_of_the_task(tmp_path):
    place, file = copy(GO, tmp_path), "internal/filter/sums_test.go"
    imports = 'import "testing"\n\n' + "".join(f"// line {number}\n" for number in range(200))
    test = "func TestSums(t *testing.T) {\n\tfor _, c := range cases() {\n\t\tt.Run(c, check)\n\t}\n}\n"
    old = f'package filter\n\n{imports}func cases() []string {{\n\treturn []string{{"a"}}\n}}\n\n{test}'
    with (place / layout.REFERENCE).open("ab") as patch:
        patch.write(changed_file(file, old, old.replace('{"a"}', '{"a", "b"}')))
    list_tests(place, file, "TestSums")
    [(_, words, severity)] = found(place)
    assert words.startswith(f"weakness of the task: lists {file}::TestSums, which addition.patch neither adds nor")
    assert severity is Severity.WARNING


def test_tests_that_the_reference_writes_unlisted_or_removes_are_weaknesses_of_the_task(place):
    add(place, "aiosmtpd/tests/test_new.py", SUMS, "test_adds")
    [(where, words, severity)] = found(place)
    assert (where, severity) == (layout.REFERENCE, Severity.WARNING)
    assert words == (
        "weakness of the task: addition.patch adds or changes aiosmtpd/tests/test_new.py::test_takes, which isn't "
        "listed: our rules refuse the reference"
    )
    removed = SUMS.partition("\n\n\n")[0].replace("1 + 1 == 2", "1 + 2 == 3") + "\n"
    told = [item[1] for item in edit(place, removed, "test_adds") if OTHER in item[1]]
    assert f"weakness of the task: addition.patch removes {OTHER}::test_takes, which was there before" in told[0]


def test_a_name_that_stands_where_no_grammar_sees_a_test_is_what_testwright_cannot_read(place):
    generated = SUMS + "\n\nglobals()['test_made'] = lambda: test_adds()\n"
    add(place, OTHER, generated, "test_adds", "test_takes", "test_made")
    [(where, words, severity)] = found(place)
    assert (where.partition(":")[0], severity) == (layout.SOLUTION, Severity.ERROR)
    assert words == (
        f"testwright can't read it: lists {OTHER}::test_made; its name stands in the file, where our grammar sees no "
        "test of it"
    )


def test_files_of_the_reference_that_hold_no_tests_are_named(place):
    patch = new_test_file("tests/mails/plain.eml", "From: anne\n").patch + new_test_file("setup.py", "x = 1\n").patch
    with (place / layout.REFERENCE).open("ab") as file:
        file.write(patch)
    assert found(place) == [
        (layout.REFERENCE, "touches setup.py, which is no test: our rules leave it out", Severity.WARNING),
        (
            layout.REFERENCE,
            "files without tests below the test paths, which the published rules run as well: tests/mails/plain.eml",
            Severity.WARNING,
        ),
    ]


def test_a_removal_of_several_files_is_a_warning_and_one_of_a_test_file_an_error(place):
    change(
        place / layout.REMOVAL, "a/aiosmtpd/handlers.py b/aiosmtpd/handlers.py", "a/tests/test_x.py b/tests/test_x.py"
    )
    change(place / layout.REMOVAL, "a/aiosmtpd/handlers.py", "a/tests/test_x.py")
    change(place / layout.REMOVAL, "b/aiosmtpd/handlers.py", "b/tests/test_x.py")
    with (place / layout.REMOVAL).open("ab") as file:
        file.write(new_test_file("aiosmtpd/new.py", "x = 1\n").patch)
    assert found(place) == [
        (
            layout.REMOVAL,
            "edits 2 files, where one is expected: tests/test_x.py, aiosmtpd/new.py",
            Severity.WARNING,
        ),
        (layout.REMOVAL, "edits tests/test_x.py, a test file, which submissions write as well", Severity.ERROR),
        (
            layout.REMOVAL,
            "adds or deletes aiosmtpd/new.py; our rules take changes of files only",
            Severity.ERROR,
        ),
    ]


def test_a_patch_that_is_no_diff_fails_its_own_part_alone(place):
    change(place / layout.REMOVAL, "@@ -59,57", "@@ -59,58")
    done = checked(place)
    assert [step.id for step in done.steps if step.outcome == "failed"] == ["removal"]
    [problem] = [item for item in done.problems if item.severity is Severity.ERROR]
    assert problem.where == str(place / layout.REMOVAL)
    assert problem.message.startswith("not a unified diff: ")


def add(place: Path, file: str, text: str, *names: str) -> None:
    """One more file of the reference, its tests listed."""
    with (place / layout.REFERENCE).open("ab") as patch:
        patch.write(new_test_file(file, text).patch)
    list_tests(place, file, *names)


def list_tests(place: Path, file: str, *names: str) -> None:
    rows = "".join(f"    - {name}\n" for name in names)
    change(
        place / layout.SOLUTION, "<<TEST_MANIFEST>>\nEOF", f"- file: {file}\n  tests:\n{rows}<<TEST_MANIFEST>>\nEOF"
    )


def task_check(*arguments: str | Path) -> Done:
    return typed("task", "check", *arguments, cwd=Path.cwd())


def test_an_error_is_status_1_and_json_has_it_with_its_place(place):
    change(place / layout.SOLUTION, "<<TEST_MANIFEST>>\nEOF", "EOF")
    done = task_check(f"swe-atlas:{place}", "--quick", "--json")
    [task] = json.loads(done.output)["tasks"]
    assert (done.status, task["task"], task["passed"]) == (1, f"swe-atlas-{PYTHON}", False)
    assert [step["name"] for step in task["steps"]] == ["description", "manifest", "reference's files", "removal"]
    assert task["problems"][-1]["where"] == str(place / layout.SOLUTION)


@pytest.mark.parametrize("options", [("--fix",), ("--records", "x"), ("--sample",)])
def test_options_for_own_tasks_are_refused_in_one_line(place, options):
    done = task_check(f"swe-atlas:{place}", *options)
    assert (done.status, done.output) == (2, "")
    assert done.complaint.strip().splitlines() == [
        f"testwright: {options[0]} is for the catalog's own tasks; leave it out where swe-atlas:{place} is checked"
    ]


def subject(name: str = PYTHON) -> Subject:
    catalog = Catalog()
    return Subject(catalog, catalog.task(f"swe-atlas:{FIXTURES / name}"))


def record(name: str, baseline: str, removal: str, file: str = FILE) -> TestRecord:
    arms = {"baseline": baseline, "same-behaviour": baseline, "removal-1": removal}
    return TestRecord(test=f"{file}::{name}", arms=arms)


def log(**tests: str) -> tuple[ParsedTest, ...]:
    """Of one file; two underscores stand between a class and its test."""
    return tuple(ParsedTest(f"{FILE}::{name.replace('__', '::')}", status) for name, status in tests.items())


def told(run: ReferenceRun) -> list[tuple[str, Severity]]:
    return [(problem.message, problem.severity) for problem in defects(subject(), run)]


def test_a_reference_that_the_removal_fells_has_no_defect():
    tests = (record("test_a", "passed", "failed: raised"),)
    assert told(ReferenceRun(("test_a",), tests, log(test_a="PASSED"), log(test_a="FAILED"))) == []


def test_reference_tests_that_survive_are_listed_with_the_protocols_that_say_so():
    tests = (record("test_a", "passed", "failed: raised"), record("test_b", "passed", "passed"))
    before = log(test_a="PASSED", test_b="PASSED")
    part = ReferenceRun(("test_a", "test_b"), tests, before, log(test_a="FAILED", test_b="PASSED"))
    head = "removal unrelated to part of the objective: these pass without the code as well:"
    assert told(part) == [(f"{head} {FILE}::test_b (both rules)", Severity.WARNING)]

    [(words, severity)] = told(ReferenceRun(("test_b",), tests[1:], before[1:], log(test_b="SKIPPED")))
    assert words.startswith("removal unrelated to the objective: ")
    assert severity is Severity.ERROR


def test_a_case_that_survives_shows_though_its_test_fails():
    tests = (record("TestList", "passed", "failed: raised", "filter_test.go"),)
    before = (ParsedTest("TestList/a", "PASSED"), ParsedTest("TestList/b", "PASSED"))
    after = (ParsedTest("TestList/a", "FAILED"), ParsedTest("TestList/b", "PASSED"))
    [(words, severity)] = told(ReferenceRun(("TestList/a", "TestList/b"), tests, before, after))
    assert words.endswith(": TestList/b (published rules)")
    assert severity is Severity.WARNING


def test_names_that_the_parser_does_not_see_come_with_the_nearest_ones():
    tests = (record("test_sum", "passed", "failed: raised"), record("TestX.test_mean", "missing", "missing"))
    before = (*log(test_b="PASSED"), ParsedTest(f"{FILE}::test_sum[1-2]", "PASSED"))
    after = (*log(test_b="FAILED"), ParsedTest(f"{FILE}::test_sum[1-2]", "FAILED"))
    printed = f"{FILE}::test_b PASSED\n{FILE}::TestX::test_mean <- base.py PASSED\n".encode()
    assert told(ReferenceRun(("test_b", "test_sum", "TestX.test_mean"), tests, before, after, printed)) == [
        (
            "the parser can't see it: test_sum has no result on the code as it is (published rules); "
            f"nearest: {FILE}::test_sum[1-2]",
            Severity.WARNING,
        ),
        (
            "the parser can't see it: TestX.test_mean has no result on the code as it is (both rules); "
            "nothing is like it among the 2 names that are there; "
            f"the log has the line: {FILE}::TestX::test_mean <- base.py PASSED",
            Severity.WARNING,
        ),
    ]


def test_a_parser_that_sees_no_listed_test_at_all_is_an_error():
    [(words, severity)] = told(ReferenceRun(("test_a",), (record("test_a", "missing", ""),), (), ()))
    assert words.endswith(
        "test_a has no result on the code as it is (both rules); the log has no result at all; it says: nothing"
    )
    assert severity is Severity.ERROR


def test_a_name_that_several_results_count_for_is_told_with_them():
    before = log(TestA__test_x="PASSED", TestB__test_x="PASSED")
    after = log(TestA__test_x="FAILED", TestB__test_x="FAILED")
    [(words, severity)] = told(ReferenceRun(("TestA.test_x",), (), before, after))
    assert words.endswith(f"2 results count for (published rules): {FILE}::TestA::test_x, {FILE}::TestB::test_x")
    assert severity is Severity.WARNING


def test_tests_without_a_result_after_the_removal_come_with_what_the_log_says():
    tests = (
        record("TestA", "passed", "failed: crash", "a_test.go"),
        record("TestB", "passed", "missing", "a_test.go"),
    )
    before = (ParsedTest("TestA", "PASSED"), ParsedTest("TestB", "PASSED"))
    printed = b"=== RUN   TestA\npanic: runtime error: index out of range\nFAIL\n"
    [(words, severity)] = told(ReferenceRun(("TestA", "TestB"), tests, before, (), printed_after=printed))
    assert words == (
        "no result line after the removal: a_test.go::TestB (both rules), TestA (published rules); "
        "the log says: panic: runtime error: index out of range"
    )
    assert severity is Severity.ERROR


def leaked(together: dict[str, str], **alone: dict[str, str]) -> list[tuple[str, Severity]]:
    logs = {f"{file}.py": statuses(starmap(log)) for file, log in alone.items()}
    problems = leaks("x", statuses(starmap(together)), logs)
    return [(problem.message, problem.severity) for problem in problems]


def starmap(log: dict[str, str]) -> list[ParsedTest]:
    return [ParsedTest(name, status) for name, status in log.items()]


def test_files_that_say_the_same_alone_leak_nothing():
    assert leaked({"a": "PASSED", "b": "FAILED"}, one={"a": "PASSED"}, two={"b": "FAILED"}) == []
    # One name in two files: the log of both together has but one line for them.
    assert leaked({"a": "FAILED"}, one={"a": "PASSED"}, two={"a": "FAILED"}) == []


def test_a_test_that_passes_only_after_another_file_is_told_with_both_results():
    [(words, severity)] = leaked({"a": "PASSED", "b": "PASSED"}, one={"a": "PASSED"}, two={"b": "FAILED"})
    assert words == (
        "passes only by what another file leaves behind: b is PASSED when all run together, "
        "FAILED when two.py runs alone"
    )
    assert severity is Severity.ERROR


def test_a_file_that_is_silent_when_it_runs_alone_is_an_error_and_its_names_are_not_told_one_by_one():
    told = leaked({"a": "PASSED", "b": "PASSED", "c": "PASSED"}, one={"a": "PASSED"}, two={})
    assert told == [("two.py leaves no result when it runs alone", Severity.ERROR)]


def test_names_that_leak_into_the_log_of_all_files_are_told():
    [(words, severity)] = leaked(
        {"a": "PASSED", "b": "PASSED", "stray": "PASSED"}, one={"a": "PASSED"}, two={"b": "PASSED"}
    )
    assert words.startswith("stray is in the log of all files together, in that of no file alone")
    assert severity is Severity.WARNING


def test_a_second_run_that_says_something_else_is_an_error():
    first = statuses([ParsedTest("a", "PASSED"), ParsedTest("b", "PASSED")])
    assert list(differences("x", first, first)) == []
    [problem] = differences("x", first, statuses([ParsedTest("a", "FAILED")]))
    assert problem.message == "two runs in a row differ: a is PASSED, then FAILED; b is PASSED, then absent"
    [problem] = differences("x", {}, {})
    assert problem.message == "doesn't work twice in a row: its first run leaves no result"
    [problem] = differences("x", first, {})
    assert problem.message == "doesn't work twice in a row: its second run leaves no result"
