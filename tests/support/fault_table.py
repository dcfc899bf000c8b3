"""What each fault of a provider leads to: expected here, observed through the agent's loop, told in a page."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from harness.agents.mini import SUBMIT_COMMAND
from harness.models.allowance import Allowance
from harness.plugins.scripted_provider.anthropic import ServedAnthropicMessages
from harness.plugins.scripted_provider.openai_chat import ServedOpenAIChat
from harness.plugins.scripted_provider.scenario import Failure, Reply, RetryAfter, ScriptedFault, Stop
from harness.runs.outcome import reason_code
from harness.sandbox.protocol import AGENT_LOGS
from harness.specs.errors import ProviderError
from harness.specs.errors import ProviderFault as Class
from tests.support.agents import faults, let_agent_work
from tests.support.models import model_at
from tests.support.provider import ErrorKind, failing, playing
from tests.support.small_task import scaffold, small_task
from tests.support.subprocess_sandbox import SubprocessSandbox

ATTEMPTS = 2
MODELS = ("openai/unheard-of", "anthropic/unheard-of")
SHORT_SECONDS = 1.0
"""A request's deadline where an answer is to be late. Elsewhere it is so long that a busy machine keeps it."""
_LONG_SECONDS = 60.0
_AT_ONCE = 4
_TRIES = 5
"""With a short deadline, each twice as long as the one before."""
_UNSCORED = "unscored: provider-error"


@dataclass(frozen=True)
class Row:
    """A reply that a provider gives to whoever asks, and what must come of it.

    `fault` is None where the answer counts as one. `wait` are the seconds that must lie between two requests.
    `trial` is the verdict, or how the agent's work ends, which is then judged as it lies there.
    """

    name: str
    reply: Reply
    fault: Class | None
    trial: str = _UNSCORED
    wait: float = 0
    deadline: float = _LONG_SECONDS
    asked_again: bool | None = None

    @property
    def requests(self) -> int:
        is_retryable = self.fault is not None and self.fault.is_retryable
        return ATTEMPTS if (is_retryable if self.asked_again is None else self.asked_again) else 1

    def statuses(self) -> tuple[int, int]:
        """OpenAI's and Anthropic's."""
        if self.reply.error is None:
            return 200, 200
        kind = self.reply.error.kind
        return ServedOpenAIChat().error(kind).status, ServedAnthropicMessages().error(kind).status


def _asking_to_wait(form: RetryAfter, seconds: float) -> Reply:
    return Reply(error=Failure(kind=ErrorKind.RATE_LIMIT, retry_after=seconds, retry_after_form=form))


def _broken(fault: ScriptedFault) -> Reply:
    return Reply(text="An answer that is long enough to be cut in the middle.", fault=fault)


ROWS = (
    Row("malformed request", failing("bad-request"), Class.BAD_REQUEST),
    Row("context overflow", failing("context-overflow"), Class.CONTEXT, trial="judged: context-limit"),
    Row("content policy", failing("content-policy"), Class.POLICY),
    Row("wrong key", failing("unauthorized"), Class.AUTH),
    Row("key without permission", failing("forbidden"), Class.PERMISSION),
    Row("no such model", failing("not-found"), Class.NOT_FOUND),
    Row("request too large", failing("too-large"), Class.TOO_LARGE),
    Row("no money left", failing("quota"), Class.QUOTA),
    Row("rate limit", failing("rate-limit"), Class.RATE_LIMIT),
    Row("rate limit, retry-after in seconds", _asking_to_wait(RetryAfter.SECONDS, 0.3), Class.RATE_LIMIT, wait=0.3),
    Row("rate limit, retry-after-ms", _asking_to_wait(RetryAfter.MILLISECONDS, 0.3), Class.RATE_LIMIT, wait=0.3),
    Row("rate limit, retry-after as a date", _asking_to_wait(RetryAfter.DATE, 1.5), Class.RATE_LIMIT, wait=0.4),
    Row(
        "rate limit, retry-after beyond the deadline",
        _asking_to_wait(RetryAfter.SECONDS, 7200),
        Class.RATE_LIMIT,
        asked_again=False,
    ),
    Row("server error", failing("server-error"), Class.SERVER),
    Row("bad gateway", failing("bad-gateway"), Class.SERVER),
    Row("unavailable", failing("unavailable"), Class.OVERLOADED),
    Row("overloaded", failing("overloaded"), Class.OVERLOADED),
    Row(
        "slow, within the deadline",
        Reply(commands=(SUBMIT_COMMAND,), delay_seconds=0.05, chunk_delay_seconds=0.02),
        None,
        "judged: submitted",
    ),
    Row("slow, beyond the deadline", Reply(delay_seconds=60), Class.TIMEOUT, deadline=SHORT_SECONDS),
    Row("no answer", _broken(ScriptedFault.HANG), Class.TIMEOUT, deadline=SHORT_SECONDS),
    Row("half an answer and no more", _broken(ScriptedFault.STALL), Class.TIMEOUT, deadline=SHORT_SECONDS),
    Row("connection closed before the answer", _broken(ScriptedFault.DROP), Class.CONNECTION),
    Row("connection closed in the middle", _broken(ScriptedFault.DROP_MIDWAY), Class.CONNECTION),
    Row("JSON that ends too early", _broken(ScriptedFault.TRUNCATED), Class.MALFORMED),
    Row("not JSON", _broken(ScriptedFault.NOT_JSON), Class.MALFORMED),
    Row("JSON of another shape", _broken(ScriptedFault.WRONG_SHAPE), Class.MALFORMED),
    Row("a proxy's HTML page", _broken(ScriptedFault.HTML), Class.MALFORMED),
    Row("empty answer", Reply(), None, "judged: format-errors"),
    Row("answer cut at its limit", Reply(text="I would", stop=Stop.LENGTH), None, "judged: format-errors"),
    Row("refusal", Reply(text="I can't.", stop=Stop.REFUSAL), None, "judged: format-errors"),
    Row("answer stopped by a filter", Reply(text="I can", stop=Stop.FILTERED), None, "judged: format-errors"),
)


