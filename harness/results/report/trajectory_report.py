"""Prints a trial's trajectory: through a pager at a terminal, as plain text in a pipe."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple, assert_never

from rich.text import Text

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
from harness.models.replay import MessageRecord
from harness.results.report.tables import console, printable
from harness.specs.errors import UserError
from harness.specs.model_file import called


class Steps(NamedTuple):
    """The model's answers that are shown, both ends included. 0 is what came before the first."""

    first: int
    last: int | None


EVERY_STEP = Steps(0, None)


def chosen_steps(text: str | None) -> Steps:
    """Return the steps that `7`, `3-9`, `3-` or `-9` stands for; all of them where nothing is given.

    Raises:
        UserError: It is none of these.
    """
    if text is None:
        return EVERY_STEP
    first, dash, last = text.partition("-")
    if not all(part == "" or part.isdecimal() for part in (first, last)) or text in ("", "-"):
        raise UserError(f"--steps {printable(text)}: not a number or a span such as 3-9")
    return Steps(int(first or 0), int(last) if last else None if dash else int(first))


def show_trajectory(path: Path, steps: Steps) -> None:
    """Print steps of a trajectory.

    Raises:
        UserError: The file isn't there, or is no trajectory, or has none of these steps.
    """
    records = read_trajectory(path)
    lines = trajectory_lines(records, steps)
    last = max((getattr(record, "step", 0) for record in records), default=0)
    if steps.first > last or (steps.last is not None and steps.last < steps.first):
        raise UserError(f"--steps: none of these is among the trajectory's answers, 1 to {last}")
    out = console()
    with out.pager() if sys.stdout.isatty() else nullcontext():
        for line in lines:
            out.print(Text(line), soft_wrap=True)


def trajectory_lines(records: Sequence[Record], steps: Steps = EVERY_STEP) -> Iterator[str]:
    """Yield each record in words, without control characters.

    A native agent's answers are those that its gateway saw.
    """
    step = 0
    for record in records:
        step = getattr(record, "step", 0) or step
        if step >= steps.first and (steps.last is None or step <= steps.last):
            yield from _words(record)


def _words(record: Record) -> Iterator[str]:
    match record:
        case HeaderRecord():
            system = f"{record.scaffold} {record.scaffold_version} {called(record.model)}".strip()
            yield f"{system} at {record.task}, {record.time:%F %T} UTC"
        case MessageRecord():
            yield from _message(record)
        case ObservationRecord():
            late = ", timed out" if record.timed_out else ""
            yield f"[{record.step}] ended with {record.exit_status} after {record.seconds:.1f} s{late}"
        case FaultRecord():
            again = f", again in {record.retry_in:.1f} s" if record.retry_in is not None else ""
            yield f"[{record.step}] request failed: {record.fault}: {printable(record.message)}{again}"
        case PromptRecord():
            yield f"[{record.step}] system prompt of {record.chars} characters, tools: {', '.join(record.tools)}"
        case AgentOutputRecord():
            error = f": {printable(record.error)}" if record.error else ""
            yield f"its command ended with {record.exit_status} after {record.seconds:.1f} s{error}"
        case GatewayRecord():
            yield f"gateway: {record.conversations} conversations, {record.prompts} system prompts"
        case EgressRecord():
            yield f"connections to package registries: {_contacts(record)}"
        case EndRecord():
            message = f": {printable(record.message)}" if record.message else ""
            yield f"ended by {record.ending.replace('-', ' ')} after {record.steps} steps{message}"
        case _:
            assert_never(record)


def _contacts(record: EgressRecord) -> str:
    """Return where to and how often, as agents name hosts."""
    told = [
        *(f"{place} ({count})" for place, count in record.opened.items()),
        *(f"{place} failed ({count})" for place, count in record.failed.items()),
        *(f"{it.host}:{it.port} refused, {it.why} ({it.count})" for it in record.refused),
    ]
    return printable(", ".join(told) or "none")


def _message(record: MessageRecord) -> Iterator[str]:
    message, usage = record.message, record.usage
    of = f" {record.conversation}" if record.conversation else ""
    tokens = f", {usage.input:,} tokens in and {usage.output:,} out" if usage else ""
    yield f"\n[{record.step}] {message.role}{of}{tokens}"
    if message.content:
        yield printable(message.content)
    for call in message.tool_calls:
        yield f"calls {printable(call.name)}: {printable(call.arguments)}"
