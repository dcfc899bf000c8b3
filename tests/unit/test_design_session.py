"""The recorded session of docs/design.md: its commands still do what they did, and its design is resolved."""

import asyncio
import json
import os
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from harness.judging.submission.extraction import Submission
from harness.judging.submission.new_files import new_text_patch
from harness.models.protocol import MessageRole
from harness.models.replay import read_messages
from harness.plugins.design.images import agent_files
from harness.plugins.design.task import CASES
from harness.specs.reasons import Verdict
from tests.support.designs import judged, shipped

SESSION = Path(__file__).parents[2] / "scripts" / "design-trajectory.jsonl"
TASK = "shopping-cart"


@pytest.mark.dear("plays a design on some fifty implementations, in this process")
def test_its_commands_print_what_was_recorded_and_its_design_is_resolved(tmp_path):
    task = shipped(TASK)
    for name, data in agent_files(task).items():
        (tmp_path / "app" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "app" / name).write_bytes(data)
    subprocess.run(
        "git init -q && git add -A && git -c user.name=a -c user.email=a@x.org commit -qm a",
        shell=True,
        cwd=tmp_path / "app",
        check=True,
    )
    environment = {**os.environ, "TESTWRIGHT_AGENT_LOGS": str(tmp_path / "logs"), "LC_ALL": "C"}
    messages = [record.message for record in read_messages(SESSION)]
    assert task.prompt.strip() in messages[1].content
    for said, heard in pairwise(messages):
        if said.role is not MessageRole.ASSISTANT:
            continue
        [call] = said.tool_calls
        command = ["bash", "-c", json.loads(call.arguments)["command"]]
        done = subprocess.run(
            command,
            cwd=tmp_path / "app",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert heard.content.partition("Output:\n")[2].strip() == done.stdout.strip()
    patch = new_text_patch(CASES, (tmp_path / "app" / CASES).read_bytes())
    manifest = (tmp_path / "logs" / "manifest.yaml").read_bytes()
    (tmp_path / "judged").mkdir()
    record = asyncio.run(judged(task, Submission(patch, manifest), tmp_path / "judged"))
    assert record.verdict is Verdict.RESOLVED
