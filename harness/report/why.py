"""Why a trial ended as it did, in a line: what stopped the agent comes before what its submission lacks."""

from collections.abc import Iterator

from harness.agents.ending import Ending
from harness.analysis.rows import TrialRow
from harness.report.figures import counted
from harness.report.plain import printable
from harness.specs.reasons import Reason, ReasonCode, Verdict

_NOTHING_USABLE = frozenset(
    {ReasonCode.EMPTY_SUBMISSION, ReasonCode.MANIFEST_MISSING, ReasonCode.MANIFEST_UNPARSEABLE}
)
_REASON_CHARS = 160
_MESSAGE_CHARS = 100


def why(row: TrialRow) -> str:
    """Reasons of a verdict, or what is wrong with a trial that has none. Empty for a plain success."""
    words = reason_words(row.reasons) or (printable(row.problem, _REASON_CHARS) if row.verdict is None else "")
    causes = "; ".join(agent_causes(row))
    if not causes:
        return words
    if row.reasons and row.reasons[0].code in _NOTHING_USABLE:
        return f"{causes}; {words}"
    ending = ending_words(row)
    return f"{words} ({ending})".strip() if ending else words


def reason_words(reasons: tuple[Reason, ...]) -> str:
    """The first in words, and how many others there are."""
    if not reasons:
        return ""
    first = reasons[0]
    more = f" (+{len(reasons) - 1} more)" if len(reasons) > 1 else ""
    subject = f"{first.subject}: " if first.subject else ""
    return printable(f"{first.code}: {subject}{first.words}", _REASON_CHARS) + more


def agent_causes(row: TrialRow) -> Iterator[str]:
    """What kept an agent from its work, as far as that is known."""
    if ending := ending_words(row):
        message = f": {printable(row.ending_message, _MESSAGE_CHARS)}" if row.ending_message else ""
        yield ending + message
    if row.failed_requests:
        yield f"{counted(row.failed_requests, 'request')} to its provider failed"
    if row.model and row.ending and row.usage and not row.usage.agent.calls and row.verdict is not Verdict.RESOLVED:
        yield "its model gave no answer"


def ending_words(row: TrialRow) -> str:
    """How the agent ended, where that may be why there is so little to judge; else nothing."""
    return f"ended by {row.ending.replace('-', ' ')}" if row.ending and row.ending != Ending.SUBMITTED else ""
