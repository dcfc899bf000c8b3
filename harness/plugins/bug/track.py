"""The track of bugs: a report of a symptom goes out; a reproduction, a place and a repair come in."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.plugins.bug.task import NAME, load_bug
from harness.sandbox.options import ContainerRole, options_for
from harness.sandbox.protocol import SandboxOptions
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.task import Task
from harness.specs.tracks import TaskCatalog, TaskOptions
from harness.tracks.behaviour import RepoImages

if TYPE_CHECKING:
    from harness.judging.languages.toolchain import Toolchain
    from harness.judging.verify.verdict import VerdictRecord
    from harness.tracks.protocol import Column, Grader


class BugTrack:
    """See `Track`. Images are those of a repository whose tree is other text, with the bug in it."""

    images = RepoImages()

    @property
    def columns(self) -> "tuple[Column, ...]":
        from harness.tracks.protocol import Column

        return (Column("parts", parts_met),)

    @property
    def graders(self) -> "Mapping[GradingRules, Grader]":
        from harness.plugins.bug.grading import grade

        return {GradingRules.TESTWRIGHT: grade}

    def toolchain(self, task: Task) -> "Toolchain":
        from harness.judging.languages.registry import language_of

        return language_of(task.repo).toolchain

    def options(self, task: Task, role: ContainerRole) -> SandboxOptions:
        return options_for(task.repo, role)

    def directories(self, place: str) -> list[Path]:
        raise UserError(f"{NAME}:{place}: no task of this track in the catalog; name another one with --catalog DIR")

    def load(self, directory: Path, catalog: TaskCatalog, options: TaskOptions) -> Task:  # noqa: ARG002
        return load_bug(directory, catalog)


def parts_met(record: "VerdictRecord") -> str:
    """Return the parts of a verdict that are met, in words."""
    criteria = record.stages.rubric.criteria
    return ", ".join(item.id for item in criteria if item.met) or ("none" if criteria else "-")


TRACK = BugTrack()
