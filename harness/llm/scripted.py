"""A model that gives scripted messages: for tests, dry runs and hostile fixtures."""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from harness.llm.protocol import Completion, Message, Role, StopReason, Tool, ToolCall
from harness.specs.errors import ProviderError
from harness.specs.loading import FileModel, load_yaml
from harness.specs.usage import Usage


class ScriptedMessage(BaseModel):
    """What the model says, and the commands that it calls the tool `bash` with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = ""
    commands: tuple[str, ...] = ()


class Script(FileModel):
    """The file of `-m scripted:PATH`."""

    messages: tuple[ScriptedMessage, ...] = Field(min_length=1)


class ScriptedModel:
    """Gives the same completions in the same order whatever it is asked; then raises ProviderError."""

    def __init__(self, completions: Sequence[Completion], name: str = "scripted") -> None:
        self.name = name
        self._completions = iter(completions)

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedModel":
        """Raises UserError naming file and line."""
        script = load_yaml(path, Script)
        return cls([say(message.text, *message.commands) for message in script.messages], name=f"scripted:{path}")

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:  # noqa: ARG002
        completion = next(self._completions, None)
        if completion is None:
            raise ProviderError("the script ends here")
        return completion


def say(text: str, *commands: str, usage: Usage | None = None) -> Completion:
    """A completion with a call of the tool `bash` for each command. Without `usage` one call that cost nothing."""
    calls = tuple(
        ToolCall(id=f"call-{number}", name="bash", arguments=json.dumps({"command": command}))
        for number, command in enumerate(commands, start=1)
    )
    return Completion(
        message=Message(role=Role.ASSISTANT, content=text, tool_calls=calls),
        usage=usage or Usage(calls=1),
        stop=StopReason.TOOL_CALLS if calls else StopReason.END,
    )
