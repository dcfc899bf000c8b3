"""A trajectory as steps that fold, in as many pages as it takes.

A step of a trajectory as HTML that folds.

Written out here rather than in a template: a large site has a hundred thousand steps, and half of the time that they
took went into Jinja2's calls.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from harness.agents.trajectory import (
    AgentOutputRecord,
    EgressRecord,
    EndRecord,
    FaultRecord,
    HeaderRecord,
    ObservationRecord,
    Record,
    read_trajectory,
)
from harness.models.gateway.records import GatewayRecord, PromptRecord
from harness.models.protocol import MessageRole
from harness.models.replay import MessageRecord
from harness.results.site.pages import LongTexts, Text, visible
from harness.specs.errors import UserError

MAX_BYTES = 60_000_000
"""Bytes of a trajectory's file: a longer one isn't read."""
_SUMMARY = 110
_Fact = PromptRecord | AgentOutputRecord | EgressRecord | GatewayRecord | EndRecord
_CALLS = 40


@dataclass(frozen=True)
class TrajectoryEntry:
    """A part of a step. `kind` is a role, `call`, `fault` or `fact`; `title` is a line of ours."""

    kind: str
    title: str
    text: Text | None = None


@dataclass
class Step:
    """A model's answer and what followed; number 0 is what came before the first."""

    number: int
    conversation: str = ""
    summary: str = ""
    ends: list[str] = field(default_factory=list)
    has_fault: bool = False
    entries: list[TrajectoryEntry] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return f"step-{self.number}" + (f"-{self.conversation}" if self.conversation else "")


@dataclass(frozen=True)
class Records:
    """Records of a trajectory. `problem` says why there are none."""

    records: Sequence[Record]
    problem: str = ""


def read_records(path: Path) -> Records:
    """Return the records of a trajectory."""
    try:
        size = path.stat().st_size
    except OSError:
        return Records((), "there is no trajectory")
    if size > MAX_BYTES:
        return Records((), f"the trajectory has {size:,} bytes: too many to show; it is in the run's directory")
    try:
        return Records(read_trajectory(path))
    except UserError as error:
        return Records((), f"the trajectory can't be read: {str(error).removeprefix(str(path)).lstrip(':')}")


def steps_of(records: Sequence[Record], texts: LongTexts) -> Iterator[Step]:
    """Yield the steps of a trajectory."""
    step = Step(0, summary="What the agent was told")
    for number, record in enumerate(records, start=1):
        if isinstance(record, MessageRecord) and record.message.role is MessageRole.ASSISTANT:
            yield step
            step = Step(record.step, record.conversation)
        _add(step, record, f"record-{number}.txt", texts)
    yield step


def _add(step: Step, record: Record, name: str, texts: LongTexts) -> None:
    if isinstance(record, MessageRecord):
        _add_message(step, record, name, texts)
    elif isinstance(record, ObservationRecord):
        step.ends.append("ran out of time" if record.timed_out else f"exit {record.exit_status}")
        cut = f", {record.truncated:,} bytes dropped" if record.truncated else ""
        ended = "ended by its time limit" if record.timed_out else f"exit status {record.exit_status}"
        words = f"command: {ended}, {record.seconds:.1f} s, {record.output_bytes:,} bytes of output{cut}"
        was_called = any(entry.text and entry.text.shown == record.command for entry in step.entries)
        step.entries.append(TrajectoryEntry("fact", words, None if was_called else texts.cut(record.command, name)))
    elif isinstance(record, FaultRecord):
        step.has_fault = True
        again = "given up" if record.retry_in is None else f"again after {record.retry_in:.1f} s"
        title = f"failed request: {record.fault}, {record.seconds:.1f} s, {again}"
        step.entries.append(TrajectoryEntry("fault", title, texts.cut(record.message, name)))
    elif isinstance(record, HeaderRecord):
        step.entries.append(TrajectoryEntry("fact", f"scaffold {record.scaffold} {record.scaffold_version}"))
    else:
        step.entries.append(_fact(record, name, texts))


