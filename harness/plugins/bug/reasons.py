"""The reasons of the bug track, and the verdict that each leads to."""

from harness.specs.reasons import ReasonCode, Verdict

FAILED = Verdict.FAILED
"""The verdict that each code of this track is registered with."""

NOT_REPRODUCED = ReasonCode("not-reproduced")
FIX_REJECTED = ReasonCode("fix-rejected")
TEXT_DEPENDENT = ReasonCode("text-dependent")
ACCEPTS_PARTIAL_FIX = ReasonCode("accepts-partial-fix")
ACCEPTS_WRONG_FIX = ReasonCode("accepts-wrong-fix")
NOT_LOCATED = ReasonCode("not-located")
LOCATED_TOO_WIDELY = ReasonCode("located-too-widely")
BUG_STAYS = ReasonCode("bug-stays")
REPAIR_BREAKS = ReasonCode("repair-breaks")
REPAIR_OVERFITS = ReasonCode("repair-overfits")
REPAIR_ASKS_FOR_TESTS = ReasonCode("repair-asks-for-tests")
