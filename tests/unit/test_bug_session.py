"""The recorded session of docs/bug.md is one of the task as it is: the same request, the same fault."""

import json
from pathlib import Path

from harness.models.protocol import MessageRole
from harness.models.replay import read_messages
from harness.plugins.bug.spans import Span, parse_spans
from harness.specs.catalog import Catalog

CHECKOUT = Path(__file__).parents[2]
SESSION = CHECKOUT / "scripts" / "bug-trajectory.jsonl"


def test_the_session_was_asked_for_what_the_task_asks_for():
    task = Catalog().task("itsdangerous-clock-ahead")
    messages = [record.message for record in read_messages(SESSION)]
    assert task.prompt.strip() in messages[1].content
    commands = "\n".join(
        json.loads(call.arguments)["command"]
        for message in messages
        if message.role is MessageRole.ASSISTANT
        for call in message.tool_calls
    )
    named = commands.partition("printf -- '")[2].partition(r"\n'")[0]
    assert parse_spans(named.encode()) == (Span("src/itsdangerous/timed.py", 152, 152),)
    removed = [line for line in task.patch("fix.patch").decode().splitlines() if line.startswith("-  ")]
    assert all(line[1:].strip().removesuffix(":").removeprefix("if ") in commands for line in removed)
