"""What native agents print about themselves is counted, and never believed."""

import pytest

from harness.agents.native.events import summary
from harness.specs.native import EventFormat

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
