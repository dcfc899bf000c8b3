"""docs/catalogue.md and docs/validity.md say of every task and of every submission what is so."""

import re
import sys
from pathlib import Path

import pytest

from harness.results.injection import KnownCase, error_rates
from harness.specs.reasons import Verdict
from scripts import catalogue, validity
from tests.support.corpora import submissions

CHECKOUT = Path(__file__).parents[2]
CORPORA = ("honest", "adversarial")


def test_the_catalogue_lists_the_tasks_as_they_are(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["catalogue.py", "--check"])
    assert catalogue.main() == 0, capsys.readouterr().err


def verdicts_told() -> dict[str, str]:
    """Submission -> verdict, as the page on validity has it."""
    page = (CHECKOUT / "docs" / "validity.md").read_text()
    return dict(re.findall(r"^\| (\S+) \| \S+ \| (resolved|failed|invalid|unscored) \|", page, re.M))


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_figures_on_validity_are_those_of_its_rows_each_with_its_interval(corpus):
    told = verdicts_told()
    answers = [
        KnownCase(case.task.repo.language, validity.is_sufficient(case), told[case.name] == Verdict.RESOLVED)
        for case in submissions(corpus)
    ]
    lines = validity.error_lines(error_rates(answers))
    assert all(line.count("interval") >= 1 for line in lines if " of " in line)
    assert "\n".join(lines) in (CHECKOUT / "docs" / "validity.md").read_text(), "run make validity"


def test_the_page_on_validity_has_a_row_for_every_submission_with_the_verdict_that_it_must_come_to():
    cases = [case for name in CORPORA for case in submissions(name)]
    expected = {(case.name, case.expected.verdict.value) for case in cases if case.expected and case.expected.verdict}
    assert not sorted(set(verdicts_told().items()) ^ expected), (
        "docs/validity.md says something else; run make validity"
    )


def test_the_samples_of_make_test_show_each_reason_and_in_each_language_each_verdict():
    corpora = {name: submissions(name) for name in CORPORA}

    def shown(some):
        expected = [(case.task.repo.language, case.expected) for cases in some.values() for case in cases]
        expected = [(language, item) for language, item in expected if item]
        verdicts = {
            (language if item.verdict is not Verdict.UNSCORED else None, item.verdict) for language, item in expected
        }
        decisive = {
            (language, code)
            for language, item in expected
            for code in item.codes
            if code in validity.OF_EACH_LANGUAGE
        }
        return verdicts, decisive, {code for _, item in expected for code in (*item.codes, *item.notes)}

    samples = validity.sample(corpora)
    assert shown(samples) == shown(corpora)
    assert all(len(samples[name]) < 0.6 * len(cases) for name, cases in corpora.items())
