"""A fixed sample of both corpora comes to what it must: each reason and note, in each language each verdict.

Of what needs test runs, `make test` judges light tasks, with a third of the arms; `make test-all` the tasks as they
are shipped, and the verdicts are those that docs/validity.md tells. `make attack` and `make honest` judge everything.
"""

from functools import cache
from pathlib import Path

import pytest

from harness.report.batch_report import fault_lines
from harness.runs.cases import Case, read_batch
from harness.runs.submissions import Judged, judge_cases
from harness.specs.catalog import Catalog
from scripts.validity import CORPORA, HONEYTOKEN, PAGE, needs_no_test_run, row_of, sample
from tests.support.light_task import KEPT, LIGHT, light_catalog

pytestmark = pytest.mark.docker

FOLDER = Path(__file__).parents[1]


def named(cases: list[tuple[str, Case]]) -> list[object]:
    return [pytest.param(corpus, case, id=f"{corpus}/{case.name}") for corpus, case in cases]


CASES = [
    (corpus, case)
    for corpus, cases in sample({name: read_batch(Catalog(), FOLDER / name, None) for name in CORPORA}).items()
    for case in cases
]
AT_ONCE = [each for each in CASES if needs_no_test_run(each[1])]
WHOLE = [each for each in CASES if not needs_no_test_run(each[1])]
# A suite is refused for a criterion that a light task may lack.
ON_LIGHT_TASKS = [
    (corpus, case)
    for corpus, case in WHOLE
    if case.task.id in LIGHT and case.expected and set(case.expected.criteria) <= set(KEPT)
]


@cache
def page() -> frozenset[str]:
    return frozenset(PAGE.read_text().splitlines())


def verdict_on(case: Case, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Fails where it isn't the one that is expected."""
    monkeypatch.setenv("HONEYPOT_API_KEY", HONEYTOKEN)
    [judged] = judge_cases([case], "docker", None, 1, lambda _: None)
    assert fault_lines([judged]) == []
    return judged


@pytest.mark.parametrize(("corpus", "case"), named(AT_ONCE))
def test_what_a_patch_and_its_manifest_show(corpus: str, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    assert row_of(verdict_on(case, monkeypatch)) in page()


@pytest.mark.parametrize(("corpus", "case"), named(ON_LIGHT_TASKS))
def test_a_verdict_on_a_light_task(corpus: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = Catalog(light_catalog(tmp_path / "catalog"))
    [light] = [each for each in read_batch(catalog, FOLDER / corpus, None) if each.name == case.name]
    assert light.task.directory.is_relative_to(tmp_path)
    verdict_on(light, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize(("corpus", "case"), named(WHOLE))
def test_a_verdict_is_the_one_that_is_told(corpus: str, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    assert row_of(verdict_on(case, monkeypatch)) in page()
