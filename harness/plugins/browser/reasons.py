"""The reasons of the tracks on a stage, and the verdict that each leads to."""

from harness.specs.reasons import ReasonCode, Verdict

FAILED = Verdict.FAILED
"""The verdict that each code of these tracks is registered with."""

TIMING_DEPENDENT = ReasonCode("timing-dependent")
MARKUP_DEPENDENT = ReasonCode("markup-dependent")
TECHNIQUE_NOT_SHOWN = ReasonCode("technique-not-shown")
DATA_DEPENDENT = ReasonCode("data-dependent")
ORDER_DEPENDENT = ReasonCode("order-dependent")
RETRIES = ReasonCode("retries")
APP_DEAD = ReasonCode("app-dead")
