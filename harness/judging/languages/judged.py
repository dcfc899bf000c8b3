"""Conditions by which tests check only where testwright runs them: what all languages have in common. Pure."""

from abc import ABC, abstractmethod
from bisect import bisect_left

from tree_sitter import Node

from harness.judging.languages.conduct import Around, Remark, Shown

ASKS = "asks whether it is judged"


class JudgedChecks(ABC):
    """The checks of one file, and the conditions that they depend on."""

    def __init__(self) -> None:
        self._checks: list[int] = []
        """Where checks begin, in order."""

    @abstractmethod
    def _holds(self, node: Node) -> bool | None:
        """Return whether a condition holds where tests are judged or where not; None where that doesn't decide."""

    def _branch(self, node: Node, around: Around) -> Shown:
        """Mark a choice of which one side has all checks: that where tests are judged."""
        condition, given, other = (
            node.child_by_field_name(field) for field in ("condition", "consequence", "alternative")
        )
        holds = self._holds(condition) if condition is not None else None
        if condition is None or holds is None:
            return "", around
        checks, rest = (given, other) if holds else (other, given)
        is_only = checks is not None and self._tests(checks) and not (rest is not None and self._tests(rest))
        return Remark(ASKS if is_only else "", around, [condition])

    def _tests(self, node: Node) -> bool:
        """Return whether an expression or a statement tests anything."""
        return self._has_check(node)

    def _has_check(self, node: Node) -> bool:
        return self._checks_between(node.start_byte, node.end_byte)

    def _checks_between(self, start: int, end: int) -> bool:
        at = bisect_left(self._checks, start)
        return at < len(self._checks) and self._checks[at] < end
