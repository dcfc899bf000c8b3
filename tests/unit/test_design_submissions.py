"""Kept designs, judged: honest ones are resolved, and each of the others ends for its own reason.

`testwright task play` is how a person judges them; here its engine plays them in this process.
"""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from harness.judging.submission.extraction import Submission
from harness.judging.submission.new_files import new_text_patch
from harness.judging.verify.verification import Judging
from harness.plugins.design.grading import grade_design
from harness.plugins.design.hand_ins import NAMES, case_of
from harness.plugins.design.reasons import CASE_UNREADABLE, CASE_WRONG
from harness.plugins.design.task import CASES, FEATURE
from harness.runs.judges import is_final
from harness.runs.submissions import Expectation, Judged
from harness.sandbox.registry import SANDBOXES
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.yaml_files import load_yaml
from tests.support.command import typed
from tests.support.designs import FIXTURES, PlayedHere, context_of, handed_in, judged, page_task, shipped
from tests.support.judges import RuleJudge, judge_with

KEPT = sorted(path.parent.name for path in FIXTURES.glob("*/expect.yaml"))
EXPECTED = {name: load_yaml(FIXTURES / name / "expect.yaml", Expectation) for name in KEPT}
SHOWN = ("case-unreadable", "too-many-cases", "case-wrong", "over-specified")
"""The reasons of this track."""


def kept(name):
    [path] = [FIXTURES / name / each for each in NAMES if (FIXTURES / name / each).exists()]
    return path


@pytest.mark.dear("plays a design on some forty implementations, in this process")
@pytest.mark.parametrize("name", KEPT)
async def test_a_kept_design_comes_to_what_is_expected(name, tmp_path):
    expected = EXPECTED[name]
    case = case_of(shipped(expected.task), kept(name), name, expected)
    record = await judged(case.task, case.submission, tmp_path)
    assert Judged(case, record, 0.0).difference == ""


def test_each_reason_of_the_track_has_a_design_that_ends_for_it():
    assert set(SHOWN) <= {code for expected in EXPECTED.values() for code in expected.reasons}
    assert sum(expected.verdict is Verdict.RESOLVED for expected in EXPECTED.values()) >= 2
    assert all(expected.reasons for expected in EXPECTED.values() if expected.verdict is not Verdict.RESOLVED)


@pytest.mark.parametrize(
    ("patch", "manifest", "code", "words"),
    [
        (b"", b"", ReasonCode.EMPTY_SUBMISSION, ""),
        (new_text_patch("design/notes.md", b"a\n"), b"", CASE_UNREADABLE, "there are: design/notes.md"),
        (new_text_patch("requirement.md", b"a\n"), b"", None, ""),
        (
            new_text_patch(CASES, b"- {id: A, when: {op: member}, then: {outcome: refused}}\n"),
            b"",
            CASE_UNREADABLE,
            "design/cases.yaml:1: member can't stand in 'when'",
        ),
        (
            new_text_patch(CASES, b"- {id: A, when: {op: send, grams: 1}, then: {outcome: refused}}\n"),
            b"",
            ReasonCode.MANIFEST_MISSING,
            "there is no manifest",
        ),
        (
            new_text_patch(CASES, b"- {id: A, when: {op: send, grams: 1}, then: {outcome: refused}}\n"),
            b"- file: [\n",
            ReasonCode.MANIFEST_UNPARSEABLE,
            "",
        ),
    ],
)
async def test_what_cannot_be_played_is_refused(tmp_path, patch, manifest, code, words):
    task = page_task(tmp_path)
    record = await judged(task, Submission(patch, manifest), tmp_path)
    assert record.verdict is Verdict.FAILED
    if code:
        assert [reason.code for reason in record.reasons] == [code]
        assert words in record.reasons[0].words


async def test_of_two_files_nobody_knows_which_counts(tmp_path):
    task = page_task(tmp_path)
    data = task.patch("reference/cases.yaml")
    patch = new_text_patch(CASES, data) + new_text_patch(FEATURE, b"Scenario: T\n")
    record = await judged(task, Submission(patch, handed_in(task, data).manifest), tmp_path)
    [reason] = record.reasons
    assert (reason.code, reason.words) == (
        CASE_UNREADABLE,
        "expected one file, design/cases.yaml or design/cases.feature; there are: design/cases.feature, "
        "design/cases.yaml",
    )


