"""What native agents print about themselves is counted, and never believed."""

import json

import pytest

from harness.agents.native.events import summary
from harness.agents.trajectory import AgentOutputRecord
from harness.specs.scaffold import EventFormat

CLAUDE = b"""{"type":"system","subtype":"init"}
{"type":"assistant","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","name":"Bash"}]}}
{"type":"result","is_error":true,"result":"API Error: 400"}
"""
CODEX = b"""{"type":"item.completed","item":{"type":"command_execution"}}
{"type":"item.completed","item":{"type":"agent_message"}}
{"type":"turn.failed","error":{"message":"stream disconnected"}}
"""
OPENCODE = b"""{"type":"tool_use","part":{"tool":"bash"}}
{"type":"error","error":{"name":"APIError","data":{"message":"bad"}}}
"""
GEMINI = b"""{"type":"tool_use","tool_name":"run_shell_command"}
{"type":"result","status":"error","error":{"message":"quota"}}
"""


@pytest.mark.parametrize(
    ("form", "printed", "tools", "error"),
    [
        ("claude-code", CLAUDE, {"Bash": 1}, "API Error: 400"),
        ("codex", CODEX, {"command_execution": 1}, "stream disconnected"),
        ("opencode", OPENCODE, {"bash": 1}, "bad"),
        ("gemini-cli", GEMINI, {"run_shell_command": 1}, "quota"),
        ("text", CLAUDE, {}, ""),
    ],
)
def test_tools_and_the_last_error_are_read(
    form: EventFormat, printed: bytes, tools: dict[str, int], error: str
) -> None:
    found = summary(form, printed)
    assert (found.tools, found.error) == (tools, error)
    assert sum(found.events.values()) == (0 if form == "text" else printed.count(b"\n"))


@pytest.mark.parametrize("form", ["claude-code", "codex", "opencode", "gemini-cli"])
def test_lines_that_are_no_events_are_left_out(form: EventFormat) -> None:
    odd = b'\xff{]\n[1]\n{"type":1}\n{"type":"assistant"}\n{"type":"item.completed","item":3}\n'
    deep = b'{"type":"error","error":7}\n' + b"[" * 100_000
    assert summary(form, odd + deep + b'\n{"type":"known"}').events["known"] == 1


CLAUDE_REFUSES = b"""{"type":"user","message":{"content":[{"type":"tool_result","content":"<tool_use_error>InputValidationError: Bash failed due to the following issue","is_error":true}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"<tool_use_error>Error: No such tool available: X</tool_use_error>","is_error":true}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"Exit code 1","is_error":true}]}}
{"type":"user","message":{"content":"plain"}}
"""  # noqa: E501  # as printed
OPENCODE_REFUSES = b'{"type":"tool_use","part":{"tool":"invalid"}}\n{"type":"tool_use","part":{"tool":"bash"}}\n'
GEMINI_REFUSES = b"""{"type":"tool_result","status":"error","error":{"type":"invalid_tool_params","message":"m"}}
{"type":"tool_result","status":"error","error":{"type":"tool_not_registered","message":"m"}}
{"type":"tool_result","status":"error","error":{"type":"shell_execute_error","message":"m"}}
{"type":"tool_result","status":"success"}
"""


@pytest.mark.parametrize(
    ("form", "printed", "count"),
    [
        ("claude-code", CLAUDE_REFUSES, 2),
        ("claude-code", CLAUDE, 0),
        ("opencode", OPENCODE_REFUSES, 1),
        ("gemini-cli", GEMINI_REFUSES, 2),
        ("qwen-code", CLAUDE_REFUSES, None),
        ("codex", CODEX, None),
        ("text", b"", None),
    ],
)
def test_malformed_calls_are_counted_where_an_agent_tells_of_them(
    form: EventFormat, printed: bytes, count: int | None
) -> None:
    assert summary(form, printed).format_errors == count


@pytest.mark.parametrize("form", ["claude-code", "codex", "opencode", "gemini-cli"])
def test_names_that_no_file_can_hold_and_names_without_end_are_kept_in_part(form: EventFormat) -> None:
    """Whatever runs in the container can print lines like an agent's own."""
    lines = [{"type": "\ud800"}, {"type": "n" * 9_000}, *({"type": f"kind-{number}"} for number in range(150))]
    lines += [{"type": "error", "message": "a\ud800", "error": {"message": "a\ud800", "name": "a\ud800"}}]
    told = summary(form, "\n".join(json.dumps(line) for line in lines).encode())
    assert (len(told.events), told.events["\ufffd"], told.events["n" * 200]) == (101, 1, 1)
    assert told.events["others"] >= 52
    assert told.error == ("" if form == "claude-code" else "a\ufffd")
    output = AgentOutputRecord(
        exit_status=0,
        seconds=1,
        stdout_bytes=1,
        stderr_bytes=0,
        events=told.events,
        tools=told.tools,
        error=told.error,
    )
    assert output.model_dump_json()
