"""From a task to the toolchain that its variants are made with."""

from harness.languages.registry import toolchain_of_language
from harness.languages.toolchain import Toolchain
from harness.specs.swe_atlas.task import PublishedTask
from harness.specs.task import Task


def toolchain_of(task: Task) -> Toolchain:
    """A published task's run script knows nothing of ours: its variants are text on disk."""
    own = toolchain_of_language(task.repo.language)
    if isinstance(task, PublishedTask):
        from harness.verify.published.on_disk import OnDiskToolchain

        return OnDiskToolchain(task, own)
    return own
