"""Running the parts of a check one after another, with how long each took and what it found."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping

from harness.authoring.task_check.remembering import Memory
from harness.authoring.task_check.subject import Subject, as_problem
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.problem import Problem, Severity
from harness.specs.task_facts import CheckedStep, StepId, StepOutcome

Part = Callable[[Subject], Awaitable[list[Problem]]]
Watch = Callable[[str, str], None]
"""Told a task and the step of its check that begins; an empty step at its end."""


async def run_parts(
    subject: Subject, parts: Mapping[StepId, Part], watch: Watch, memory: Memory | None = None
) -> list[CheckedStep]:
    """Each part by itself: what one finds doesn't keep the others from looking. One that `memory` has isn't run."""
    steps = []
    for step, part in parts.items():
        if known := memory and memory.recall(step):
            steps.append(known)
            continue
        watch(subject.task.id, step.label)
        began = time.monotonic()
        try:
            problems: list[Problem] = await part(subject)
        except (UserError, OSError, InfrastructureError) as error:
            problems = [as_problem(subject.catalog, error, subject.at(subject.description))]
        steps.append(_step(step, time.monotonic() - began, problems, subject))
        if memory:
            memory.keep(steps[-1])
    return steps


def _step(step: StepId, seconds: float, problems: Iterable[Problem], subject: Subject) -> CheckedStep:
    found = tuple(dict.fromkeys(problems))
    failed = any(problem.severity is Severity.ERROR for problem in found)
    remarks = tuple(subject.remarks)
    subject.remarks.clear()
    outcome = StepOutcome.FAILED if failed else StepOutcome.PASSED
    return CheckedStep(id=step, outcome=outcome, seconds=round(seconds, 1), problems=found, remarks=remarks)


def failed_step(step: StepId, *problems: Problem) -> CheckedStep:
    return CheckedStep(id=step, outcome=StepOutcome.FAILED, problems=problems)
