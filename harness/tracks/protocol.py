"""The protocol of tracks. A track is a kind of task; this is all that differs from one kind to the next.

| what differs | where it is said |
|---|---|
| what a task holds, where it lies | `directories`, `load` |
| what an agent is told | `prompt`, `is_whole_instruction` and `objective` of the task's class |
| what sandboxes and arms start from | `images` |
| how variants come to run | `toolchain` |
| what sandboxes and arms may use | `options` |
| what is read of a submission, which arms run, how they are combined | `graders` |
| what a report says beside the verdict | `columns` |

A submission is a patch and a manifest in every track; a grader decides what of them it reads.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from harness.specs.catalog import TrackFacts
from harness.specs.grading import GradingRules

if TYPE_CHECKING:  # whoever lists tasks or images needs no judge
    from harness.judging.languages.toolchain import Toolchain
    from harness.judging.submission.extraction import Submission
    from harness.judging.verify.judgement import Judgement
    from harness.judging.verify.verdict import VerdictRecord
    from harness.judging.verify.verification import Judging
    from harness.sandbox.options import ContainerRole
    from harness.sandbox.protocol import Image, SandboxOptions
    from harness.specs.task import Task


class TaskImages(Protocol):
    """Images from which sandboxes and arms of a track's tasks start."""

    async def container(self, task: "Task") -> "Image":
        """Return an image of a Docker engine, made if it isn't there.

        Raises:
            ImageUnavailable: It can't be pulled or built.
            UserError: What it is made from is wrong.
        """
        ...

    async def directory(self, task: "Task") -> "Image":
        """Return a directory of this machine, made if it isn't there.

        A track whose images can't be directories refuses at once. A run asks it before it begins, unless the class
        says `makes_directories = True`.

        Raises:
            ImageUnavailable: It can't be fetched or made.
            UserError: What it is made from is wrong.
        """
        ...

    def known_digest(self, task: "Task", engine: str) -> str | None:
        """Return the image's digest without making it.

        Args:
            task: Whose image.
            engine: The name of the engine that it would be made for.

        Returns:
            The digest; None where only making the image tells it.
        """
        ...


class Grader(Protocol):
    """A function that grades a submission by one set of rules."""

    async def __call__(self, judging: "Judging", submission: "Submission", /) -> "Judgement":
        """Return the judgement of a submission; nothing that it holds raises an error.

        Raises:
            UserError: The task itself is wrong.
            SandboxLost: An arm was lost again and again.
        """
        ...


class Column(NamedTuple):
    """A column of a report's table: its title, and a function from a verdict to the cell."""

    title: str
    value: "Callable[[VerdictRecord], str]"


class Track(TrackFacts, Protocol):
    """One kind of task. Its name is the one that it is registered by."""

    @property
    def images(self) -> TaskImages:
        """Images of the track's tasks."""
        ...

    @property
    def graders(self) -> Mapping[GradingRules, Grader]:
        """Graders by their rules: `TESTWRIGHT` for the track's own, `PUBLISHED` for a published verifier's."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the track's own, beside those that every report has."""
        ...

    def toolchain(self, task: "Task") -> "Toolchain":
        """Return the toolchain that makes variants of the task ready to run."""
        ...

    def options(self, task: "Task", role: "ContainerRole") -> "SandboxOptions":
        """Return the options of a container of the task: memory, processes, mounts, and what is hidden from it."""
        ...