def _add_message(step: Step, record: MessageRecord, name: str, texts: LongTexts) -> None:
    message, words = record.message, ""
    if record.usage:
        words = f"{record.usage.input:,} tokens in, {record.usage.output:,} out"
    if record.stop:
        words += f"; stopped by {record.stop}"
    if message.content or not message.tool_calls:
        step.entries.append(TrajectoryEntry(message.role, words, texts.cut(message.content, name)))
    for index, call in enumerate(message.tool_calls[:_CALLS]):
        text = _arguments(call.arguments)
        step.entries.append(TrajectoryEntry("call", call.name, texts.cut(text, f"call-{index}-of-{name}")))
        if message.role is MessageRole.ASSISTANT and not step.summary:
            step.summary = _line(text)
    if (more := len(message.tool_calls) - _CALLS) > 0:
        step.entries.append(TrajectoryEntry("fact", f"{more} more calls aren't shown"))
    if message.role is MessageRole.ASSISTANT and not step.summary:
        step.summary = _line(message.content)


def _fact(record: _Fact, name: str, texts: LongTexts) -> TrajectoryEntry:
    """Return a record that is numbers only."""
    if isinstance(record, EndRecord):
        title = f"the end: {record.ending.replace('-', ' ')} after {record.steps} steps"
        return TrajectoryEntry("fact", title, texts.cut(record.message, name) if record.message else None)
    titles = {
        PromptRecord: "system prompt sent",
        AgentOutputRecord: "the agent's command ended",
        EgressRecord: "what asked for the network",
    }
    facts = record.model_dump(mode="json", exclude={"time", "kind"}, exclude_defaults=True)
    title = titles.get(type(record), "what went through the gateway")
    return TrajectoryEntry("fact", title, texts.cut(json.dumps(facts, indent=1, ensure_ascii=False), name))


def _arguments(text: str) -> str:
    """Return a call's arguments as a person reads them: a lone command as it is, else its JSON."""
    try:
        value: Any = json.loads(text)
        commands = [value[key] for key in ("command", "cmd") if isinstance(value, dict) and key in value]
        if commands and isinstance(commands[0], str):
            return commands[0]
        return json.dumps(value, indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _line(text: str) -> str:
    first = next((line.strip() for line in text[:2000].splitlines() if line.strip()), "")
    return first if len(first) <= _SUMMARY else f"{first[: _SUMMARY - 1]}…"


_TITLES = {"call": "calls", "fact": "", "fault": ""}


def folded(step: Step, root: str) -> str:
    """Return a step to unfold. `root` leads from the page to the site's folder."""
    fault = ' data-fault="1"' if step.has_fault else ""
    ends = [f' <span class="end">{_label(end)}</span>' for end in step.ends]
    if step.has_fault:
        ends.append(' <span class="end fault">failed request</span>')
    entries = "".join([_entry(entry, root) for entry in step.entries])
    return (
        f'<details class="step" id="{_label(step.anchor)}"{fault}><summary>'
        f'<span class="number">{step.number or "·"}</span> <code>{_shown(step.summary or "no words")}</code>'
        f"{''.join(ends)}</summary>\n{entries}</details>\n"
    )


def _entry(entry: TrajectoryEntry, root: str) -> str:
    kind = _label(entry.kind)
    text = _text(entry.text, root, kind) if entry.text else ""
    return (
        f'<div class="entry {kind}"><p><strong>{_TITLES.get(entry.kind, kind)}</strong> {_label(entry.title)}</p>\n'
        f"{text}</div>\n"
    )


def _text(text: Text, root: str, label: str) -> str:
    whole = f'<pre tabindex="0" aria-label="{label}">{_shown(text.shown)}</pre>\n'
    if not text.more:
        return whole
    link = f'<a href="{_shown(root)}{_shown(text.file)}">the whole text</a>'
    return f'{whole}<p class="cut">Cut here: {text.more:,} more characters are in {link}.</p>\n'


def _shown(text: str) -> str:
    return escape(visible(text))


@lru_cache(4096)
def _label(text: str) -> str:
    """Return what many steps have in common."""
    return _shown(text)
