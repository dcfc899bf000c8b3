"""Running the parts of a check one after another, with how long each took and what it found."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping

from harness.authoring.task_check.subject import Subject, as_problem
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.problem import Problem, Severity
from harness.specs.task_facts import CheckedStep, StepOutcome

Part = Callable[[Subject], Awaitable[list[Problem]]]
Watch = Callable[[str, str], None]
"""Told a task and the part of its check that begins; an empty part at its end."""


async def run_parts(subject: Subject, parts: Mapping[str, Part], watch: Watch) -> list[CheckedStep]:
    """Each part by itself: what one finds doesn't keep the others from looking."""
    steps = []
    for name, part in parts.items():
        watch(subject.task.id, name)
        began = time.monotonic()
        try:
            problems: list[Problem] = await part(subject)
        except (UserError, OSError, InfrastructureError) as error:
            problems = [as_problem(subject.catalog, error, subject.at(subject.description))]
        steps.append(_step(name, time.monotonic() - began, problems, subject))
    return steps


def _step(name: str, seconds: float, problems: Iterable[Problem], subject: Subject) -> CheckedStep:
    found = tuple(dict.fromkeys(problems))
    failed = any(problem.severity is Severity.ERROR for problem in found)
    remarks = tuple(subject.remarks)
    subject.remarks.clear()
    outcome = StepOutcome.FAILED if failed else StepOutcome.PASSED
    return CheckedStep(name=name, outcome=outcome, seconds=round(seconds, 1), problems=found, remarks=remarks)


def failed_step(name: str, problem: Problem) -> CheckedStep:
    return CheckedStep(name=name, outcome=StepOutcome.FAILED, problems=(problem,))
