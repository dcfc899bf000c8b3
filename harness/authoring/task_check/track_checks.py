"""Which checks there are for the tasks of a track."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.authoring.task_check.parts import Part
from harness.specs.registry import Registry
from harness.specs.task import Task
from harness.specs.task_facts import Level, StepId
from harness.specs.tracks import BEHAVIOUR


@dataclass(frozen=True)
class TrackChecks:
    """The parts of a check. `static` ones look at files, `dynamic` ones start containers, by level.

    With `needs_tree` the static ones get the task's tree; with `goes_on` the dynamic ones run whatever is wrong with
    the files: where these are other people's, that is there to stay.
    """

    static: Mapping[StepId, Part] = field(default_factory=dict)
    dynamic: Mapping[Level, Mapping[StepId, Part]] = field(default_factory=lambda: {level: {} for level in Level})
    needs_tree: bool = False
    goes_on: bool = False


CHECKS: Registry[TrackChecks] = Registry(
    "check of a track",
    "testwright.checks",
    {
        BEHAVIOUR: "harness.authoring.task_check.own_parts:CHECKS",
        "swe-atlas": "harness.authoring.published_check.parts:CHECKS",
    },
)


def checks_of(task: Task) -> TrackChecks:
    """Those of the task's track; none but that it can be loaded, where nobody registered any."""
    return CHECKS.get(task.track) if task.track in CHECKS.names else TrackChecks()
