"""The scripted provider as a stand-in for a real one: played in this process, or served on loopback."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.models.protocol import Completion, Message, MessageRole, StopReason, Tool
from harness.plugins.scripted_provider.failures import ErrorAnswer
from harness.plugins.scripted_provider.scenario import Call, Reply, Scenario, Script, ScriptEnded, Stop
from harness.plugins.scripted_provider.server import Received, serve
from harness.results.report.tables import printable
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.usage import Usage
from harness.specs.yaml_files import load_yaml


class PlayedModel:
    """A model played from a scenario at no cost. Only texts, stops and errors can be played this way.

    Raises ProviderError for a reply that is an error, and where no rule has one left.
    """

    def __init__(self, scenario: Scenario, name: str) -> None:
        self.name = name
        self._script = Script(scenario, name)

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:  # noqa: ARG002
        try:
            reply = self._script.reply_to("\n".join(message.content for message in messages))
        except ScriptEnded as ended:
            raise ProviderError(str(ended), ProviderFault.ENDED) from None
        if reply.error:
            raise ProviderError(f"{self.name}: {reply.error.kind}", ProviderFault.ENDED)
        said = Message(role=MessageRole.ASSISTANT, content=reply.text)
        return Completion(message=said, usage=Usage(calls=1), stop=_stop(reply.stop))


def _stop(stop: Stop | None) -> StopReason:
    if stop is None:
        return StopReason.END
    return StopReason.LENGTH if stop is Stop.LENGTH else StopReason.REFUSAL


_WORDS_CHARS = 200


def serve_and_tell(path: Path, port: int) -> int:
    """See `StandIn`: a scenario until Ctrl-C or SIGTERM, with a line for each request."""
    asyncio.run(_serve_until_told(load_yaml(path, Scenario), str(path), port))
    return 0


async def _serve_until_told(scenario: Scenario, name: str, port: int) -> None:
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    async with serve(scenario, port, name, _tell) as provider:
        print(f"{name} is played at {provider.url}; Ctrl-C ends it")
        print(f"  OPENAI_BASE_URL={provider.url}/v1 OPENAI_API_KEY=any")
        print(f"  ANTHROPIC_BASE_URL={provider.url} ANTHROPIC_API_KEY=any", flush=True)
        await told.wait()


def _tell(received: Received, answer: Reply | ErrorAnswer) -> None:
    print(f"{received.method} {printable(received.path)} -> {_in_words(answer)}", flush=True)


def _in_words(answer: Reply | ErrorAnswer) -> str:
    if isinstance(answer, ErrorAnswer):
        return printable(f"{answer.status} {answer.body['error']['message']}", _WORDS_CHARS)
    parts = [
        f"{answer.error.kind} error" if answer.error else "",
        answer.fault or "",
        answer.stop or "",
        "a body of its own" if answer.body is not None else "",
        f"text of {len(answer.text)} characters" if answer.text else "",
        f"{len(answer.calls)} tool calls" if answer.calls else "",
    ]
    return ", ".join(filter(None, parts)) or "an empty answer"


_SHELLS = ("bash", "shell", "run_shell_command", "exec_command", "shell_command", "execute", "terminal")
_COMMANDS = ("command", "cmd")


class ToolCaller:
    """A function that answers requests. `calls` counts the commands that it has asked for."""

    def __init__(self, command: str) -> None:
        self.calls = 0
        self._command = command

    def __call__(self, received: Received) -> Reply:
        call = shell_call(received.body, self._command) if self.calls == 0 else None
        if call is None:
            return Reply(text="All is done.")
        self.calls += 1
        return Reply(text="I run a command.", tool_calls=(call,))


def shell_call(body: Any, command: str) -> Call | None:
    """Return a call of the request's shell tool, whichever dialect it is in; None where it offers none."""
    offered = dict(_tools(body))
    for name in sorted(offered, key=lambda name: _rank(name)):
        schema = offered[name]
        properties = schema.get("properties") or {}
        key = next((key for key in _COMMANDS if key in properties), None)
        if key is None or _rank(name) == len(_SHELLS):
            continue
        is_list = properties[key].get("type") == "array"
        arguments: dict[str, Any] = {key: ["bash", "-c", command] if is_list else command}
        for required in schema.get("required") or ():
            arguments.setdefault(required, _filler(properties.get(required) or {}))
        return Call(name=name, arguments=arguments)
    return None


def _rank(name: str) -> int:
    return _SHELLS.index(name.lower()) if name.lower() in _SHELLS else len(_SHELLS)


def _tools(body: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and JSON Schema of each tool, as the four dialects say them."""
    for tool in body.get("tools") or ():
        for one in tool.get("functionDeclarations") or (tool.get("function") or tool,):
            schemas = (one.get(key) for key in ("parameters", "parametersJsonSchema", "input_schema"))
            schema: Any = next(filter(None, schemas), {})
            if one.get("name") and isinstance(schema, dict):
                yield one["name"], _lowered(schema)


def _lowered(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with its types in small letters: Google's are in capitals."""
    return json.loads(json.dumps(schema).replace('"ARRAY"', '"array"')) if "OBJECT" in str(schema) else schema


def _filler(schema: dict[str, Any]) -> Any:
    return {"boolean": False, "integer": 1, "number": 1}.get(str(schema.get("type")).lower(), "check")


@dataclass(frozen=True)
class _ServedCaller:
    """See `CommandAsker`."""

    url: str
    caller: ToolCaller

    @property
    def calls(self) -> int:
        return self.caller.calls


class ScriptedStandIn:
    """See `StandIn`."""

    def model(self, path: Path) -> PlayedModel:
        return PlayedModel(load_yaml(path, Scenario), str(path))

    @asynccontextmanager
    async def ask_for(self, command: str) -> AsyncIterator[_ServedCaller]:
        caller = ToolCaller(command)
        async with serve(caller) as provider:
            yield _ServedCaller(provider.url, caller)

    def serve_and_tell(self, path: Path, port: int) -> int:
        return serve_and_tell(path, port)


STAND_IN = ScriptedStandIn()
