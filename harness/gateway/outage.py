"""When a provider's faults end a trial: the agent repeats requests by itself, so somebody else must lose patience."""

from harness.llm.clock import SYSTEM_CLOCK, Clock
from harness.llm.faults import Fault
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import NO_USAGE

_HOPELESS = frozenset({ProviderFault.AUTH, ProviderFault.PERMISSION, ProviderFault.QUOTA, ProviderFault.NOT_FOUND})
"""Neither time nor anything that an agent could do differently mends these."""


class Outage:
    """The failed requests of a trial since its last answer.

    Faults that pass end the trial once there were as many as a model of our own may have for one answer
    (`retries.attempts`), and the last came at least `retries.longest_wait` seconds after the first: several that fail
    at once are no outage yet. The usage of failed requests is told as they fail; the errors here have none.
    """

    def __init__(self, file: ModelFile, clock: Clock = SYSTEM_CLOCK) -> None:
        self._file = file
        self._clock = clock
        self._began = 0.0
        self._requests = 0
        self.fault: ProviderError | None = None

    def answered(self) -> None:
        self._requests, self.fault = 0, None

    def failed(self, fault: Fault) -> ProviderError | None:
        """The error that ends the trial, if this fault does."""
        now = self._clock.now()
        if fault.is_retryable:
            self._began = now if self._requests == 0 else self._began
            self._requests += 1
        self.fault = self._error(fault)
        is_outage = (
            self._requests >= self._file.retries.attempts and now - self._began >= self._file.retries.longest_wait
        )
        return self.fault if fault.kind in _HOPELESS or (is_outage and fault.is_retryable) else None

    def _error(self, fault: Fault) -> ProviderError:
        message = f"{self._file.model}: {fault.kind}: {fault.message}"
        if self._requests > 1:
            message += f" ({self._requests} requests)"
        return ProviderError(message, fault.kind, NO_USAGE, max(1, self._requests))
