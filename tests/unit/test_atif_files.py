"""`report --format atif`: what it writes is valid by the published schema, and by what its models check besides."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.agents.trajectory import (
    EgressRecord,
    Ending,
    EndRecord,
    FaultRecord,
    HeaderRecord,
    ObservationRecord,
    Trajectory,
)
from harness.models.protocol import Message, MessageRole, StopReason, ToolCall
from harness.models.replay import MessageRecord
from harness.results.report.exporting import export_runs
from harness.results.run_rows import load_rows
from harness.specs.errors import ProviderFault, UserError
from harness.specs.usage import Usage
from tests.support.command import typed_beside
from tests.support.run_folder import begun, judged, run_folder, worked

SAMPLE = Path(__file__).parents[2] / "docs" / "sample-run"
SCHEMA = json.loads((Path(__file__).parents[1] / "fixtures" / "atif" / "trajectory.schema.json").read_text())
OF_AGENTS = {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}


def check(told: dict[str, Any]) -> None:
    """The schema, and what the models' own validators refuse beyond it. Raises."""
    jsonschema.validate(told, SCHEMA, jsonschema.Draft202012Validator)
    assert [step["step_id"] for step in told["steps"]] == list(range(1, len(told["steps"]) + 1))
    for step in told["steps"]:
        datetime.fromisoformat(step["timestamp"])
        assert step["source"] == "agent" or not OF_AGENTS & set(step)
        asked = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        results = step.get("observation", {"results": ()})["results"]
        assert {result["source_call_id"] for result in results if "source_call_id" in result} <= asked
    inner = told.get("subagent_trajectories", [])
    assert len({each["trajectory_id"] for each in inner}) == len(inner)
    for each in inner:
        check(each)


def written(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.rglob("*.json")):
        yield json.loads(path.read_text(), parse_constant=pytest.fail)


def call(number: str, arguments: str) -> ToolCall:
    return ToolCall(id=number, name="bash", arguments=arguments)


def answer(step: int, *calls: ToolCall, conversation: str = "", thought: str = "") -> MessageRecord:
    signed = ({"type": "thinking", "thinking": thought, "signature": "x"},) if thought else ()
    message = Message(role=MessageRole.ASSISTANT, content="so", tool_calls=calls, signed=signed)
    usage = Usage(calls=1, input=100, output=10, reasoning=4, cache_read=60, cost_usd=0.5)
    return MessageRecord(step=step, conversation=conversation, message=message, usage=usage, stop=StopReason.END)


