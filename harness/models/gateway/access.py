"""One trial's way into the gateway: its token, its limits, its record, and `calls.jsonl` with a line for each call.

The agent repeats failed requests by itself, so the gateway decides when a provider's faults end a trial.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Never

from harness.models.allowance import Allowance
from harness.models.build import ServedModel
from harness.models.faults import Fault
from harness.models.gateway.conversations import Conversation, Conversations
from harness.models.gateway.dialects.protocol import Asked, DialectName, ModelAnswer
from harness.models.gateway.dialects.registry import BASES
from harness.models.gateway.records import CallRecord, GatewayRecord, GatewayRecords, PromptRecord
from harness.models.protocol import Message, MessageRole
from harness.models.rate_limits import SYSTEM_CLOCK, Clock
from harness.models.replay import MessageRecord
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.whole_text import count_name

_MOST_BYTES = 16 * 1024**2


class CallLog:
    """A log of calls with a bound; calls after that are only counted in the trajectory."""

    def __init__(self, path: Path | None, most_bytes: int = _MOST_BYTES) -> None:
        self._file = path.open("ab") if path else None
        self._left = most_bytes

    def add(self, record: CallRecord) -> None:
        line = record.model_dump_json().encode() + b"\n"
        self._left -= len(line)
        if self._file and self._left >= 0:
            self._file.write(line)
            self._file.flush()

    def close(self) -> None:
        if self._file:
            self._file.close()


_HOPELESS = frozenset({ProviderFault.AUTH, ProviderFault.PERMISSION, ProviderFault.QUOTA, ProviderFault.NOT_FOUND})
"""Neither time nor anything that an agent could do differently mends these."""


class Outage:
    """The failed requests of a trial since its last answer.

    Faults that pass end the trial once there were as many as a model of our own may have for one answer
    (`retries.attempts`), and the last came at least `retries.longest_wait` seconds after the first: several that fail
    at once are no outage yet. The usage of failed requests is told as they fail; the errors here have none.

    `denials` counts how often the provider has answered a question of the gateway's own in spite of them.
    """

    def __init__(self, file: ModelFile, clock: Clock = SYSTEM_CLOCK) -> None:
        self._file = file
        self._clock = clock
        self._began = 0.0
        self._requests = 0
        self._denied: float | None = None
        self.denials = 0
        self.fault: ProviderError | None = None

    def answered(self) -> None:
        self._requests, self.fault = 0, None

    def denied(self) -> None:
        """Note that the provider answers: what failed is the agent's own affair, and is counted anew."""
        self._requests, self._denied = 0, self._clock.now()
        self.denials += 1

    def failed(self, fault: Fault) -> ProviderError | None:
        """Return the error that ends the trial, if this fault does."""
        now = self._clock.now()
        if fault.is_retryable:
            self._began = now if self._requests == 0 else self._began
            self._requests += 1
        self.fault = self._error(fault)
        longest = self._file.retries.longest_wait
        is_outage = self._requests >= self._file.retries.attempts and now - self._began >= longest
        is_hopeless = fault.kind in _HOPELESS and (self._denied is None or now - self._denied >= longest)
        return self.fault if is_hopeless or (is_outage and fault.is_retryable) else None

    def _error(self, fault: Fault) -> ProviderError:
        message = f"{self._file.model}: {fault.kind}: {fault.message}"
        if self._requests > 1:
            message += f" ({self._requests} requests)"
        return ProviderError(message, fault.kind, NO_USAGE, max(1, self._requests))


_MOST_AT_ONCE, _LARGE = 64, 4 * 1024**2
"""Requests of one trial that are read at once, and the bytes from which only one of them is: they are kept whole."""
DRAIN_SECONDS = 60.0
"""Seconds that the calls under way at a trial's end may still take; after that their cost is unknown."""
_MOST_TEXTS = 3
_MOST_IDS = 100_000
_MOST_RECORDED = 256 * 1024**2
"""Characters of one trial's requests that are recorded: an agent may send what no provider takes, again and again."""
_FULL = f"this trial's requests have had their {_MOST_RECORDED >> 20} MB"
_QUESTION = Message(role=MessageRole.USER, content="Answer with one word: are you there?")


