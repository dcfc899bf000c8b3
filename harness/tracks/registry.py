"""The tracks that are known: those of this package, and those that other packages register."""

from typing import cast

from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.registry import Registry
from harness.specs.task import Task
from harness.specs.tracks import TRACK_FACTS
from harness.tracks.protocol import Track

TRACKS = cast("Registry[Track]", TRACK_FACTS)
"""The same registry that `task.yaml` is checked with: what it holds is whole tracks."""


def track_of(task: Task) -> Track:
    """The track of a task. Raises UserError where it can't be imported."""
    return TRACKS.get(task.track)


def check_rules(task: Task, rules: GradingRules) -> None:
    """Raises UserError where the task's track doesn't offer these rules."""
    if rules.is_published and GradingRules.PUBLISHED not in track_of(task).graders:
        raise UserError(f"task {task.id}: --protocol {rules} is for published tasks (-t swe-atlas:PATH)")
