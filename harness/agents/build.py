"""From a scaffold's data to the agent that it describes."""

from typing import assert_never

from harness.agents.controls import Nop, Oracle
from harness.agents.mini import Mini
from harness.agents.protocol import Agent
from harness.llm.protocol import Model
from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold, ScaffoldKind
from harness.specs.task import Task


def build_agent(scaffold: Scaffold, task: Task, model: Model | None) -> Agent:
    """Raises UserError for a scaffold that can't work: without its model, with broken templates, of unknown kind."""
    match scaffold.kind:
        case ScaffoldKind.LOOP:
            if model is None:
                raise UserError(f"scaffold {scaffold.name!r} needs a model; name one with -m PROVIDER/MODEL")
            return Mini(task, scaffold, model)
        case ScaffoldKind.CONTROL:
            return _control(scaffold, task)
        case ScaffoldKind.CLI:
            raise UserError(f"scaffold {scaffold.name!r}: this version runs the kinds loop and control, not cli")
    assert_never(scaffold.kind)


def _control(scaffold: Scaffold, task: Task) -> Agent:
    match scaffold.name:
        case "oracle":
            return Oracle(task, scaffold)
        case "nop":
            return Nop(task, scaffold)
    raise UserError(f"{scaffold.directory / 'scaffold.yaml'}: no control {scaffold.name!r}; there are oracle and nop")