class Observed(NamedTuple):
    """`waits` are the seconds between two requests; `message` is empty where there was no fault.

    `faults` are the classes of the failed requests that the trajectory holds.
    """

    requests: int
    waits: tuple[float, ...]
    faults: tuple[Class, ...]
    trial: str
    message: str

    @property
    def fault(self) -> Class | None:
        """Of the last request."""
        return self.faults[-1] if self.faults else None


@dataclass
class Observations:
    found: dict[tuple[str, str], Observed] = field(default_factory=dict)
    seconds: float = 0


async def observe_all(rows: Sequence[Row], directory: Path) -> Observations:
    """Every row with every model: by row's name and model."""
    began = time.monotonic()
    turns = asyncio.Semaphore(_AT_ONCE)

    async def take(row: Row, model: str) -> Observed:
        place = directory / f"{row.name} {model.replace('/', ' ')}"
        async with turns:
            observed = await observe(row, model, place)
            # On a busy machine a short deadline may pass before the request has arrived: nothing is seen then.
            for tries in range(1, _TRIES):
                if row.deadline > SHORT_SECONDS or observed.requests >= len(observed.faults):
                    break
                patient = replace(row, deadline=row.deadline * 2**tries)
                observed = await observe(patient, model, place.with_name(f"{place.name} {tries}"))
            return observed

    # Those whose deadline passes come last, when everything is imported: they need the machine's attention.
    pairs = [(row, model) for row in sorted(rows, key=lambda row: -row.deadline) for model in MODELS]
    async with asyncio.TaskGroup() as group:
        tasks = {(row.name, model): group.create_task(take(row, model)) for row, model in pairs}
    return Observations({pair: task.result() for pair, task in tasks.items()}, time.monotonic() - began)


async def observe(row: Row, model: str, directory: Path) -> Observed:
    """An agent whose provider gives one and the same reply for ever."""
    directory.mkdir(parents=True)
    path = directory / "trajectory.jsonl"
    async with playing(row.reply) as provider:
        task = small_task(directory / "task")
        allowance = Allowance(task.file.limits)
        asked = model_at(provider, model, attempts=ATTEMPTS, request_seconds=row.deadline, observe=allowance.failed)
        mini, sandbox = scaffold("mini", format_errors=1), SubprocessSandbox(directory / "sandbox")
        await sandbox.write(f"{AGENT_LOGS}/manifest.yaml", b"[]")
        try:
            result = await let_agent_work(task, mini, asked, sandbox, path, allowance)
            trial, message = f"judged: {result.ending}", result.message
        except ProviderError as error:
            trial, message = f"unscored: {reason_code(error)}", str(error)
    times = [request.seconds for request in provider.requests]
    waits = tuple(later - earlier for earlier, later in pairwise(times))
    recorded = tuple(record.fault for record in faults(path))
    return Observed(len(times), waits, recorded, trial, message if recorded else "")
