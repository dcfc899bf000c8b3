"""The trajectory of an agent: one JSON line per record, written as it happens.

Why an agent stopped.
"""

import contextlib
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from harness import PROTOCOL_VERSION
from harness.models.gateway.records import GatewayRecord, PromptRecord
from harness.models.protocol import FailedRequest
from harness.models.replay import MessageRecord, now, read_json_lines
from harness.sandbox.protocol import CommandResult
from harness.specs.errors import ProviderFault, UserError
from harness.specs.schema_faults import plain_words
from harness.specs.task import TaskLimits
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.whole_text import whole_json


class Ending(StrEnum):
    """Ends of an agent's work. Whichever it was, whatever lies in the sandbox then is the submission."""

    SUBMITTED = "submitted"
    STEP_LIMIT = "step-limit"
    WALL_LIMIT = "wall-limit"
    COST_LIMIT = "cost-limit"
    CONTEXT_LIMIT = "context-limit"
    FORMAT_ERRORS = "format-errors"
    CRASHED = "crashed"
    """A native agent's command ended with another status than 0."""
    GAVE_UP = "gave-up"
    """A native agent ended after faults of its provider that were no outage: its own end, once it had an answer."""
    MEMORY_LIMIT = "memory-limit"
    DISK_LIMIT = "disk-limit"
    PIDS_LIMIT = "pids-limit"
    SANDBOX_UNUSABLE = "sandbox-unusable"
    """The agent's own processes ended every shell of its sandbox, or its way to the gateway, whenever one began."""

    @classmethod
    def by_limit(cls, limit: str) -> "Ending":
        """Return the ending by a limit.

        It is `step`, `wall` or `cost` of an allowance, or `memory`, `disk` or `pids` of a sandbox.
        """
        return cls(f"{limit}-limit")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    time: datetime = Field(default_factory=now)


class HeaderRecord(_Record):
    """The first line. `model` is empty for an agent without one, `limits` are the task's."""

    kind: Literal["header"] = "header"
    schema_version: int = 1
    protocol_version: int = PROTOCOL_VERSION
    scaffold: str
    scaffold_version: str
    model: str = ""
    task: str
    limits: TaskLimits | None = None


class ObservationRecord(_Record):
    """One command's end; what the agent was shown of its output is in the message that follows.

    `output_bytes` were kept and `truncated` dropped from the middle by the sandbox.
    """

    kind: Literal["observation"] = "observation"
    step: int
    command: str
    exit_status: int
    seconds: float
    output_bytes: int
    truncated: int
    timed_out: bool

    @classmethod
    def of(cls, step: int, command: str, result: CommandResult) -> Self:
        """Return the record of a command's end at a step."""
        return cls(
            step=step,
            command=command,
            exit_status=result.exit_status,
            seconds=round(result.seconds, 4),
            output_bytes=len(result.output),
            truncated=result.truncated,
            timed_out=result.timed_out,
        )


class AgentOutputRecord(_Record):
    """The end of a native agent's command, and its own words; its whole output is in files beside this one.

    `exit_status` is null where a limit ended it. `events` and `tools` count the kinds of its own event stream.
    """

    kind: Literal["agent-output"] = "agent-output"
    exit_status: int | None
    seconds: float
    stdout_bytes: int
    stderr_bytes: int
    events: dict[str, int] = Field(default_factory=dict)
    tools: dict[str, int] = Field(default_factory=dict)
    error: str = ""


