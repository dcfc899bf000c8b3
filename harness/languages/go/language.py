"""Go, as it is registered."""

from harness.languages.go import discovery
from harness.languages.go.toolchain import GoToolchain
from harness.languages.protocol import Language

LANGUAGE = Language(name="go", discovery=discovery, toolchain=GoToolchain())
