"""Reasons of the track, each of which leads to `failed`."""

from harness.specs.reasons import ReasonCode, Verdict

FAILED = Verdict.FAILED
"""The verdict that each code of this track is registered with."""

NOT_INSTALLED = ReasonCode("not-installed")
NOT_STARTED = ReasonCode("not-started")
NOT_USABLE = ReasonCode("not-usable")
NOT_PERSISTENT = ReasonCode("not-persistent")
ACCEPTANCE_FAILED = ReasonCode("acceptance-failed")
