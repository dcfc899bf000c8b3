"""Designed cases as adapters get them: read, checked a second time by strict models, and written as plain lines.

Nothing of a submission's own bytes reaches an arm. A case becomes lines of fields with tabs between them, and all
that it says is percent-encoded:

    case   TC-07
    given  0        account  email=t:a%40x.org
    when   1799000  reset    link=t:L  again=f:true  count=i:3
    then   refused  field=t:password
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from harness.plugins.design.reading import MAX_CASES, MAX_MS, MAX_STEPS, Unreadable, read_cases
from harness.plugins.design.vocabulary import Name, Vocabulary

Value = bool | int | str
Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,39}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Action(_Strict):
    """A step: an operation with its fields, at a virtual time in milliseconds since the case began."""

    op: Name
    ms: int = Field(ge=0, le=MAX_MS)
    fields: dict[Name, Value]


class Expected(_Strict):
    """The outcome that a case expects; fields that it leaves out aren't compared."""

    outcome: Name
    fields: dict[Name, Value]


class Case(_Strict):
    """A designed case. `partition` is words of its author, which nothing grades."""

    id: Label
    partition: str = Field(max_length=200)
    given: list[Action] = Field(max_length=MAX_STEPS)
    when: Action
    then: Expected


class Design(_Strict):
    """All cases of a submission, in its order."""

    cases: list[Case] = Field(max_length=MAX_CASES)


def read_design(data: bytes, name: str, vocabulary: Vocabulary) -> tuple[tuple[Case, ...], Sequence[Unreadable]]:
    """Return the cases in a file, and all that is wrong with it: then there are no cases.

    Args:
        data: The file's bytes, of anybody's making.
        name: Its path; `.feature` is Gherkin, any other YAML.
        vocabulary: What cases may say.
    """
    rows, faults = read_cases(data, name, vocabulary.compiled)
    cases: list[Any] = rows
    return (() if faults else tuple(Design.model_validate({"cases": cases}).cases)), faults


def played(cases: Iterable[Case]) -> bytes:
    """Return cases as adapters read them."""
    return "".join(f"{line}\n" for case in cases for line in _lines(case)).encode()


def _lines(case: Case) -> Iterable[str]:
    yield f"case\t{case.id}"
    for step in case.given:
        yield _action("given", step)
    yield _action("when", case.when)
    yield "\t".join(["then", case.then.outcome, *_values(case.then.fields)])


def _action(kind: str, step: Action) -> str:
    return "\t".join([kind, str(step.ms), step.op, *_values(step.fields)])


def _values(fields: Mapping[str, Value]) -> list[str]:
    return [f"{name}={_told(value)}" for name, value in sorted(fields.items())]


def _told(value: Value) -> str:
    if isinstance(value, bool):
        return f"f:{str(value).lower()}"
    return f"i:{value}" if isinstance(value, int) else f"t:{quote(value, safe='')}"
