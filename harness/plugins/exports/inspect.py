"""Trials as logs that Inspect's viewer and data frames read: a file for each task of each system of each run.

The form is version 2 of Inspect's eval log (inspect.aisi.org.uk/eval-logs.html), and files are called as Inspect
calls its own: it lists no others. Where Inspect is installed it writes them itself, as `.eval`; elsewhere they are
JSON. A sample is an attempt, its epoch the attempt's number. A trial without a verdict has no score, and its problem
as its error.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness import __version__
from harness.agents.trajectory import HeaderRecord, Record
from harness.models.replay import MessageRecord
from harness.plugins.exports.inspect_events import events_of, identity, message_as, usage_as
from harness.results.activity.trials import trajectory_of
from harness.results.leaderboard import by_system
from harness.results.report.facts import facts
from harness.results.report.figures import counted
from harness.results.report.tables import console, printable
from harness.results.rows import TrialRow
from harness.results.run_rows import RunRows
from harness.results.scores import Who, resolve_rate, task_scores
from harness.runs.plan import slug
from harness.runs.records import write_whole
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.usage import NO_USAGE

_SCORER = "testwright"
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
"""Text that a native agent puts before the request by itself."""


def export_inspect(runs: Sequence[RunRows], directory: Path, as_json: bool) -> int:
    """Write runs as logs of Inspect, and say what was written. See `Exporter`."""
    written = {}
    for run in runs:
        for log in inspect_logs(run):
            path = directory / _file_name(log)
            _write(path, log)
            written[path.name] = len(log["samples"])
    if as_json:
        print(json.dumps({"directory": str(directory), "samples": written}, indent=2))
    else:
        words = f"{counted(len(written), 'log')}, {counted(sum(written.values()), 'sample')}"
        console().print(f"{directory}: {words}; inspect view --log-dir {directory}", markup=False, soft_wrap=True)
    return 0


def _file_name(log: Mapping[str, Any]) -> str:
    """Return `TIME_TASK_ID.eval`, or `.json` where Inspect isn't installed."""
    created = datetime.fromisoformat(log["eval"]["created"]).astimezone(UTC)
    task = slug(log["eval"]["task"]).replace("_", "-")
    return f"{created:%Y-%m-%dT%H-%M-%S+00-00}_{task}_{log['eval']['task_id']}.{_form()}"


def inspect_logs(run: RunRows) -> Iterator[dict[str, Any]]:
    """Return a log for each task of each system, as plain data."""
    for who, rows in by_system(run.trials).items():
        for task in sorted({row.task for row in rows}):
            yield inspect_log(run, who, [row for row in rows if row.task == task])


def inspect_log(run: RunRows, who: Who, rows: Sequence[TrialRow]) -> dict[str, Any]:
    """Return one system's attempts at one task in one run, as plain data."""
    task, run_name = rows[0].task, run.directory.resolve().name
    samples = [_sample(run_name, row, trajectory_of(run.directory, row)) for row in rows]
    begun = [sample["started_at"] for sample in samples if sample.get("started_at")]
    ended = [sample["completed_at"] for sample in samples if sample.get("completed_at")]
    started, completed = min(begun, default=""), max(ended, default="")
    scored = [row for row in rows if row.is_scored]
    rate = resolve_rate(task_scores(rows))
    usage = sum((row.usage.agent for row in rows if row.usage), start=NO_USAGE)
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": identity(run_name, *who, task, "eval"),
            "run_id": run.file.id if run.file else "",
            "created": started or datetime.fromtimestamp(0, UTC).isoformat(),
            "task": task,
            "task_id": identity(run_name, *who, task),
            "task_version": __version__,
            "solver": who.scaffold,
            "tags": [rows[0].track],
            "dataset": {"name": task, "samples": 1, "sample_ids": [task], "shuffled": False},
            "model": who.model or f"none/{who.scaffold}",
            "config": {"epochs": max(row.attempt for row in rows)},
            "packages": {"testwright": __version__},
        },
        "results": {
            "total_samples": len(rows),
            "completed_samples": len(scored),
            "scores": [
                {
                    "name": _SCORER,
                    "scorer": _SCORER,
                    "scored_samples": len(scored),
                    "unscored_samples": len(rows) - len(scored),
                    "metrics": {"resolve_rate": {"name": "resolve_rate", "value": rate.rate.value}},
                    "metadata": facts(rate),
                }
            ],
        },
        "stats": {
            "started_at": started,
            "completed_at": completed,
            "model_usage": {who.model: usage_as(usage)} if who.model else {},
        },
        "samples": samples,
    }


def _sample(run: str, row: TrialRow, records: Sequence[Record]) -> dict[str, Any]:
    messages = list(_messages(records))
    asked = (_REMINDER.sub("", message["content"]).strip() for message in messages if message["role"] == "user")
    prompt = next(filter(None, asked), row.task)
    usage = {row.model: usage_as(row.usage.agent)} if row.usage and row.model else {}
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
        "uuid": identity(run, row.trial),
        "events": events_of(f"{run}/{row.trial}", row.model, records, _score(row) if row.is_scored else None),
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
    """Yield the messages of the first conversation: an agent's subagents have others."""
    for record in records:
        if isinstance(record, MessageRecord) and not record.conversation:
            yield message_as(record.message)


def _form() -> str:
    return "eval" if find_spec("inspect_ai") else "json"


def _write(path: Path, log: dict[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".eval":
            _write_by_inspect(path, log)
        else:
            write_whole(path, json.dumps(log) + "\n")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


def _write_by_inspect(path: Path, log: dict[str, Any]) -> None:
    from inspect_ai.log import EvalLog, write_eval_log

    write_eval_log(EvalLog.model_validate(log), str(path), format="eval")
