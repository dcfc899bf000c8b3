"""From a task to the toolchain of its language."""

from typing import assert_never

from harness.specs.repo import Language
from harness.specs.swe_atlas.task import PublishedTask
from harness.specs.task import Task
from harness.verify.toolchains.protocol import Toolchain
from harness.verify.toolchains.python import PythonToolchain


def toolchain_of(task: Task) -> Toolchain:
    """A published task's run script knows nothing of ours: its variants are text on disk."""
    own = toolchain_of_language(task.repo.language)
    if isinstance(task, PublishedTask):
        from harness.verify.toolchains.on_disk import OnDiskToolchain

        return OnDiskToolchain(task, own)
    return own


def toolchain_of_language(language: Language) -> Toolchain:
    match language:
        case Language.PYTHON:
            return PythonToolchain()
        case Language.C:
            from harness.verify.toolchains.c import CToolchain

            return CToolchain()
        case Language.TYPESCRIPT:
            from harness.verify.toolchains.typescript import TypeScriptToolchain

            return TypeScriptToolchain()
        case Language.GO:
            from harness.verify.toolchains.go import GoToolchain

            return GoToolchain()
        case _:
            assert_never(language)
