"""The outcome of a trial, submission or task that an error ends, and where its traceback is kept."""

import traceback
from collections.abc import Mapping
from pathlib import Path

from harness.runs.records import write_whole
from harness.runs.unread_work import SubmissionUnread
from harness.specs.errors import (
    BudgetExhausted,
    ImageUnavailable,
    InfrastructureError,
    ProviderError,
    ToolFailed,
    UserError,
)
from harness.specs.reasons import Reason, ReasonCode, Stage

_CODES: Mapping[type[Exception], ReasonCode] = {
    ImageUnavailable: ReasonCode.IMAGE_UNAVAILABLE,
    ProviderError: ReasonCode.PROVIDER_ERROR,
    ToolFailed: ReasonCode.HARNESS_ERROR,
    InfrastructureError: ReasonCode.SANDBOX_LOST,
    BudgetExhausted: ReasonCode.BUDGET_EXHAUSTED,
}
"""The first that fits counts; whatever else there is, is an error of the harness."""


def reason_code(error: Exception) -> ReasonCode:
    """The reason that an error is for a verdict of `unscored`."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), ReasonCode.HARNESS_ERROR)


def reason_of(error: Exception) -> Reason:
    """Why an item that ended with this error has no verdict."""
    return Reason(code=reason_code(error), stage=Stage.TRIAL, words=message_of(error))


def message_of(error: Exception) -> str:
    """One line; of an error that nobody foresaw with its class."""
    known = isinstance(error, UserError | InfrastructureError | BudgetExhausted | SubmissionUnread)
    text = str(error) if known else f"{type(error).__name__}: {error}"
    return text.strip().partition("\n")[0]


def keep_error(directory: Path, error: Exception) -> Path:
    """Keep an error's traceback as `error-1.txt`, `error-2.txt`, ... in a directory; the file's path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"error-{len(list(directory.glob('error-*.txt'))) + 1}.txt"
    write_whole(path, "".join(traceback.format_exception(error)))
    return path


def is_below(name: object, directory: Path) -> bool:
    """Whether the file that an OSError names lies in a directory."""
    return isinstance(name, str | Path) and Path(name).absolute().is_relative_to(directory.absolute())
