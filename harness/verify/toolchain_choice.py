"""From a task to the toolchain that its variants are made with."""

from harness.languages.registry import language_of
from harness.languages.toolchain import Toolchain
from harness.specs.swe_atlas.task import PublishedTask
from harness.specs.task import Task


def toolchain_of(task: Task) -> Toolchain:
    """A published task's run script knows nothing of ours: its variants are text on disk."""
    language = language_of(task.repo)
    if isinstance(task, PublishedTask):
        from harness.verify.published.on_disk import OnDiskToolchain

        return OnDiskToolchain(task, language.code)
    return language.toolchain
