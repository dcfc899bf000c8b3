"""The reasons of the track of technique, and the verdict that each leads to."""

from harness.specs.reasons import ReasonCode, Verdict

FAILED = Verdict.FAILED
"""The verdict that each code of this track is registered with."""

TIMING_DEPENDENT = ReasonCode("timing-dependent")
TECHNIQUE_NOT_SHOWN = ReasonCode("technique-not-shown")
APP_DEAD = ReasonCode("app-dead")
