"""The rules by which a submission is graded."""

from enum import StrEnum

NO_RESULT = "no result"
"""A published grader's word for a listed test that its log doesn't name."""


class GradingRules(StrEnum):
    """The values of `--protocol`, which is also this field's name in files."""

    TESTWRIGHT = "testwright"
    """The rules of the task's track."""
    PUBLISHED = "published"
    """The rules of the verifier that came with the task, where its track knows one."""
    BOTH = "both"
    """The track's decide; what the published ones come to is written beside it."""

    @property
    def is_ours(self) -> bool:
        """Return whether submissions are judged by testwright's rules."""
        return self is not GradingRules.PUBLISHED

    @property
    def is_published(self) -> bool:
        """Return whether submissions are judged by the rules of the published tasks."""
        return self is not GradingRules.TESTWRIGHT


class ControlRound(StrEnum):
    """The values of `--control`: which kills of a submission are run again alone before it is resolved."""

    NONE = "none"
    """None are; so it was before there were control rounds."""
    DRAWN = "drawn"
    """Some that it needs, drawn."""
    ALL = "all"

    def covers(self, other: "ControlRound") -> bool:
        """Return whether nothing is left of what the other one asks for."""
        order = list(ControlRound)
        return order.index(self) >= order.index(other)
