"""The errors that a person can do something about."""

from collections.abc import Iterator
from contextlib import contextmanager


class UserError(Exception):
    """Bad input. The message is one line: where it is wrong and what to do. Ends the command with status 2."""


class InfrastructureError(Exception):
    """The machine or a service let us down; the work can be tried again. Never counted against an agent."""


class SandboxLost(InfrastructureError):
    """The container died or was removed under us. Never shown to the model as an observation."""


class ImageUnavailable(InfrastructureError):
    """An image can be neither found, pulled nor built here."""


class ProviderError(InfrastructureError):
    """A model provider failed for good, after the retries that its error class allows."""


@contextmanager
def first_error() -> Iterator[None]:
    """Raise the first error of a task group as itself: the others are its consequences."""
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