async def test_a_wrong_case_kills_nothing(tmp_path):
    """It fails on mutants, since it fails everywhere."""
    task = page_task(tmp_path)
    data = b"- {id: A, when: {op: send, grams: 2001}, then: {outcome: priced, cents: 1}}\n"
    record = await judged(task, handed_in(task, data), tmp_path)
    assert record.reasons[0].code == CASE_WRONG
    assert not any(cases for item in record.stages.rubric.criteria for cases in item.killed_by.values())


@pytest.mark.parametrize("data", [None, b"- {id: A, when: {op: member}}\n", b""])
async def test_a_verdict_is_final_for_the_judge_that_is_named_and_never_asked(tmp_path, data):
    task = page_task(tmp_path)
    submission = handed_in(task, task.patch("reference/cases.yaml") if data is None else data)
    judge = judge_with(RuleJudge(lambda heard: AssertionError(heard.statement)))
    judging = Judging(task, await context_of(task, tmp_path), judge)
    assert is_final((await grade_design(judging, submission)).record, judge)
    assert is_final((await grade_design(replace(judging, judge=None), submission)).record, None)


@pytest.fixture
def here(tmp_path):
    SANDBOXES.register("here", lambda _argument, _images: PlayedHere(tmp_path))
    yield partial(typed, cwd=tmp_path)
    SANDBOXES.unregister("here")


@pytest.fixture
def designs(tmp_path):
    """The page's task in a catalog, two designs of it in a folder and one beside it."""
    task = page_task(tmp_path / "catalog")
    (tmp_path / "catalog" / "repos").symlink_to(Path("repos").absolute())
    for name in ("ada", "bob"):
        (tmp_path / "handed" / name).mkdir(parents=True)
    (tmp_path / "handed" / "ada" / "cases.yaml").write_bytes(task.patch("reference/cases.yaml"))
    feature = "Scenario: T a light one\nWhen a parcel of 2000 grams is sent\nThen 500 cents are to be paid\n"
    (tmp_path / "handed" / "bob" / "cases.feature").write_text(feature)
    (tmp_path / "alone.yaml").write_text("- {id: A, when: {op: send}, then: {outcome: refused}}\n")
    return ("--catalog", "catalog", "task", "play", "parcel", "--sandbox", "here")


def test_designs_in_files_are_judged_and_told(here, designs):
    done = here(*designs, "handed", "alone.yaml")
    assert done.status == 0, done.complaint
    rows = [line.split() for line in done.output.splitlines() if line.strip()]
    assert rows[2:5] == [
        ["ada/cases.yaml", "resolved", "6", "0", "4/4", "4/4", "2/2", "1.00"],
        ["bob/cases.feature", "failed", "1", "0", "0/4", "1/4", "0/2", "1.00"],
        ["alone.yaml", "failed", *["-"] * 6],
    ]
    assert "bob/cases.feature: 1.1-boundary-over lives\n" in done.output
    assert "bob/cases.feature: 1.1-boundary-under lives\n" not in done.output
    assert "alone.yaml: case-unreadable: design/cases.yaml:1: send needs the field 'grams'\n" in done.output


def test_designs_are_told_as_json(here, designs, tmp_path):
    done = here(*designs, "handed", "--json", "-o", "kept")
    whole, part = json.loads(done.output)
    assert (whole["design"], whole["verdict"], whole["cases"], whole["reasons"]) == (
        "ada/cases.yaml",
        "resolved",
        6,
        [],
    )
    assert part["killed"] == {"partition": [0, 4], "boundary": [1, 4], "pair": [0, 2]}
    assert part["killed_by"]["1.1-boundary-under"] == ["design/cases.feature::T"]
    assert [reason["code"] for reason in part["reasons"]] == ["criterion-unmet"] * 3
    assert (tmp_path / "kept" / "ada" / "cases.yaml" / "verdict.json").is_file()


@pytest.mark.parametrize(
    ("places", "told"),
    [
        (["gone.yaml"], "gone.yaml: No such file or directory"),
        (
            ["catalog/repos/zod"],
            "catalog/repos/zod: no design here (no file cases.yaml or cases.feature at any depth)",
        ),
    ],
)
def test_a_place_without_a_design_is_told(here, designs, places, told):
    done = here(*designs, *places)
    assert (done.status, done.complaint.strip().splitlines()[-1]) == (2, f"testwright: {told}")


def test_only_designs_can_be_played(here, designs):
    done = here("task", "play", "zod-stringbool", "alone.yaml", "--sandbox", "here")
    assert done.status == 2
    assert "task zod-stringbool: it is not of the track 'design'" in done.complaint
