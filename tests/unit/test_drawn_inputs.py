"""What the calls of a fuzz file show of twins and removals, and what lies beside it."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.authoring.task_check.fuzzing import FuzzCall, disagreement, drawn_suite, read_calls, removed
from harness.authoring.task_check.own_parts import DYNAMIC
from harness.authoring.task_check.recorded_parts import kept_digests
from harness.authoring.task_check.subject import Subject
from harness.judging.languages.registry import LANGUAGES
from harness.specs.catalog import Catalog
from harness.specs.repo import Drawing
from harness.specs.task_facts import Level, StepId
from tests.support import scripted_language
from tests.support.bug_catalog import BASE, BUG, bug_catalog

PRISTINE = [FuzzCall(str(number), str(number * 2)) for number in range(10) for _ in range(2)]


def answers(results):
    return [FuzzCall(call.input, result) for call, result in zip(PRISTINE, results, strict=True)]


REFUSED = answers(["ValueError: gone"] * 20)
OTHER_EACH_TIME = answers([str(100 + number) for number in range(20)])


def test_calls_are_read_and_other_lines_left_out():
    data = b"a => b => 3\nprinted by somebody\n\xff => 1\n"
    assert read_calls(data) == [FuzzCall("a => b", "3"), FuzzCall("�", "1")]


def test_removals_of_two_kinds_that_change_every_answer_are_right():
    assert not [*removed(PRISTINE, {"removal": REFUSED, "garbage": OTHER_EACH_TIME})]


@pytest.mark.parametrize(
    ("removal", "garbage", "words"),
    [
        (PRISTINE[:2] + REFUSED[2:], PRISTINE[:2] + OTHER_EACH_TIME[2:], "neither it nor removal.patch changes"),
        (REFUSED, answers(["7"] * 20), "the same answer twice to 10 of 10"),
        (REFUSED, answers([str(100 + number // 2) for number in range(20)]), "the same answer twice"),
        (REFUSED, [FuzzCall(call.input, call.input) for call in PRISTINE], "gives back what it was given"),
    ],
    ids=["one answer is kept", "constant", "deterministic", "identity"],
)
def test_a_garbage_under_which_a_test_of_a_property_stays_green_is_told(removal, garbage, words):
    found = [*removed(PRISTINE, {"removal": removal, "garbage": garbage})]
    assert [line for line in found if words in line], found


def test_an_answer_that_one_of_the_removals_changes_is_enough():
    assert not [*removed(PRISTINE, {"removal": REFUSED, "garbage": PRISTINE[:2] + OTHER_EACH_TIME[2:]})]


def test_runs_of_one_code_that_differ_are_told_with_both_outputs():
    other = [*PRISTINE[:3], FuzzCall("1", "{'b', 'a'}"), *PRISTINE[4:]]
    assert "'1 => 2', then \"1 => {'b', 'a'}\";" in disagreement(PRISTINE, other)
    assert "20 calls, then 19;" in disagreement(PRISTINE, PRISTINE[:19])
    assert disagreement(PRISTINE, [*PRISTINE]) == ""


def test_of_a_long_line_the_part_is_shown_that_differs():
    long = "x" * 500
    words = disagreement([FuzzCall(long, "first answer")], [FuzzCall(long, "other answer")])
    assert "first" in words
    assert "other" in words
    assert len(words) < 600


def test_drawn_inputs_come_first_and_what_judges_whole_suites_last():
    order = [*DYNAMIC[Level.FULL]]
    assert order[0] is StepId.FUZZ
    assert order[-2:] == [StepId.REFERENCE, StepId.HONEST_SUITES]


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("shellquote-words", "testwright_drawing_test.go"),
        ("zod-stringbool", "src/v4/classic/tests/testwright-drawing.ts"),
        ("libcsv-reading", "testwright_drawing.h"),
        ("itsdangerous-expiring-tokens", "testwright_drawing.py"),
    ],
)
def test_the_languages_own_file_lies_beside_a_fuzz_file_that_uses_it_and_is_no_test(
    name: str, beside: str | None
) -> None:
    task = Catalog().task(name)
    suite = drawn_suite(task)
    [fuzz] = {test.file for test in suite.tests}
    assert set(suite.files) == {fuzz, beside} - {None}
    assert suite.files[fuzz] == task.fuzz_files[0].read_bytes()
    if beside and beside.endswith(".go"):
        assert suite.files[beside].splitlines()[:2] == [*suite.files[fuzz].splitlines()[:1], b""]


def test_another_file_beside_them_voids_what_a_changed_fuzz_file_would(tmp_path: Path) -> None:
    place = bug_catalog(tmp_path)
    repo = place / "repos" / "itsdangerous" / "repo.yaml"
    repo.write_text(repo.read_text().replace("language: python", f"language: {scripted_language.NAME}"))

    def digests(source: bytes, used_as: bytes = b"import") -> dict[tuple[str, str], str]:
        drawing = Drawing("drawing.py", source, used_as)
        LANGUAGES.register(scripted_language.NAME, replace(scripted_language.SCRIPTED, drawing=drawing))
        try:
            catalog = Catalog(place)
            tasks = [catalog.task(name) for name in (BASE, BUG)]
            parts = [kept_digests(Subject(catalog, task)) for task in tasks]
            return {
                (task.id, name): digest
                for task, of_parts in zip(tasks, parts, strict=True)
                for name, digest in [("task", task.digest), *of_parts.items()]
            }
        finally:
            LANGUAGES.unregister(scripted_language.NAME)

    before, after = digests(b"one"), digests(b"two")
    changed = {key for key, digest in before.items() if after[key] != digest}
    assert {part for task, part in changed if task == BASE} == {"task", StepId.FUZZ}
    assert {part for task, part in before.keys() - changed if task == BUG} == {StepId.ALTERNATIVE_FIXES}
    assert digests(b"one", b"no fuzz file has this") == digests(b"two", b"no fuzz file has this")
