"""The parts of a published task's check, by level."""

from collections.abc import Mapping

from harness.authoring.task_check.context import Part, TrackChecks
from harness.plugins.published.check.leaks import alone_problems, twice_problems
from harness.plugins.published.check.oracle import nop_problems, oracle_problems
from harness.plugins.published.check.patches import (
    description_problems,
    manifest_problems,
    reference_problems,
    removal_problems,
    tree_problems,
)
from harness.specs.task_facts import Level, StepId

STATIC: Mapping[StepId, Part] = {
    StepId.DESCRIPTION: description_problems,
    StepId.MANIFEST: manifest_problems,
    StepId.REFERENCE_FILES: reference_problems,
    StepId.REMOVAL: removal_problems,
}
_BRIEF: Mapping[StepId, Part] = {StepId.PATCHES_ON_IMAGE: tree_problems, StepId.ORACLE: oracle_problems}
_WHOLE: Mapping[StepId, Part] = {
    **_BRIEF,
    StepId.FILE_ALONE: alone_problems,
    StepId.RUN_SCRIPT_TWICE: twice_problems,
    StepId.NOP: nop_problems,
}
DYNAMIC: Mapping[Level, Mapping[StepId, Part]] = {
    Level.QUICK: {},
    Level.BRIEF: _BRIEF,
    Level.GATE: _WHOLE,
    Level.FULL: _WHOLE,
}
CHECKS = TrackChecks(STATIC, DYNAMIC, goes_on=True)
