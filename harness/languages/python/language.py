"""Python, as it is registered."""

from harness.languages.protocol import Language
from harness.languages.python import discovery
from harness.languages.python.toolchain import PythonToolchain

LANGUAGE = Language(name="python", discovery=discovery, toolchain=PythonToolchain())
