"""The files of a new task that its author fills in."""

from uuid import uuid4

from harness.authoring.task_check.fixing import CANARY
from harness.specs.yaml_files import Inline, Quoted, yaml_text

PROMPT = """\
I need tests for {behaviour}.

TODO: say in a colleague's words what matters, what is out of scope, and where you have been bitten. Name none of the
functions: finding them is part of the work. 200 to 4000 characters; this paragraph goes.
"""


def task_yaml(task: str, repo: str, kind: str, title: str) -> str:
    """Return `task.yaml`, with a canary of its own."""
    limits = "limits: {steps: 100, wall_seconds: 3600, cost_usd: 5.0, arm_seconds: 120}\n"
    head = yaml_text({"schema_version": 1, "id": task, "repo": repo, "kind": kind, "title": title})
    canary = yaml_text({"canary": Quoted(CANARY.format(uuid4())), "tags": Inline()})
    return f"{head}{limits}network: none\n{canary}"


def rubric_yaml(task: str, behaviour: str) -> str:
    """Return a rubric of one criterion for each kind of grading; what they say is the author's to write."""
    criteria = [
        {
            "id": Quoted("1.1"),
            "axis": 1,
            "importance": "must",
            "statement": Quoted(f"At least one test finds that TODO ({behaviour})."),
            "graded_by": Inline(["probe"]),
        },
        {
            "id": Quoted("2.1"),
            "axis": 2,
            "importance": "nice",
            "statement": Quoted("The tests are in a file of TODO."),
            "graded_by": Inline(["judge"]),
        },
    ]
    return yaml_text({"schema_version": 1, "task": task, "criteria": criteria})


def prompt(behaviour: str) -> str:
    """Return the first text of a new task's prompt."""
    return PROMPT.format(behaviour=behaviour.rstrip("."))
