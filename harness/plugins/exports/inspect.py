"""Trials as logs that Inspect's viewer and data frames read: a file for each system of each run.

The form is version 2 of Inspect's eval log (inspect.aisi.org.uk/eval-logs.html). A sample is a task, an epoch one of
the attempts at it. A trial without a verdict has no score, and its problem as its error.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import __version__
from harness.agents.trajectory import HeaderRecord, Record
from harness.models.protocol import Message, MessageRole, ToolCall
from harness.models.replay import MessageRecord
from harness.results.activity.trials import trajectory_of
from harness.results.leaderboard import Standing, leaderboard
from harness.results.report.facts import facts
from harness.results.report.tables import console, printable
from harness.results.rows import TrialRow
from harness.results.run_rows import RunRows, by_track
from harness.runs.plan import slug
from harness.runs.records import write_whole
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.usage import Usage

_SCORER = "testwright"


def export_inspect(runs: Sequence[RunRows], directory: Path, as_json: bool) -> int:
    """Raises UserError where the folder can't be written. Says what was written."""
    written = {}
    for run in runs:
        tracks = by_track([run])
        standings = [(track, each) for track, of_track in tracks.items() for each in leaderboard(of_track)]
        for track, standing in standings:
            parts = (run.directory.resolve().name, standing.who.scaffold, slug(standing.who.model))
            name = "-".join(filter(None, (*parts, track if len(tracks) > 1 else "")))
            path = directory / f"{name}.json"
            _write(path, inspect_log(run, standing))
            written[path.name] = len(standing.rows)
    if as_json:
        print(json.dumps({"directory": str(directory), "samples": written}, indent=2))
    else:
        logs = ", ".join(f"{name} ({number} samples)" for name, number in written.items())
        console().print(f"{directory}: {logs}", markup=False, soft_wrap=True)
    return 0


def inspect_log(run: RunRows, standing: Standing) -> dict[str, Any]:
    """Return one system's trials in one run, as plain data."""
    samples = [_sample(row, trajectory_of(run.directory, row)) for row in standing.rows]
    created = min((sample["started_at"] for sample in samples if sample.get("started_at")), default=None)
    tasks = sorted({row.task for row in standing.rows})
    scored = [row for row in standing.rows if row.is_scored]
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "run_id": run.file.id if run.file else "",
            "created": created or datetime.fromtimestamp(0, UTC).isoformat(),
            "task": "testwright",
            "task_version": __version__,
            "solver": standing.who.scaffold,
            "dataset": {"name": "testwright", "samples": len(tasks), "sample_ids": tasks, "shuffled": False},
            "model": standing.who.model or f"none/{standing.who.scaffold}",
            "config": {"epochs": max((row.attempt for row in standing.rows), default=1)},
            "packages": {"testwright": __version__},
        },
        "results": {
            "total_samples": len(standing.rows),
            "completed_samples": len(scored),
            "scores": [
                {
                    "name": _SCORER,
                    "scorer": _SCORER,
                    "scored_samples": len(scored),
                    "unscored_samples": len(standing.rows) - len(scored),
                    "metrics": {"resolve_rate": {"name": "resolve_rate", "value": standing.rate.rate.value}},
                    "metadata": facts(standing.rate),
                }
            ],
        },
        "stats": {"model_usage": {standing.who.model: _usage(standing.effort.agent)} if standing.who.model else {}},
        "samples": samples,
    }


def _sample(row: TrialRow, records: Sequence[Record]) -> dict[str, Any]:
    messages = list(_messages(records))
    prompt = next((message["content"] for message in messages if message["role"] == "user"), row.task)
    usage = {row.model: _usage(row.usage.agent)} if row.usage and row.model else {}
    sample: dict[str, Any] = {
        "id": row.task,
        "epoch": row.attempt,
        "input": prompt,
        "target": "",
        "messages": messages,
        "scores": {_SCORER: _score(row)} if row.is_scored else {},
        "metadata": {"trial": row.trial, "ending": row.ending, "stages": facts(row.stages)},
        "model_usage": usage,
        "total_time": row.usage.agent_seconds if row.usage else None,
        "working_time": row.agent_seconds,
    }
    if header := next((record for record in records if isinstance(record, HeaderRecord)), None):
        sample |= {"started_at": header.time.isoformat(), "completed_at": records[-1].time.isoformat()}
    if not row.is_scored:
        words = printable(row.problem) or "; ".join(reason.words for reason in row.reasons)
        sample["error"] = {"message": words, "traceback": "", "traceback_ansi": ""}
    return sample


def _score(row: TrialRow) -> dict[str, Any]:
    return {
        "value": 1.0 if row.verdict is Verdict.RESOLVED else 0.0,
        "answer": row.verdict,
        "explanation": "; ".join(f"{reason.code}: {printable(reason.words)}" for reason in row.reasons),
        "metadata": {"reasons": facts(row.reasons), "notes": facts(row.notes)},
    }


def _messages(records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Return the messages of the first conversation: an agent's subagents have others."""
    for record in records:
        if isinstance(record, MessageRecord) and not record.conversation:
            yield _message(record.message)


def _message(message: Message) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message.role.value, "content": printable(message.content)}
    if message.role is MessageRole.ASSISTANT and message.tool_calls:
        made["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
    if message.role is MessageRole.TOOL:
        made["tool_call_id"] = message.tool_call_id
    return made


def _tool_call(call: ToolCall) -> dict[str, Any]:
    """Arguments that are no JSON object stay text, with an error beside them."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = None
    made: dict[str, Any] = {"id": call.id, "function": call.name, "type": "function"}
    if isinstance(arguments, dict):
        return {**made, "arguments": arguments}
    return {**made, "arguments": {"text": printable(call.arguments)}, "parse_error": "not a JSON object"}


def _usage(usage: Usage) -> dict[str, Any]:
    """Inspect counts cached tokens apart from the others, we among them."""
    return {
        "input_tokens": usage.input - usage.cache_read - usage.cache_write,
        "output_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "input_tokens_cache_read": usage.cache_read,
        "input_tokens_cache_write": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
        "total_cost": usage.cost_usd,
    }


def _write(path: Path, log: dict[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(log) + "\n")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
