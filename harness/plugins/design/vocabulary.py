"""The vocabulary of a design: operations, typed fields, closed outcomes, virtual time."""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from harness.specs.yaml_files import FileModel, load_yaml

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Reserved = frozenset({"op", "at", "outcome"})
_PLACE = re.compile(r"\{(\w+)\}")


class FieldType(StrEnum):
    """Types of a field's value."""

    TEXT = "text"
    INTEGER = "integer"
    FLAG = "flag"
    CHOICE = "choice"
    DATE = "date"
    DATETIME = "datetime"
    NEW_LABEL = "new-label"
    """A name that the step gives to what it makes."""
    LABEL = "label"
    """A name that a step before has given."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldSpec(_Part):
    """A field of an operation or an outcome. `default` stands where a case leaves it out.

    A field of an outcome that is `optional` is compared only where a case states it.
    """

    type: FieldType
    means: str = ""
    of: tuple[str, ...] = ()
    min: int | None = None
    max: int | None = None
    default: str | int | bool | None = None
    optional: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.type is FieldType.CHOICE) != bool(self.of):
            raise ValueError("a field of the type choice, and no other, has the key 'of'")
        if self.type is FieldType.INTEGER and (self.min is None or self.max is None or self.min > self.max):
            raise ValueError("a field of the type integer has 'min' and 'max', the smaller first")
        return self


class CasePart(StrEnum):
    """Parts of a case in which an operation may stand."""

    GIVEN = "given"
    WHEN = "when"


class _Sayable(_Part):
    """An operation or outcome. `step` is its sentence in Gherkin, with a place in braces for each field.

    `or_step` are other sentences, with other fields.
    """

    means: str = Field(min_length=5)
    step: str = Field(min_length=3)
    or_step: tuple[str, ...] = ()
    fields: dict[Name, FieldSpec] = {}

    @property
    def steps(self) -> tuple[str, ...]:
        return (self.step, *self.or_step)

    @model_validator(mode="after")
    def _steps_have_fields(self) -> Self:
        if reserved := Reserved & self.fields.keys():
            raise ValueError(f"field {min(reserved)}: this name has a meaning of its own in a case; choose another")
        for step in self.steps:
            _check_step(step, self.fields)
        if unsaid := [name for name in self.fields if not any(f"{{{name}}}" in step for step in self.steps)]:
            raise ValueError(f"step: none has a place for the field {unsaid[0]!r}; add one under or_step")
        return self


class Operation(_Sayable):
    """A step that cases may have."""

    places: tuple[CasePart, ...] = Field(default=(CasePart.GIVEN, CasePart.WHEN), alias="in", min_length=1)


class OutcomeSpec(_Sayable):
    """An outcome: no case can expect any that the vocabulary doesn't have."""

    @model_validator(mode="after")
    def _no_labels(self) -> Self:
        if wrong := [name for name, field in self.fields.items() if "label" in field.type]:
            raise ValueError(f"field {wrong[0]}: an outcome has no names of what steps make")
        return self


def _check_step(step: str, fields: Mapping[str, FieldSpec]) -> None:
    places = _PLACE.findall(step)
    if unknown := [name for name in places if name not in fields]:
        raise ValueError(f"step: {{{unknown[0]}}} is no field; known: {', '.join(fields) or 'none'}")
    if len(set(places)) != len(places):
        raise ValueError("step: a field is named twice")
    for name, field in fields.items():
        if name not in places and field.default is None and not field.optional:
            raise ValueError(f"step: it has no place for the field {name!r}")
        if name in places and field.type is FieldType.TEXT and f'"{{{name}}}"' not in step:
            raise ValueError(f'step: a text stands in quotes: "{{{name}}}"')


class Vocabulary(FileModel):
    """`vocabulary.yaml`, which agents see."""

    clock: bool = Field(default=False, description="whether a step may say at which time it is, as at: +29m59s")
    operations: dict[Name, Operation] = Field(min_length=1)
    outcomes: dict[Name, OutcomeSpec] = Field(min_length=1)

    @model_validator(mode="after")
    def _something_can_be_asked(self) -> Self:
        if not any(CasePart.WHEN in operation.places for operation in self.operations.values()):
            raise ValueError("operations: none may stand in 'when'")
        return self

    @property
    def compiled(self) -> dict[str, Any]:
        """Return what readers of cases need, as JSON has it."""
        return {
            "clock": self.clock,
            "operations": {
                name: {
                    "in": [str(place) for place in item.places],
                    "steps": item.steps,
                    "fields": _fields(item.fields),
                }
                for name, item in self.operations.items()
            },
            "outcomes": {
                name: {"steps": item.steps, "fields": _fields(item.fields)} for name, item in self.outcomes.items()
            },
        }


def _fields(fields: Mapping[str, FieldSpec]) -> dict[str, dict[str, Any]]:
    return {
        name: field.model_dump(mode="json", exclude={"means"}, exclude_none=True) for name, field in fields.items()
    }


def load_vocabulary(path: Path) -> Vocabulary:
    """Return the vocabulary in a file.

    Raises:
        UserError: It is wrong, in one line with file and line.
    """
    return load_yaml(path, Vocabulary)
