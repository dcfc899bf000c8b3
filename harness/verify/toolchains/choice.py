"""From a repo's language to its toolchain."""

from typing import assert_never

from harness.specs.repo import Language
from harness.verify.toolchains.protocol import Toolchain
from harness.verify.toolchains.python import PythonToolchain


def toolchain_of(language: Language) -> Toolchain:
    match language:
        case Language.PYTHON:
            return PythonToolchain()
        case _:
            assert_never(language)
