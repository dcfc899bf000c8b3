"""Shares of tasks, where runs know a task's repository differently."""

from harness.judging.languages.typescript.language import LANGUAGE
from harness.judging.languages.typescript.modules import SUFFIXES
from harness.judging.testing.readers import TITLED
from harness.results.statistics.estimates import means_of_tasks, rate_over_tasks


def test_a_task_of_two_runs_counts_once_whatever_each_says_of_its_repository() -> None:
    shares = [("a", "", 0.0), ("a", "u", 1.0), ("b", "v", 1.0), ("c", "v", 1.0)]
    values = means_of_tasks(shares)
    assert [(value.task, value.repository, value.value) for value in values] == [
        ("a", "u", 0.5),
        ("b", "v", 1.0),
        ("c", "v", 1.0),
    ]
    rate = rate_over_tasks(values)
    assert (round(rate.value, 3), rate.tasks, rate.repositories) == (0.833, 3, 2)


def test_every_suffix_of_typescript_has_tests_that_are_named_by_titles() -> None:
    assert set(TITLED) == set(LANGUAGE.suffixes) == set(SUFFIXES)
