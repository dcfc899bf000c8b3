"""The request as every agent gets it, from one template: what is asked for, the rules, the manifest, the limits."""

from typing import Any

from harness.agents.templates import Templates
from harness.languages.registry import language_of
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task

REQUEST_VARIABLES = (
    "task_prompt",
    "is_whole_instruction",
    "workdir",
    "language",
    "id_form",
    "id_examples",
    "test_paths",
    "test_command",
    "steps",
    "wall_seconds",
    "cost_usd",
    "registries",
    "submit_command",
)


def request_values(task: Task, submit_command: str = "") -> dict[str, Any]:
    """The variables of the request's template. Without a command to submit with, an agent ends by stopping."""
    repo, limits = task.repo, task.file.limits
    ids = language_of(repo).ids
    return {
        "task_prompt": task.prompt,
        "is_whole_instruction": task.is_whole_instruction,
        "workdir": repo.workdir,
        "language": repo.language,
        "id_form": ids.words,
        "id_examples": ids.examples,
        "test_paths": repo.test_paths,
        "test_command": repo.test_command,
        "steps": limits.steps,
        "wall_seconds": limits.wall_seconds,
        "cost_usd": limits.cost_usd,
        "registries": [client.value for client in task.registries],
        "submit_command": submit_command,
    }


def request_text(task: Task, scaffold: Scaffold) -> str:
    """The request as plain text, for an agent that hands in by stopping. Raises UserError for a broken template."""
    return Templates(scaffold, {"request": REQUEST_VARIABLES}).render("request", **request_values(task))
