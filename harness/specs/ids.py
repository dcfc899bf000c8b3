"""Test ids: one test function (or `it`, or C test program) in one file."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from pydantic import StringConstraints

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,79}$")]
"""The name of a repo, task or scaffold: also a directory name and part of an image tag."""

CriterionId = Annotated[str, StringConstraints(pattern=r"^[1-5]\.[0-9]{1,2}$")]
"""`AXIS.NUMBER`, for example `1.4`."""


@dataclass(frozen=True, order=True, slots=True)
class TestId:
    """A test function: `file` is relative to the tree's root with `/`, `name` is in the language's convention.

    Python `Class.test_method` or `test_function`; Go `TestName`; TypeScript `describe > it`; C the program.
    Cases (parametrised, subtests) belong to it and are never part of the name.
    """

    __test__: ClassVar[bool] = False  # keeps pytest from collecting it

    file: str
    name: str

    def __str__(self) -> str:
        return f"{self.file}::{self.name}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The reverse of `str`. Raises ValueError where there is no `::`."""
        file, separator, name = text.partition("::")
        if not (file and separator and name):
            raise ValueError(f"{text!r} is not FILE::NAME")
        return cls(file, name)
