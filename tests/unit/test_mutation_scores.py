"""docs/mutation-scores/ is of tasks and suites as they are, and in order; docs/validity.md says what it holds."""

import sys
from pathlib import Path

import pytest

from harness.authoring.suite_scores import (
    Care,
    ScoredMutant,
    ScoredSuite,
    SuiteScores,
    code_digest,
    out_of_order,
    stale,
    submissions_of,
    suite_digest,
)
from harness.authoring.task_check.same_images import SameImage, add_same_image
from harness.judging.submission.extraction import Submission
from harness.judging.verify.mutants.records import MutantStatus
from harness.sandbox.images.recipe import read_recipe
from scripts import mutation_scores
from tests.support.corpora import CATALOG

K, S, T, R, N = (
    MutantStatus.KILLED,
    MutantStatus.SURVIVED,
    MutantStatus.TIMEOUT,
    MutantStatus.RUNTIME_ERROR,
    MutantStatus.NO_COVERAGE,
)
RECORDS = mutation_scores.CHECKOUT / "docs" / "check-records"


def suite(name: str, care: Care, *states: MutantStatus) -> ScoredSuite:
    return ScoredSuite(name=name, care=care, digest="0", states=states)


def scores(*suites: ScoredSuite) -> SuiteScores:
    mutants = [ScoredMutant(id=str(number), file="a.py", line=1, description="+ becomes -") for number in range(4)]
    return SuiteScores(
        task="t", code_digest="0", seed=0, asked=4, candidates=9, mutants=tuple(mutants), suites=suites
    )


SOUND = scores(
    suite("reference", Care.REFERENCE, K, K, S, K),
    suite("a-thorough", Care.THOROUGH, K, T, K, K),
    suite("a-lazy", Care.LAZY, K, S, N, R),
)


def test_a_mutant_that_one_suite_cannot_run_on_counts_for_none() -> None:
    assert SOUND.valid == (0, 1, 2)
    assert [SOUND.detected(each) for each in SOUND.suites] == [2, 3, 1]
    assert SOUND.score(Care.REFERENCE) == pytest.approx(2 / 3)
    assert mutation_scores.row(SOUND) == "| t | 3 of 9 | 0.67 | 1.00 | 0.33 |"
    nothing = scores(suite("reference", Care.REFERENCE, R, R, R, R))
    assert nothing.score(Care.REFERENCE) is None
    assert mutation_scores.row(nothing) == "| t | 0 of 9 | - | - | - |"


def test_lazy_suites_that_kill_more_are_out_of_order() -> None:
    assert [*out_of_order(SOUND)] == []
    careless = scores(
        suite("reference", Care.REFERENCE, K, K, K, S),
        suite("a-thorough", Care.THOROUGH, K, S, S, S),
        suite("b-thorough", Care.THOROUGH, K, K, S, S),
        suite("a-lazy", Care.LAZY, K, K, S, S),
    )
    assert [*out_of_order(careless)] == ["t: thorough 0.38 < lazy 0.50"]
    told = mutation_scores.summary([careless, SOUND]).splitlines()
    assert told == [
        "Means over 2 tasks: reference 0.71, thorough 0.69, lazy 0.42.",
        "Thorough beside lazy: more in 1 tasks, as many in 0, fewer in 1."
        " Reference beside lazy: more in 2 tasks, as many in 0, fewer in 0.",
        "Thorough beside reference: more in 1 tasks, as many in 0, fewer in 1.",
        "The expected order doesn't hold in t: thorough 0.38 < lazy 0.50.",
    ]


@pytest.mark.parametrize("task", sorted(path.stem for path in mutation_scores.FOLDER.glob("*.json")))
def test_scores_are_of_the_code_and_suites_as_they_are_and_in_order(task: str) -> None:
    found = mutation_scores.scores_of(task)
    assert stale(found, CATALOG, CATALOG.task(task), RECORDS) == [], f'run make scores only="{task}"'
    assert [each.care for each in found.suites].count(Care.REFERENCE) == 1
    assert found.valid
    assert list(out_of_order(found)) == []


def test_a_suite_or_a_removal_that_has_changed_makes_scores_stale() -> None:
    name = "jansson-object-merge"
    task, known = CATALOG.task(name), mutation_scores.scores_of(name)
    other = known.model_copy(
        update={
            "code_digest": "0",
            "suites": (*known.suites[1:], suite("c-lazy", Care.LAZY, *known.suites[0].states)),
        }
    )
    assert stale(other, CATALOG, task, RECORDS) == [
        f"{name}: its code or removal has changed",
        f"{name}: the suite c-lazy has changed",
        f"{name}: the suite reference has changed",
    ]
    assert code_digest(task, "0") != code_digest(CATALOG.task("jansson-writing-out"), "0")
    assert suite_digest(Submission(b"ab", b"c")) != suite_digest(Submission(b"a", b"bc"))


def test_scores_hold_for_each_recipe_of_the_same_image(tmp_path: Path) -> None:
    task = CATALOG.task("jansson-object-merge")
    older = mutation_scores.scores_of(task.id).model_copy(update={"code_digest": code_digest(task, "older")})
    assert stale(older, CATALOG, task, tmp_path) == [f"{task.id}: its code or removal has changed"]
    same = SameImage(old="older", new=read_recipe(task.repo).digest, files=1, tree="0")
    add_same_image(tmp_path, "zod", same)
    assert stale(older, CATALOG, task, tmp_path) == [f"{task.id}: its code or removal has changed"]
    add_same_image(tmp_path, task.repo.name, same)
    assert stale(older, CATALOG, task, tmp_path) == []


def test_a_suite_is_as_careful_as_its_expected_verdict_says() -> None:
    found = submissions_of(CATALOG, CATALOG.task("jansson-object-merge"))
    assert {name: care.value for name, (care, _) in found.items()} == {
        "reference": "reference",
        "a-lazy-flat": "lazy",
        "a-thorough-per-way": "thorough",
        "b-lazy-nested": "lazy",
        "b-thorough-table": "thorough",
    }


def test_the_page_on_validity_has_these_scores() -> None:
    """And names the tasks that nobody has measured."""
    again = "run .venv/bin/python -m scripts.mutation_scores --page"
    assert f"\n{mutation_scores.section()}\n## " in mutation_scores.PAGE.read_text(), again


@pytest.mark.parametrize(
    ("word", "status", "told"),
    [
        ("--pages", 2, "--pages is unknown; see --help"),
        ("jansson-object-merg", 2, "did you mean 'jansson-object-merge'?"),
        ("--help", 0, "usage: mutation_scores.py"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_measured(
    word: str, status: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(mutation_scores.FOLDER.iterdir())
    monkeypatch.setattr(sys, "argv", ["mutation_scores.py", word])
    assert mutation_scores.main() == status
    said = "".join(capsys.readouterr())
    assert told in said
    assert status == 0 or len(said.splitlines()) == 1
    assert sorted(mutation_scores.FOLDER.iterdir()) == before
