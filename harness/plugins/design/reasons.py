"""The reasons of the design track, and the verdict that each leads to."""

from harness.specs.reasons import ReasonCode, Verdict

FAILED = Verdict.FAILED
"""The verdict that each code of this track is registered with."""

CASE_UNREADABLE = ReasonCode("case-unreadable")
TOO_MANY_CASES = ReasonCode("too-many-cases")
CASE_WRONG = ReasonCode("case-wrong")
OVER_SPECIFIED = ReasonCode("over-specified")
