"""Trajectories in the Agent Trajectory Interchange Format (ATIF) of the Harbor framework, a file for each trial.

The form is version 1.7: harbor's package has its models (`harbor.models.trajectories`). A step is a message; what a
tool gave back is the observation of the step that called it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from harness import __version__
from harness.agents.trajectory import EndRecord, FaultRecord, HeaderRecord, ObservationRecord, Record
from harness.models.gateway.records import PromptRecord
from harness.models.protocol import Message, MessageRole, ToolCall
from harness.models.replay import MessageRecord
from harness.results.activity.trials import trajectory_of
from harness.results.report.facts import facts
from harness.results.report.figures import counted
from harness.results.report.tables import console
from harness.results.rows import TrialRow
from harness.results.run_rows import RunRows
from harness.runs.records import write_whole
from harness.specs.errors import UserError
from harness.specs.usage import NO_USAGE, Usage

_VERSION = "ATIF-v1.7"
_SUBAGENTS = (
    "Conversations of subagents are embedded. Which call began which of them isn't recorded, so that no step "
    "refers to them."
)
_Json = dict[str, Any]


def export_atif(runs: Sequence[RunRows], directory: Path, as_json: bool) -> int:
    """Write `RUN/TASK/SCAFFOLD/MODEL/ATTEMPT.json` for each trial with a message, and say what was written.

    See `Exporter`.
    """
    written, left_out = [], []
    for run in runs:
        name = run.directory.resolve().name
        for row in run.trials:
            told = atif_trajectory(run, row, trajectory_of(run.directory, row))
            if told is None:
                left_out.append(f"{name}/{row.trial}")
                continue
            _write(directory / name / f"{row.trial}.json", told)
            written.append(f"{name}/{row.trial}.json")
    if as_json:
        print(json.dumps({"directory": str(directory), "files": written, "without_a_message": left_out}, indent=2))
    else:
        more = f"; {counted(len(left_out), 'trial')} without a message left out" if left_out else ""
        console().print(f"{directory}: {counted(len(written), 'file')}{more}", markup=False, soft_wrap=True)
    return 0


def atif_trajectory(run: RunRows, row: TrialRow, records: Sequence[Record]) -> _Json | None:
    """Return one trial as plain data; None where its trajectory has no message. Pure."""
    names = list(dict.fromkeys(each.conversation for each in records if isinstance(each, MessageRecord)))
    if not names:
        return None
    first, *others = names
    told = {
        **_conversation(row, records, first),
        "session_id": f"{run.file.id}/{row.trial}" if run.file else row.trial,
        "trajectory_id": row.trial,
        "final_metrics": _final(row, records),
        "extra": _facts(row, records),
    }
    if others:
        embedded = [{**_conversation(row, records, name), "trajectory_id": f"{row.trial}#{name}"} for name in others]
        told |= {"subagent_trajectories": embedded, "notes": _SUBAGENTS}
    return told


def _conversation(row: TrialRow, records: Sequence[Record], name: str) -> _Json:
    steps = list(_steps(records, name))
    return {"schema_version": _VERSION, "agent": _agent(row, records, name), "steps": _numbered(steps)}


def _agent(row: TrialRow, records: Sequence[Record], name: str) -> _Json:
    header = next((each for each in records if isinstance(each, HeaderRecord)), None)
    prompts = [each for each in records if isinstance(each, PromptRecord) and each.conversation == name]
    made: _Json = {"name": row.scaffold, "version": header.scaffold_version if header else "unknown"}
    if row.model:
        made["model_name"] = row.model
    if prompts:
        made["extra"] = {"tools": list(prompts[-1].tools), "system_prompt_sha256": [it.sha256 for it in prompts]}
    return made


def _steps(records: Sequence[Record], name: str) -> Iterator[_Json]:
    """Yield the messages of one conversation in order, without those of tools that belong to an earlier one."""
    calling: dict[str, _Json] = {}
    last: _Json | None = None
    speaking = ""
    for record in records:
        if isinstance(record, MessageRecord):
            speaking = record.conversation
        if isinstance(record, ObservationRecord) and last is not None and speaking == name:
            last.setdefault("extra", {}).setdefault("commands", []).append(_command(record))
        if not isinstance(record, MessageRecord) or record.conversation != name:
            continue
        message = record.message
        if message.role is MessageRole.TOOL and (step := calling.get(message.tool_call_id, last)) is not None:
            result: _Json = {"content": message.content}
            if message.tool_call_id in _call_ids(step):
                result["source_call_id"] = message.tool_call_id
            step.setdefault("observation", {"results": []})["results"].append(result)
            continue
        step = _step(record)
        if message.role is MessageRole.ASSISTANT:
            last = step
            calling |= dict.fromkeys(_call_ids(step), step)
        yield step


def _step(record: MessageRecord) -> _Json:
    message = record.message
    sources = {
        MessageRole.ASSISTANT: "agent",
        MessageRole.USER: "user",
        MessageRole.SYSTEM: "system",
        MessageRole.TOOL: "system",
    }
    step: _Json = {"timestamp": record.time.isoformat(), "source": sources[message.role], "message": message.content}
    if message.role is not MessageRole.ASSISTANT:
        return step
    if thoughts := _thoughts(message):
        step["reasoning_content"] = thoughts
    if message.tool_calls:
        step["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
    if record.usage:
        step |= {"metrics": _metrics(record.usage), "llm_call_count": max(1, record.usage.calls)}
    if record.stop:
        step["extra"] = {"stop": record.stop.value}
    return step


def _numbered(steps: Iterable[_Json]) -> list[_Json]:
    return [{"step_id": number, **step} for number, step in enumerate(steps, start=1)]


def _call_ids(step: Mapping[str, Any]) -> list[str]:
    return [call["tool_call_id"] for call in step.get("tool_calls", ())]


def _tool_call(call: ToolCall) -> _Json:
    """Return a tool call; arguments that are no JSON object stay text."""
    try:
        arguments = from_json(call.arguments, allow_inf_nan=False)
    except ValueError:
        arguments = None
    made: _Json = {"tool_call_id": call.id, "function_name": call.name}
    if isinstance(arguments, dict):
        return {**made, "arguments": arguments}
    return {**made, "arguments": {}, "extra": {"text": call.arguments, "problem": "not a JSON object"}}


def _thoughts(message: Message) -> str:
    """Return the text of thinking blocks, as far as a provider shows it."""
    texts = [block.get("thinking") or (block.get("text") if block.get("thought") else "") for block in message.signed]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _command(record: ObservationRecord) -> _Json:
    kept = {"command", "exit_status", "seconds", "output_bytes", "truncated", "timed_out"}
    return record.model_dump(mode="json", include=kept)


def _metrics(usage: Usage) -> _Json:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "cached_tokens": usage.cache_read,
        **({"cost_usd": usage.cost_usd} if usage.cost_usd is not None else {}),
        "extra": {"reasoning_tokens": usage.reasoning, "cache_write_tokens": usage.cache_write},
    }


def _final(row: TrialRow, records: Sequence[Record]) -> _Json:
    """Return the final metrics of all conversations; steps are those of the first."""
    messages = [each for each in records if isinstance(each, MessageRecord | FaultRecord)]
    usage = sum((each.usage for each in messages if each.usage), start=NO_USAGE)
    return {
        "total_prompt_tokens": usage.input,
        "total_completion_tokens": usage.output,
        "total_cached_tokens": usage.cache_read,
        **({"total_cost_usd": usage.cost_usd} if usage.cost_usd is not None else {}),
        "extra": {"agent_seconds": row.agent_seconds, "waiting_seconds": row.waiting_seconds},
    }


def _facts(row: TrialRow, records: Sequence[Record]) -> _Json:
    """Return what the format has no place for."""
    others = [
        each.model_dump(mode="json")
        for each in records
        if not isinstance(each, MessageRecord | ObservationRecord | PromptRecord | HeaderRecord | EndRecord)
    ]
    return {
        "testwright": __version__,
        "task": row.task,
        "attempt": row.attempt,
        "verdict": facts(row.verdict),
        "reasons": [reason.code.value for reason in row.reasons],
        "ending": row.ending or None,
        "ending_message": row.ending_message or None,
        "records": others,
    }


def _write(path: Path, told: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(told) + "\n")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
