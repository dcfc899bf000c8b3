"""C, as it is registered."""

from harness.languages.c import discovery
from harness.languages.c.toolchain import CToolchain
from harness.languages.protocol import Language

LANGUAGE = Language(name="c", discovery=discovery, toolchain=CToolchain())
