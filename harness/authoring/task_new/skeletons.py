"""The files of a new task that its author fills in.

Each has TODO where something is still to be said; a check refuses a file that is left as it was laid out.
"""

import re
from collections.abc import Sequence
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from harness.authoring.task_check.fixing import CANARY
from harness.authoring.task_check.task_files import PROMPT_MARK
from harness.judging.languages.protocol import Language
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.test_results import Slug
from harness.specs.yaml_files import Inline, Quoted, yaml_text

LIMITS = "{steps: 100, wall_seconds: 3600, cost_usd: 5.0, arm_seconds: 120}"
PROMPT = f"""\
I need tests for {{behaviour}}.

{PROMPT_MARK} what matters, what is out of scope, and where you have been bitten. Name none of the
functions: finding them is part of the work. 200 to 4000 characters; this paragraph goes.
"""


def check_slug(name: str, what: str) -> None:
    """Check that something new may be called so; `what` is "a task", say.

    Raises:
        UserError: It may not.
    """
    try:
        TypeAdapter(Slug).validate_python(name)
    except ValidationError:
        raise UserError(f"{name!r} is no name of {what}: small letters, digits, '.' and '-'") from None


def task_yaml(
    task: str, repo: str, kind: str, title: str, track: str = "", limits: str = LIMITS, tags: Sequence[str] = ()
) -> str:
    """Return `task.yaml`, with a canary of its own; without `track` it is one of the core's."""
    head = {"schema_version": 1, "id": task, "repo": repo, **({"track": track} if track else {})}
    tail = yaml_text({"canary": Quoted(CANARY.format(uuid4())), "tags": Inline(tags)})
    return f"{yaml_text({**head, 'kind': kind, 'title': title})}limits: {limits}\nnetwork: none\n{tail}"


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


def fuzz_file(language: Language, task: str, neighbour: str, text: str) -> dict[str, str]:
    """Return the file that calls the code on drawn inputs, by its name.

    Args:
        language: One without a skeleton has none.
        task: The task's id.
        neighbour: The path of a test file of the folder in which it will lie.
        text: What that file holds.
    """
    skeleton = language.fuzz
    if skeleton is None:
        return {}
    head = skeleton.head(neighbour, text) if skeleton.head else ""
    name = skeleton.file.format(task=re.sub(r"[^a-z0-9]+", "_", task))
    return {name: head + skeleton.text.replace("@TASK@", task)}


SUITES = {"a-thorough": Verdict.RESOLVED, "a-hasty": Verdict.FAILED}
"""Suites of one author; a second author's are b-thorough and b-hasty."""


def expectation(task: str, verdict: Verdict) -> str:
    """Return `expect.yaml` of an honest suite that is still to be written."""
    about = (
        "TODO: what its author set out to do, and what it leaves out; testwright task matrix --fix writes the rest"
    )
    return yaml_text({"schema_version": 1, "about": Quoted(about), "task": task, "verdict": verdict.value})
