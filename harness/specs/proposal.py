"""What `testwright task new` found: the code that a task's behaviour lies in."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict


class Symbol(BaseModel):
    """A function: how many of its lines the chosen tests reach, and how many of these no test beside them does."""

    model_config = ConfigDict(frozen=True)

    file: str
    name: str
    first_line: int
    reached: int
    alone: int


class Proposal(BaseModel):
    """`symbols` are those that a removal may take out, the most likely first.

    `remark` says why there are none, and what else of upstream's tests should be withheld with these.
    """

    model_config = ConfigDict(frozen=True)

    task: str
    tests: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    remark: str
    written: tuple[Path, ...]
