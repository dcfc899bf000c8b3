"""The request as every agent gets it, with the limits that another framework enforces and no others."""

from harness.agents.templates import request_text
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task, TaskLimits


def instruction(task: Task, scaffold: Scaffold, limits: TaskLimits, counts_answers: bool) -> str:
    """Return the request. It speaks of answers only where they are counted, and never of what they may cost.

    Args:
        task: Whose request it is.
        scaffold: Whose template it is.
        limits: Those that the framework enforces.
        counts_answers: The framework ends an agent's work after so many answers of its model.
    """
    told = task.model_copy(update={"file": task.file.model_copy(update={"limits": limits})})
    answers = f"{limits.steps} answers, each of them one call of a model, and "
    all_limits = f"You have {answers}{limits.wall_seconds} seconds; they may cost ${limits.cost_usd:g} in all."
    enforced = f"You have {answers if counts_answers else ''}{limits.wall_seconds} seconds."
    return request_text(told, scaffold).replace(all_limits, enforced)
