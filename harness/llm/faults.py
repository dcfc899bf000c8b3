"""Classifies a provider's errors by status, code and text, the same for every client."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from harness.llm.protocol import FailedRequest
from harness.llm.recording import now
from harness.specs.errors import ProviderFault
from harness.specs.secrets import without_secrets
from harness.specs.usage import NO_USAGE, Usage

_MESSAGE_CHARS = 300
_BY_STATUS = {
    401: ProviderFault.AUTH,
    402: ProviderFault.QUOTA,
    403: ProviderFault.PERMISSION,
    404: ProviderFault.NOT_FOUND,
    408: ProviderFault.TIMEOUT,
    409: ProviderFault.SERVER,
    413: ProviderFault.TOO_LARGE,
    425: ProviderFault.OVERLOADED,
    429: ProviderFault.RATE_LIMIT,
    503: ProviderFault.OVERLOADED,
    504: ProviderFault.TIMEOUT,
    529: ProviderFault.OVERLOADED,
}
_QUOTA = re.compile(r"insufficient_quota|billing_error|billing_not_active|credit balance is too low")
_CONTEXT = re.compile(r"context_length_exceeded|maximum context length|prompt is too long|context window")
_POLICY = re.compile(r"content_policy_violation|content_filter|content management policy|content filtering policy")
_TOOLS = re.compile(
    r"not support.*\btools?\b|\btools?\b.*not support|support tool use|tool choice requires|function.?call",
    re.IGNORECASE,
)
REMEDIES = {
    ProviderFault.AUTH: "the provider refuses the key, or there is none; check the environment variable for it",
    ProviderFault.PERMISSION: "the provider refuses the key for this model; check what the key may use",
    ProviderFault.QUOTA: "the account has no money or quota left; waiting won't help",
}


class Fault(Exception):
    """A request that failed after so many `seconds`. `usage` is what it cost all the same."""

    def __init__(
        self, kind: ProviderFault, message: str, retry_after: float | None = None, usage: Usage = NO_USAGE
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = REMEDIES.get(kind) or one_line(message)
        self.retry_after = retry_after
        self.usage = usage
        self.seconds = 0.0

    @property
    def is_retryable(self) -> bool:
        return self.kind.is_retryable

    def request(self, retry_in: float | None) -> FailedRequest:
        """For whoever observes it. `retry_in` is None where the request isn't repeated."""
        return FailedRequest(
            fault=self.kind, message=self.message, seconds=self.seconds, usage=self.usage, retry_in=retry_in
        )


def no_key(message: str) -> Fault:
    """The fault of a client that has no key to send; its own message often names the variable."""
    fault = Fault(ProviderFault.AUTH, message)
    fault.message = f"there is no key: {one_line(message)}"
    return fault


def refusal(status: int, message: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Fault:
    """The fault of an HTTP answer that isn't a success. `body` is its JSON, in which a code may hide."""
    return Fault(classify(status, f"{message} {body or ''}"), message, wait_asked_for(headers or {}))


def classify(status: int, text: str) -> ProviderFault:
    """By status, and where one status serves several purposes by what is in `text`."""
    if status in (400, 402, 403, 429) and _QUOTA.search(text):
        return ProviderFault.QUOTA
    if status in (400, 413, 422) and _CONTEXT.search(text):
        return ProviderFault.CONTEXT
    if status in (400, 403, 422) and _POLICY.search(text):
        return ProviderFault.POLICY
    if status in (400, 404, 422, 501) and _TOOLS.search(text):
        return ProviderFault.TOOLS
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return ProviderFault.SERVER if status >= 500 else ProviderFault.BAD_REQUEST


def wait_asked_for(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after`, which holds seconds or a date.

    A date is counted from the answer's own `date`, so that our clock doesn't matter; without one by our clock.
    """
    found = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(found[name]) * unit
        except (KeyError, ValueError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    until = _date(found.get("retry-after", ""))
    return max(0.0, (until - (_date(found.get("date", "")) or now())).total_seconds()) if until else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date.replace(tzinfo=date.tzinfo or UTC)


def one_line(text: str) -> str:
    """Without control characters and without any key, which a provider's message may repeat."""
    printable = "".join(char if char.isprintable() else " " for char in without_secrets(text))
    return " ".join(printable.split())[:_MESSAGE_CHARS]
