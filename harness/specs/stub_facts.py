"""What `testwright task stub` makes of a task's symbols."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class StubbedPatch:
    """One removal: `kind` as the language has it, `diff` as git writes it.

    `warnings` are of stubs whose value a legitimate test could expect. `said` is what the compiler says; empty where
    it compiles. `is_written` says that it lies at `path` now.
    """

    kind: str
    path: Path
    diff: str
    warnings: tuple[str, ...]
    said: str = ""
    is_written: bool = False

    @property
    def compiles(self) -> bool:
        return not self.said