def told(number: str, text: str, conversation: str = "") -> MessageRecord:
    message = Message(role=MessageRole.TOOL, content=text, tool_call_id=number)
    return MessageRecord(step=1, conversation=conversation, message=message)


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A trial with subagents, late and unknown answers of tools, arguments that are no object, and a fault."""
    store = judged(worked(begun(run_folder(tmp_path / "run"), "sums", "claude-code", "openai/a")))
    ran = ObservationRecord(
        step=1, command="ls", exit_status=2, seconds=0.1, output_bytes=3, truncated=0, timed_out=False
    )
    with Trajectory(store.trajectory) as file:
        file.add(HeaderRecord(scaffold="claude-code", scaffold_version="9", model="openai/a", task="sums"))
        file.add(told("before", "who asked?"))
        file.add(MessageRecord(step=0, message=Message(role=MessageRole.USER, content="please \ud7ff\x1b[31m")))
        file.add(answer(1, call("1", '{"command": "ls"}'), call("2", "[1]"), call("3", '{"a": NaN}'), thought="why"))
        file.add(ran)
        file.add(FaultRecord(step=1, fault=ProviderFault.SERVER, message="503", usage=Usage(calls=1, input=7)))
        file.add(answer(2, conversation="sub"))
        file.add(ran.model_copy(update={"command": "inner"}))
        file.add(told("x", "of the subagent", conversation="sub"))
        file.add(answer(3))
        file.add(told("2", "late"))
        file.add(told("nobody", "unknown"))
        file.add(EgressRecord(allowed=("r.test:443",)))
        file.add(EndRecord(ending=Ending.SUBMITTED, steps=3, usage=Usage()))
    return tmp_path / "run"


@pytest.mark.long
async def test_each_trial_of_the_sample_is_a_valid_file(tmp_path: Path) -> None:
    done = await typed_beside("report", SAMPLE, "--format", "atif", "--export", "out", cwd=tmp_path)
    assert (done.status, done.output) == (0, "out: 9 files; 4 trials without a message left out\n")
    found = list(written(tmp_path / "out"))
    assert len(found) == 9
    for each in found:
        check(each)
    native = tmp_path / "out" / "sample-run" / "aiosmtpd-proxy-tlv" / "claude-code" / "scripted-gpt.yaml" / "1.json"
    first = json.loads(native.read_text())
    row = next(row for row in load_rows(SAMPLE).trials if row.trial == first["trajectory_id"])
    assert row.usage
    assert first["final_metrics"]["total_prompt_tokens"] == row.usage.agent.input
    assert first["final_metrics"]["total_cost_usd"] == pytest.approx(row.usage.agent.cost_usd)
    assert (first["agent"]["name"], first["extra"]["verdict"]) == ("claude-code", "resolved")
    assert sum(step["source"] == "agent" for step in first["steps"]) == row.steps


def test_answers_of_tools_stand_with_the_step_that_asked(odd: Path, tmp_path: Path) -> None:
    assert export_runs([load_rows(odd)], tmp_path / "out", "atif", as_json=True) == 0
    [whole] = written(tmp_path / "out")
    check(whole)
    unasked, request, asking, last = whole["steps"]
    assert (unasked["source"], unasked["message"], request["source"]) == ("system", "who asked?", "user")
    assert request["message"] == "please \ud7ff\x1b[31m"
    assert asking["observation"]["results"] == [{"content": "late", "source_call_id": "2"}]
    assert last["observation"]["results"] == [{"content": "unknown"}]
    assert asking["reasoning_content"] == "why"
    assert [each["exit_status"] for each in asking["extra"]["commands"]] == [2], "the other one is the subagent's"
    assert [each["arguments"] for each in asking["tool_calls"]] == [{"command": "ls"}, {}, {}]
    assert asking["tool_calls"][2]["extra"]["text"] == '{"a": NaN}'
    assert asking["metrics"]["cached_tokens"] == 60
    [inner] = whole["subagent_trajectories"]
    assert inner["trajectory_id"] == f"{whole['trajectory_id']}#sub"
    assert inner["steps"][0]["observation"]["results"] == [{"content": "of the subagent"}]
    assert [each["command"] for each in inner["steps"][0]["extra"]["commands"]] == ["inner"]
    assert whole["final_metrics"]["total_prompt_tokens"] == 307
    assert [record["kind"] for record in whole["extra"]["records"]] == ["fault", "egress"]


def test_what_the_schema_refuses_is_refused_here(odd: Path, tmp_path: Path) -> None:
    export_runs([load_rows(odd)], tmp_path / "out", "atif", as_json=True)
    [whole] = written(tmp_path / "out")
    for wrong in ({"schema_version": "ATIF-v0"}, {"steps": []}, {"surprise": 1}, {"agent": {"name": "a"}}):
        with pytest.raises(jsonschema.ValidationError):
            check({**whole, **wrong})


def test_runs_that_are_called_alike_are_refused(odd: Path, tmp_path: Path) -> None:
    rows = [load_rows(odd), load_rows(odd)]
    with pytest.raises(UserError, match="two runs are called 'run'; export each into a folder of its own"):
        export_runs(rows, tmp_path / "out", "atif", as_json=True)
    assert not (tmp_path / "out").exists()