class RefusedContact(BaseModel):
    """Connections to a host and port that were refused, and why.

    The reason is `address`, `name`, `host`, `port`, `method` or `private-address`. Of very many different ones, the
    later
    are `others`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    port: int
    why: str
    count: int


class EgressRecord(_Record):
    """Connections of an agent's commands through the proxy to package registries, in numbers.

    `allowed` are the hosts and ports that the proxy led to. Keys are `HOST:PORT`.
    """

    kind: Literal["egress"] = "egress"
    allowed: tuple[str, ...] = ()
    opened: dict[str, int] = Field(default_factory=dict)
    failed: dict[str, int] = Field(default_factory=dict)
    refused: tuple[RefusedContact, ...] = ()


class FaultRecord(_Record):
    """A request to a provider that failed after so many `seconds`; `usage` is what it cost all the same.

    `step` counts the answers before it. It was repeated after `retry_in` seconds; null: the model gave up, or the
    agent has a client of its own that decides it.
    """

    kind: Literal["fault"] = "fault"
    step: int
    fault: ProviderFault
    message: str
    usage: Usage
    seconds: float = 0.0
    retry_in: float | None = None

    @classmethod
    def of(cls, step: int, failed: FailedRequest) -> Self:
        """Return the record of a failed request at a step."""
        return cls(
            step=step,
            fault=failed.fault,
            message=failed.message,
            usage=failed.usage,
            seconds=round(failed.seconds, 4),
            retry_in=None if failed.retry_in is None else round(failed.retry_in, 4),
        )


class EndRecord(_Record):
    """The last line; without one the trial was cut short, by its provider or its sandbox for instance.

    `usage.cost_usd` is null when the cost of any call is unknown. `counted_usd` sums up the known ones: it is
    what was held against the cost limit, as `counted_seconds` were against the wall limit. `model_seconds` are the
    part of them in which a model composed an answer; `waiting_seconds` were spent on failed requests, the waits after
    them and rate limits, and count against nothing. `format_errors` are malformed calls; null where the agent doesn't
    tell of them.
    """

    kind: Literal["end"] = "end"
    ending: Ending
    message: str = ""
    steps: int
    usage: Usage
    counted_usd: float = 0.0
    counted_seconds: float = 0.0
    model_seconds: float = 0.0
    waiting_seconds: float = 0.0
    failed_requests: int = 0
    format_errors: int | None = None


Record = Annotated[
    HeaderRecord
    | MessageRecord
    | ObservationRecord
    | AgentOutputRecord
    | EgressRecord
    | FaultRecord
    | PromptRecord
    | GatewayRecord
    | EndRecord,
    Field(discriminator="kind"),
]
_RECORD: TypeAdapter[Any] = TypeAdapter(Record)


class Trajectory:
    """A file of records, one flush each. Making it raises FileExistsError: an attempt has a file of its own."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.format_errors: int | None = None
        """Calls of the model that the agent couldn't understand or refused; None where nobody counts them."""
        self.cut: OSError | None = None
        """Why records of work that is done were left out, and all after them; None where none were."""
        self._file = path.open("xb")

    def count_format_errors(self, more: int | None) -> None:
        """Add malformed calls of the model; None where the agent doesn't report them."""
        if more is not None:
            self.format_errors = (self.format_errors or 0) + more

    def add(self, record: Record) -> None:
        """Write one record behind the others.

        Raises:
            OSError: It names the file. A full disk ends the run, since no trial could keep anything.
        """
        if self.cut:
            return
        with self._naming():
            self._file.write(whole_json(record).encode() + b"\n")
            self._file.flush()

    def conclude(self, record: Record) -> None:
        """Append a record of work that is done, or leave it out where the disk takes no more.

        The submission has its room on the disk all the same: work isn't lost for want of its last record.
        """
        try:
            self.add(record)
        except OSError as error:
            self.cut = self.cut or error

    def keep_beside(self, name: str, data: bytes) -> None:
        """Write a file of work that is done beside this one, or leave it out where the disk takes no more."""
        try:
            self.path.with_name(name).write_bytes(data)
        except OSError as error:
            self.cut = self.cut or error

    def close(self) -> None:
        """Close the file."""
        if self.cut:
            self._file.raw.close()  # what is still buffered would fail again
        with self._naming():
            self._file.close()

    @contextlib.contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = error.filename or str(self.path)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_trajectory(path: Path) -> list[Record]:
    """Return the records of a trajectory, without a last line that a crash has cut.

    Raises:
        UserError: A line is wrong; the message names file and line.
    """
    if records := _all_readable(path):
        return records
    for number, value in read_json_lines(path):
        try:
            records.append(_RECORD.validate_python(value))
        except ValidationError as error:
            words = plain_words(error.errors()[0]["msg"])
            raise UserError(f"{path}:{number}: not a record of a trajectory: {words}") from None
    return records


def _all_readable(path: Path) -> list[Record]:
    """Return the records of a file where each line is one; else nothing: whoever reads it says what is wrong."""
    try:
        return [_RECORD.validate_json(line) for line in path.read_bytes().split(b"\n") if line]
    except (OSError, ValidationError):
        return []


def paid(path: Path) -> Usage:
    """Return all that a trajectory's calls cost, however it ended; nothing where there is none.

    A line that is damaged counts for nothing: what it cost isn't known, and money must be told all the same.
    """
    records = [record for record in _readable(path) if isinstance(record, MessageRecord | FaultRecord)]
    return sum((record.usage for record in records if record.usage), start=NO_USAGE)


def failed_requests(path: Path) -> int:
    """Return how many requests to the provider failed; none where there is no trajectory."""
    return sum(isinstance(record, FaultRecord) for record in _readable(path))


def last_record(path: Path) -> EndRecord | None:
    """Return how the agent's work ended; None where it was cut short or the line is damaged."""
    records = _readable(path)
    return records[-1] if records and isinstance(records[-1], EndRecord) else None


def _readable(path: Path) -> list[Record]:
    """Return the records that can be read; none where there is no file."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return []
    records: list[Record] = []
    for line in lines:
        with contextlib.suppress(ValidationError):
            records.append(_RECORD.validate_json(line))
    return records
