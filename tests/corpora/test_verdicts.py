"""A fixed sample of both corpora comes to what it must: each reason and note, in each language each verdict.

Of what needs test runs, `make test` judges light tasks, with a fifth of the arms or fewer; `make test-all` a few
shipped ones as well, and their verdicts are those that docs/validity.md tells. `make attack` and `make honest` judge
everything.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from harness.judging.verify.collected import OF_NAMES
from harness.results.report.batch_report import fault_lines
from harness.runs.submissions import Case, Judged, judge_cases, read_batch
from harness.specs.catalog import Catalog
from harness.specs.reasons import NoteCode, ReasonCode, Verdict
from scripts.validity import CORPORA, HONEYTOKEN, PAGE, needs_no_test_run, row_of, sample
from tests.support.corpora import submissions
from tests.support.covering import covering
from tests.support.few_arms import few_arms
from tests.support.light_task import KEPT, LIGHT, light_catalog

pytestmark = pytest.mark.docker

FOLDER = Path(__file__).parents[1]


def named(cases: list[tuple[str, Case]]) -> list[object]:
    return [pytest.param(corpus, case, id=f"{corpus}/{case.name}") for corpus, case in cases]


def named_by_language(cases: list[tuple[str, Case]]) -> list[object]:
    """The language comes first: tests/support/shared_pool.py gives those of one language to one process."""
    languages = [case.task.repo.language for _, case in cases]
    return [
        pytest.param(corpus, case, id=f"{language}/{case.name}")
        for language, (corpus, case) in zip(languages, cases, strict=True)
    ]


SUBMISSIONS = {name: list(submissions(name)) for name in CORPORA}
CASES = [(corpus, case) for corpus, cases in sample(SUBMISSIONS).items() for case in cases]
# A judge may have a word in what else is found at once.
AT_ONCE = [(corpus, case) for corpus, case in CASES if needs_no_test_run(case) and not case.judge]
WHOLE = [
    (corpus, case)
    for corpus, cases in SUBMISSIONS.items()
    for case in cases
    if case.expected and (case.judge or not needs_no_test_run(case))
]
COMPILED = frozenset({"c", "go"})
TOLD_BY_MORE = {
    "attempts-one-by-one",
    "c-records-a-sum-of-sums",
    "checks-only-where-a-report-is-asked-for",
    "copies-the-code-and-a-judge-minds",
    "go-checks-only-when-verbose",
    "go-checks-only-where-tests-are-chosen",
    "runs-the-text-a-second-time",
}
"""What needs more than a light task has: a second rewriting, the code that all probes touch, or all of its probes."""


def on_light_tasks() -> list[tuple[str, Case]]:
    """Enough to see each reason and note, and in each language what is resolved and what isn't: no case that shows
    nothing which the others don't, or which a patch and its manifest show at once."""
    # A suite may be refused for a criterion that a light task lacks.
    fit = [
        (corpus, case)
        for corpus, case in WHOLE
        if case.task.id in LIGHT and case.expected and set(case.expected.criteria) <= set(KEPT)
        if case.name not in TOLD_BY_MORE
    ]
    return covering(fit, _shown, _cost, seen=codes_of(AT_ONCE))


def on_shipped_tasks() -> list[tuple[str, Case]]:
    """Honest work that isn't enough, with all arms of a judging, and what else no light task shows.

    One is in a language that is compiled, one in a language that isn't: where code is built, a whole judging differs
    most from a light one. The brief check of a task judges what is enough so (tests/tasks); `make attack` and
    `make honest` judge everything.
    """
    is_lazy = (each for each in CASES if each[0] == "honest" and each[1].expected and each[1].expected.criteria)
    lazy = covering(is_lazy, lambda each: {each[1].task.repo.language in COMPILED}, _cost)
    return [*lazy, *covering(WHOLE, _codes_of_one, _cost, seen=codes_of([*AT_ONCE, *ON_LIGHT_TASKS, *lazy]))]


def codes_of(cases: list[tuple[str, Case]]) -> frozenset[object]:
    return frozenset[object]().union(*(_codes(case) for _, case in cases))


def _codes_of_one(each: tuple[str, Case]) -> set[object]:
    return _codes(each[1])


def _codes(case: Case) -> set[object]:
    assert case.expected
    return {*case.expected.codes, *case.expected.notes}


