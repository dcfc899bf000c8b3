"""The errors that a user can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.specs.usage import Usage


class UserError(Exception):
    """Bad input. The message is one line: where it is wrong and what to do. Ends the command with status 2."""


class Extra(StrEnum):
    """An extra of the package: what one feature needs, and the base leaves out."""

    SITE = "site"
    EXPORT = "export"
    RAY = "ray"

    @property
    def library(self) -> str:
        """The top-level package that shows whether the extra is installed."""
        return {Extra.SITE: "matplotlib", Extra.EXPORT: "pyarrow", Extra.RAY: "ray"}[self]


def check_extra(extra: Extra, feature: str) -> None:
    """Refuse a feature whose extra isn't installed, before anything is done for it. Nothing is imported.

    Args:
        extra: The extra that has what the feature needs.
        feature: The words of the command that ask for it, as the message begins with them.

    Raises:
        UserError: The extra isn't installed; the line says how to install it.
    """
    if find_spec(extra.library) is None:
        raise UserError(f"{feature} needs the extra {extra.value!r}: pip install 'testwright[{extra}]'")


class InfrastructureError(Exception):
    """A failure of the machine or a service; the work can be tried again. Never counted against an agent."""


class SandboxLost(InfrastructureError):
    """A container that died or was removed. Never shown to the model as an observation."""


class EndedFromOutside(SandboxLost):
    """A container that neither its own processes nor one of our limits ended: its end shows nothing of them."""


class Starved(SandboxLost):
    """A job, or the reading of a text, that hardly ran because the machine was busy: its end would show nothing."""


class ImageUnavailable(InfrastructureError):
    """An image that can be neither found, pulled nor built here."""


class ToolFailed(InfrastructureError):
    """A program or a disk of this machine that failed. The message names it."""


class NotWritable(ToolFailed):
    """A disk that is read-only, or a directory that isn't ours to write: no further try mends that."""


class ProviderFault(StrEnum):
    """The class of a provider's error: whether asking again can help depends on it alone."""

    RATE_LIMIT = "rate-limit"
    OVERLOADED = "overloaded"
    SERVER = "server"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    MALFORMED = "malformed"
    AUTH = "auth"
    PERMISSION = "permission"
    BAD_REQUEST = "bad-request"
    CONTEXT = "context"
    POLICY = "policy"
    NOT_FOUND = "not-found"
    TOO_LARGE = "too-large"
    QUOTA = "quota"
    TOOLS = "tools"
    ENDED = "ended"

    @property
    def is_retryable(self) -> bool:
        """Return whether asking again can help."""
        return self not in NOT_RETRYABLE


NOT_RETRYABLE = frozenset(
    {
        ProviderFault.AUTH,
        ProviderFault.PERMISSION,
        ProviderFault.BAD_REQUEST,
        ProviderFault.CONTEXT,
        ProviderFault.POLICY,
        ProviderFault.NOT_FOUND,
        ProviderFault.TOO_LARGE,
        ProviderFault.QUOTA,
        ProviderFault.TOOLS,
        ProviderFault.ENDED,
    }
)
"""Faults that repeating the request can't mend. All others are retried."""


class ProviderError(InfrastructureError):
    """A model provider that failed for good, after the retries that its error class allows.

    `usage` is what was paid for replies that were of no use before it came to this, `requests` how many were made.
    """

    def __init__(
        self,
        message: str,
        fault: ProviderFault = ProviderFault.SERVER,
        usage: Usage | None = None,
        requests: int = 0,
    ) -> None:
        # Every command imports this module, and the models of pydantic are half of what its help would cost.
        from harness.specs.usage import NO_USAGE

        super().__init__(message)
        self.fault = fault
        self.usage = usage or NO_USAGE
        self.requests = requests


class JudgeUnavailable(Exception):
    """A judge that was asked and has told nothing; the trial keeps the verdict that it had."""


class BudgetExhausted(Exception):
    """A budget that is spent; raised before the next call, never after one."""


class TimeExhausted(BudgetExhausted):
    """The end of the time that somebody set aside for one trial."""


@contextmanager
def first_error() -> Iterator[None]:
    """Raise the first error of a task group as itself.

    The others are mostly its consequences, but not always: each is a note of it, and they are its cause with their
    tracebacks.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        error, *others = _leaves(group)
        if not others:
            raise error from error.__cause__
        for other in others:
            error.add_note(f"beside it: {type(other).__name__}: {other}")
        raise error from BaseExceptionGroup("what else went wrong beside it", others)


def _leaves(error: BaseException) -> list[BaseException]:
    """Return the errors that groups within groups hold, in their order."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for each in error.exceptions for leaf in _leaves(each)]
