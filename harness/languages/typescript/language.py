"""TypeScript, as it is registered."""

from harness.languages.protocol import Language
from harness.languages.typescript import discovery
from harness.languages.typescript.toolchain import TypeScriptToolchain

LANGUAGE = Language(name="typescript", discovery=discovery, toolchain=TypeScriptToolchain())