class GatewayAccess:
    """An agent's access, from `Gateway.open` to the end of its block."""

    def __init__(
        self,
        served: ServedModel,
        allowance: Allowance,
        record: Callable[[GatewayRecords], None],
        calls: Path | None,
    ) -> None:
        self.served = served
        self.allowance = allowance
        self.token = f"sk-{secrets.token_hex(32)}"
        self.end: Exception | None = None
        self.outage = Outage(served.file, served.limiter.clock)
        self.is_translated = False
        self.known_ids: dict[str, None] = {}
        self._record = record
        self._log = CallLog(calls)
        self._conversations = Conversations()
        self._prompts: set[tuple[str, str, str]] = set()
        self._dialects: Counter[str] = Counter()
        self._models: Counter[str] = Counter()
        self._withheld: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._numbers = 0
        self._room = _MOST_RECORDED
        self._asking = asyncio.Lock()
        self._seats = asyncio.Semaphore(_MOST_AT_ONCE)
        self._large = asyncio.Lock()
        self._ending = asyncio.Event()
        self._under_way: set[asyncio.Task[object]] = set()

    @property
    def model(self) -> str:
        """The provider's own name of the model: what an agent should ask for."""
        return self.served.file.model.partition("/")[2]

    @property
    def fault(self) -> ProviderError | None:
        """Return what the provider has failed with, where it hasn't answered since."""
        return self.outage.fault

    def base_url(self, dialect: DialectName, authority: str) -> str:
        """Return the base for an agent that sees the gateway under an authority like `http://127.0.0.1:8787`."""
        return authority.rstrip("/") + BASES[dialect]

    async def ended(self) -> Never:
        """Raise what ends the trial once something does.

        Raises:
            AllowanceExhausted: A limit of the agent's is used up.
            BudgetExhausted: The run's money is spent.
            ProviderError: A call failed for good.
        """
        await self._ending.wait()
        assert self.end is not None
        raise self.end

    def finish(self, end: Exception) -> None:
        """End the trial for this reason, unless it has one already."""
        self.end = self.end or end
        self._ending.set()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Provide a call that the trial's end waits for."""
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        try:
            yield
        finally:
            self._under_way.discard(task)

    @asynccontextmanager
    async def room(self, size: int | None) -> AsyncIterator[None]:
        """Provide room for a request of so many bytes; None: it doesn't say. Nobody's agent may use up the host."""
        async with self._seats, self._large if size is None or size > _LARGE else nullcontext():
            yield

    def asked(self, dialect: DialectName, model: str, asked: Asked) -> Conversation:
        """Record what is new of a request; the conversation that it belongs to."""
        self._dialects[dialect] += 1
        count_name(self._models, model)
        conversation, new = self._conversations.asked(asked)
        self._prompted(conversation, asked)
        for message in new:
            self._message(conversation, message)
        return conversation

    def _prompted(self, conversation: Conversation, asked: Asked) -> None:
        """Record a prompt that is new in its conversation; its text too, unless it changes from call to call."""
        prompt = (conversation.name, asked.system_sha256, asked.tools_sha256)
        if prompt in self._prompts:
            return
        texts = {sha256 for name, sha256, _ in self._prompts if name == conversation.name}
        if asked.system and asked.system_sha256 not in texts and len(texts) < _MOST_TEXTS:
            self._message(conversation, Message(role=MessageRole.SYSTEM, content=asked.system))
        self._prompts.add(prompt)
        record = PromptRecord(
            step=self.allowance.steps,
            conversation=conversation.name,
            sha256=asked.system_sha256 if asked.system else "",
            chars=len(asked.system),
            tools=asked.tools if self._has_room(sum(map(len, asked.tools))) else (),
            tools_sha256=asked.tools_sha256,
        )
        self._record(record)

    def answered(self, conversation: Conversation, answer: ModelAnswer, usage: Usage) -> None:
        """Record an answer, which counts as a step already."""
        self.outage.answered()
        self._conversations.answered(conversation, answer.message, answer.ids)
        if len(self.known_ids) < _MOST_IDS:
            self.known_ids.update(dict.fromkeys(filter(None, answer.ids)))
        record = MessageRecord(
            step=self.allowance.steps,
            conversation=conversation.name,
            message=answer.message,
            usage=usage,
            stop=answer.stop,
        )
        self._record(record)

    async def failed(self, fault: Fault) -> None:
        """Count a failed request, and end the trial where the provider is out.

        An agent that has had an answer may have provoked it, and an end that isn't its own would give it another try.
        So the gateway asks something itself then, with the repetitions of a model of our own.
        """
        self.allowance.failed(fault.request(None))
        end = self.outage.failed(fault)
        if end and self.allowance.steps:
            end = await self._outage_itself()
        if end:
            self.finish(end)
        elif fault.is_retryable:
            self.allowance.pause(self.served.file.retries.longest_wait)

    def is_own(self, fault: Fault) -> bool:
        """Return whether a request failed by what the agent has asked: neither time nor another key would mend it."""
        return not fault.is_retryable and (fault.kind not in _HOPELESS or self.outage.denials > 0)

    async def quiet(self) -> None:
        """Wait while the gateway asks its provider: nothing that an agent sends may be what that fails by."""
        async with self._asking:
            pass

    async def _outage_itself(self) -> ProviderError | None:
        """Return what the provider fails with when it isn't the agent that asks; None where it answers."""
        denials, spending = self.outage.denials, self.allowance.spending
        async with self._asking:
            if self.end or self.outage.denials > denials:
                return None
            try:
                completion = await self.served.client(self.allowance.failed).complete([_QUESTION], [])
            except ProviderError as error:
                await spending.charge(error.usage)
                if error.fault.is_retryable or error.fault in _HOPELESS:
                    return error
            else:
                await spending.charge(completion.paid)
            self.outage.denied()
            return None

    def next_number(self) -> int:
        """Return a number for the id of an answer that is made here."""
        self._numbers += 1
        return self._numbers

    def withheld(self, counts: Counter[str]) -> None:
        """Count what was withheld, by kind."""
        self._withheld.update(counts)

    def unknown(self, path: str) -> None:
        """Count a request to a path that isn't there."""
        count_name(self._unknown, path)

    def log(self, record: CallRecord) -> None:
        """Write a call to the log of calls."""
        self._log.add(record)

    def _message(self, conversation: Conversation, message: Message) -> None:
        step, name = self.allowance.steps, conversation.name
        size = len(message.model_dump_json())
        if not self._has_room(size):
            message = Message(role=message.role, content=f"[{size} characters, not recorded: {_FULL}]")
        self._record(MessageRecord(step=step, conversation=name, message=message))

    def _has_room(self, characters: int) -> bool:
        """Return whether so many more characters of requests are recorded; those count as recorded then."""
        self._room -= characters if (fits := characters <= self._room) else 0
        return fits

    async def close(self) -> None:
        """Wait for the calls under way, which are paid, and write the last record. The token is revoked before."""
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=DRAIN_SECONDS)
            for task in late:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*late, return_exceptions=True)
        self._log.close()
        record = GatewayRecord(
            dialects=dict(self._dialects),
            models=dict(self._models),
            withheld=dict(self._withheld),
            unknown=dict(self._unknown),
            conversations=len(self._conversations),
            prompts=len(self._prompts),
            translated=self.is_translated,
        )
        self._record(record)
