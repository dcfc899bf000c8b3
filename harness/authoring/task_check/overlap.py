"""What the reference's kill matrix says about covers.yaml. Pure; nothing is run for it."""

from collections.abc import Iterable, Iterator, Mapping

from harness.authoring.task_check.subject import Subject
from harness.specs.problem import Problem, Severity
from harness.verify.rubric_check import CriterionResult

Kills = Mapping[str, frozenset[str]]
"""Probe -> the reference's tests that fail under it."""


def overlap_problems(subject: Subject, criteria: Iterable[CriterionResult]) -> list[Problem]:
    """For each criterion that probes decide, from one judging of the reference."""
    found: list[Problem] = []
    for result in criteria:
        if result.killed_by:
            kills = {probe: frozenset(tests) for probe, tests in result.killed_by.items()}
            found += _of_criterion(subject, result.id, kills)
    return found


def _of_criterion(subject: Subject, criterion: str, kills: Kills) -> Iterator[Problem]:
    given = {str(test) for test, criteria in subject.task.covers.items() if criterion in criteria}
    where = "reference/covers.yaml"
    for probe, tests in kills.items():
        if not tests:
            yield Problem(where=subject.at(f"probes/{probe}.patch"), message="no test of the reference notices it")
    noticed = frozenset[str]().union(*kills.values())
    for test in sorted(given - noticed):
        words = f"{test} is said to be for criterion {criterion}, and notices none of its probes"
        yield Problem(where=subject.at(where, test.rpartition("::")[2]), message=words)
    others = {probe: tests - given for probe, tests in kills.items()}
    overlapping = given and all(others.values())
    declared = criterion in subject.task.overlaps
    if overlapping and not declared:
        named = ", ".join(sorted(frozenset[str]().union(*others.values())))
        words = (
            f"without the tests for criterion {criterion} each of its probes is still noticed (by {named}); "
            f"give them the criterion too, or say why under 'overlaps'"
        )
        yield Problem(where=subject.at(where), message=words)
    if declared and not overlapping:
        words = f"overlaps: criterion {criterion} has none; take it out"
        yield Problem(where=subject.at(where, "overlaps"), message=words, severity=Severity.WARNING)