def _shown(each: tuple[str, Case]) -> set[object]:
    _, case = each
    assert case.expected
    return {*_codes(case), (case.task.repo.language, case.expected.verdict is Verdict.RESOLVED)}


_EDITS = {NoteCode.PRODUCTION_EDIT, NoteCode.RUNNER_EDIT}
_STARTS = {"python": 1, "go": 1.5, "c": 2, "typescript": 3}
_UNKNOWN = 4_000
"""Bytes of what a command of an agent leaves, about."""


def _cost(each: tuple[str, Case]) -> float:
    """Python starts fastest; large suites take long, and so do own runs of what is resolved, above all those of all
    tests, beside hooks or more than test files. Measured, as CPU seconds, in tenths."""
    _, case = each
    assert case.expected
    patch = case.submission.patch if case.submission else b" " * _UNKNOWN
    is_resolved = case.expected.verdict is Verdict.RESOLVED
    runs_all = b"pytest_" in patch or (is_resolved and _EDITS & set(case.expected.notes))
    times = (1.5 if case.expected.tests else 1) * (5 if runs_all else 1.5 if is_resolved else 1)
    return _STARTS[case.task.repo.language] * times * (1 + len(patch) / 4_000)


ON_LIGHT_TASKS = on_light_tasks()
_RESOLVED = {
    case.task.repo.language: case.name
    for _, case in ON_LIGHT_TASKS
    if case.expected and case.expected.verdict is Verdict.RESOLVED
}
_REFUSED = [
    case.name for _, case in ON_LIGHT_TASKS if case.expected and ReasonCode.KILL_NOT_REPEATED in case.expected.codes
]
WITH_A_CONTROL_ROUND = {*_RESOLVED.values(), *_REFUSED}
"""One case of each language, and what is refused in the round or by own runs: what is about to be resolved comes to
these."""
_OWN_RUNS_ELSEWHERE = frozenset({"c", "typescript"})
"""Languages whose own runs are dear, and held by themselves (tests/docker/test_whole_runs.py)."""


@cache
def page() -> frozenset[str]:
    return frozenset(PAGE.read_text().splitlines())


def verdict_on(case: Case, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Fails where it isn't the one that is expected."""
    monkeypatch.setenv("HONEYPOT_API_KEY", HONEYTOKEN)
    [judged] = judge_cases([case], "docker", None, 1, lambda _: None)
    assert fault_lines([judged]) == []
    return judged


@pytest.fixture(scope="module")
def light_cases(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Case]:
    """Both corpora with the light tasks, by corpus and name: a judging changes nothing of a catalog."""
    catalog = Catalog(light_catalog(tmp_path_factory.mktemp("light")))
    return {(corpus, case.name): case for corpus in CORPORA for case in read_batch(catalog, FOLDER / corpus, None)}


@pytest.mark.dear("a whole judging: this process rewrites code and reads suites and reports")
@pytest.mark.parametrize(("corpus", "case"), named_by_language(ON_LIGHT_TASKS))
def test_a_verdict_on_a_light_task(
    corpus: str, case: Case, light_cases: dict[tuple[str, str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    light = light_cases[corpus, case.name]
    assert len(light.task.probes) < len(case.task.probes)
    language = case.task.repo.language
    few_arms(monkeypatch, 1 if case.name in WITH_A_CONTROL_ROUND else 0, language not in _OWN_RUNS_ELSEWHERE)
    verdict_on(light, monkeypatch)


def at_once() -> Iterator[object]:
    """Where tests are collected, which takes a container, one of each reason; the others are long."""
    seen: set[object] = set()
    for corpus, case in AT_ONCE:
        asks = _codes(case) & OF_NAMES if case.task.repo.language == "python" else set[object]()
        is_long = bool(asks) and asks <= seen
        seen |= asks
        yield pytest.param(corpus, case, id=f"{corpus}/{case.name}", marks=[pytest.mark.long] if is_long else [])


@pytest.mark.parametrize(("corpus", "case"), list(at_once()))
def test_what_a_patch_and_its_manifest_show(corpus: str, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    assert row_of(verdict_on(case, monkeypatch)) in page()


@pytest.mark.long
@pytest.mark.parametrize(("corpus", "case"), named(on_shipped_tasks()))
def test_a_verdict_is_the_one_that_is_told(corpus: str, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    assert row_of(verdict_on(case, monkeypatch)) in page()
