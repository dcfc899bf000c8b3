"""docs/catalogue.md and docs/validity.md say of every task and of every submission what is so."""

import re
import subprocess
import sys
from pathlib import Path

from harness.runs.cases import read_batch
from harness.specs.catalog import Catalog

CHECKOUT = Path(__file__).parents[2]
CORPORA = ("honest", "adversarial")


def test_the_catalogue_lists_the_tasks_as_they_are():
    done = subprocess.run(
        [sys.executable, "scripts/catalogue.py", "--check"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_page_on_validity_has_a_row_for_every_submission_with_the_verdict_that_it_must_come_to():
    page = (CHECKOUT / "docs" / "validity.md").read_text()
    rows = dict(re.findall(r"^\| (\S+) \| \S+ \| (resolved|failed|invalid|unscored) \|", page, re.M))
    cases = [case for name in CORPORA for case in read_batch(Catalog(), CHECKOUT / "tests" / name, None)]
    expected = {(case.name, case.expected.verdict.value) for case in cases if case.expected and case.expected.verdict}
    assert not sorted(set(rows.items()) ^ expected), "docs/validity.md says something else; run make validity"
