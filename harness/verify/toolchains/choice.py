"""From a repo's language to its toolchain."""

from typing import assert_never

from harness.specs.repo import Language
from harness.verify.toolchains.protocol import Toolchain
from harness.verify.toolchains.python import PythonToolchain


def toolchain_of(language: Language) -> Toolchain:
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
