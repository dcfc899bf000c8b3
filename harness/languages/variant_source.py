"""One variant of a task before anything is compiled."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.specs.variants import VariantKind


@dataclass(frozen=True)
class VariantSource:
    """`disk` is the text that lies in the tree, `code` the text that what runs is compiled from.

    Both have every path that any variant of the task touches. `rewritten_lines` are lines of the
    pristine text whose functions get other generated code of the same behaviour when `code` is compiled;
    `dead` is a text whose functions' bodies are kept in the compiled code where they never run.
    """

    name: str
    kind: VariantKind
    disk: Mapping[str, bytes]
    code: Mapping[str, bytes]
    criterion: str = ""
    rewritten_lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    dead: Mapping[str, bytes] = field(default_factory=dict)
