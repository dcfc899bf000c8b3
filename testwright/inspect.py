"""Tasks, scorer and sandbox for Inspect, which loads this module by its entry point.

Inspect calls what a package registers by the import name of the package, and `testwright/behaviour` is to work.
"""

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.agent import react
from inspect_ai.scorer import Scorer, accuracy, scorer, stderr
from inspect_ai.tool import bash
from inspect_ai.util import sandboxenv

from harness.plugins.frameworks.inspect_samples import chosen
from harness.plugins.frameworks.inspect_sandbox import SANDBOX, TestwrightSandbox
from harness.plugins.frameworks.inspect_scoring import score_with
from harness.specs.errors import UserError

sandboxenv(name=SANDBOX)(TestwrightSandbox)


@scorer(metrics=[accuracy(), stderr()])
def verdict(judge: str | None = None) -> Scorer:
    """Score 1 for a submission that is resolved and 0 for any other; one that can't be scored is an error.

    Args:
        judge: Model that judges what code can't decide, as in `testwright verify --judge`.
    """
    return score_with(judge)


@task
def behaviour(
    task: str | list[str] = "*", judge: str | None = None, catalog: str | None = None, engine: str = "auto"
) -> Task:
    """Have an agent write the tests that tasks of the track `behaviour` ask for.

    Args:
        task: Ids, globs or tags of tasks, as in `testwright run -t`.
        judge: Model that judges what code can't decide, as in `testwright verify --judge`.
        catalog: Folder of the catalog; the one of the package where none is named.
        engine: Where agent and tests run, as in `testwright run --sandbox`.
    """
    try:
        found = chosen([task] if isinstance(task, str) else task, "behaviour", catalog, engine)
    except UserError as error:
        raise PrerequisiteError(str(error)) from None  # what Inspect tells in one line
    return Task(
        dataset=found.samples,
        solver=react(tools=[bash(timeout=found.command_seconds)]),
        scorer=verdict(judge),
        turn_limit=found.steps,
        working_limit=found.seconds,
    )
