"""A scripted model for any agent: it asks for one command by whichever shell tool it is offered, then it is done."""

import json
from collections.abc import Iterator
from typing import Any

from harness.llm.scripted_provider.scenario import Call, Reply
from harness.llm.scripted_provider.server import Received

_SHELLS = ("bash", "shell", "run_shell_command", "exec_command", "shell_command", "execute", "terminal")
_COMMANDS = ("command", "cmd")


class ToolCaller:
    """Answers requests as a function. `calls` counts the commands that it has asked for."""

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
    """A call of the request's shell tool, whichever dialect it is in; None where it offers none."""
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
    """Name and JSON Schema of each tool, as the four dialects say them."""
    for tool in body.get("tools") or ():
        for one in tool.get("functionDeclarations") or (tool.get("function") or tool,):
            schemas = (one.get(key) for key in ("parameters", "parametersJsonSchema", "input_schema"))
            schema: Any = next(filter(None, schemas), {})
            if one.get("name") and isinstance(schema, dict):
                yield one["name"], _lowered(schema)


def _lowered(schema: dict[str, Any]) -> dict[str, Any]:
    """Google's types are in capitals."""
    return json.loads(json.dumps(schema).replace('"ARRAY"', '"array"')) if "OBJECT" in str(schema) else schema


def _filler(schema: dict[str, Any]) -> Any:
    return {"boolean": False, "integer": 1, "number": 1}.get(str(schema.get("type")).lower(), "check")
