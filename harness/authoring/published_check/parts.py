"""The parts of a published task's check, by level."""

from collections.abc import Mapping

from harness.authoring.published_check.leaks import alone_problems, twice_problems
from harness.authoring.published_check.manifest import manifest_problems
from harness.authoring.published_check.oracle import nop_problems, oracle_problems
from harness.authoring.published_check.patches import (
    description_problems,
    reference_problems,
    removal_problems,
    tree_problems,
)
from harness.authoring.task_check.parts import Part
from harness.specs.task_facts import Level

STATIC: Mapping[str, Part] = {
    "description": description_problems,
    "manifest": manifest_problems,
    "reference's files": reference_problems,
    "removal": removal_problems,
}
_BRIEF: Mapping[str, Part] = {"patches on the image's tree": tree_problems, "oracle": oracle_problems}
_WHOLE: Mapping[str, Part] = {
    **_BRIEF,
    "each file alone": alone_problems,
    "run script twice": twice_problems,
    "nop": nop_problems,
}
DYNAMIC: Mapping[Level, Mapping[str, Part]] = {
    Level.QUICK: {},
    Level.BRIEF: _BRIEF,
    Level.GATE: _WHOLE,
    Level.FULL: _WHOLE,
}
