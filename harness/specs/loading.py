"""Reading YAML files into frozen models, with errors that name file and line."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from harness.specs.errors import UserError
from harness.specs.plain_yaml import YamlFault, compose, construct

MAX_YAML_BYTES = 1_000_000
MAX_DEPTH = 50


class SchemaError(UserError):
    """A file that isn't as its schema says. The message is its first fault, `each` has all of them."""

    def __init__(self, each: Sequence[UserError]) -> None:
        super().__init__(str(each[0]))
        self.each = tuple(each)


class FileModel(BaseModel):
    """Anything on disk: versioned, frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = 1


FileModelT = TypeVar("FileModelT", bound=BaseModel)


def parse_yaml(text: str, where: str) -> tuple[Any, yaml.Node | None]:
    """The data and its node tree (for line numbers). Raises UserError with `where:line`.

    Tags, aliases and duplicate keys are refused.
    """
    try:
        node = compose(text, MAX_DEPTH)
        return construct(node), node
    except YamlFault as error:
        line = f":{error.line}" if error.line else ""
        raise UserError(f"{where}{line}: {error}") from None


def read_text(path: Path, limit: int = MAX_YAML_BYTES) -> str:
    """A file's text. Raises UserError when it is absent, unreadable, too large or not UTF-8."""
    try:
        if path.stat().st_size > limit:
            raise UserError(f"{path}: larger than {limit} bytes; that can't be right")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


def load_yaml(path: Path, model: type[FileModelT]) -> FileModelT:
    """Read `path` as `model`. Raises UserError: one line, `file:line: what to do`."""
    data, node = parse_yaml(read_text(path), str(path))
    if not isinstance(data, dict):
        raise UserError(f"{path}:1: expected a mapping with keys such as {', '.join(list(model.model_fields)[:3])}")
    return validate(data, node, model, str(path))


def validate(data: Any, node: yaml.Node | None, model: type[FileModelT], where: str) -> FileModelT:
    """Data as `model`. Raises SchemaError for what is wrong, with its lines, the most likely mistake first."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        # A misspelt key is often why another one is missing: the mistake itself comes first.
        found = sorted(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
        told = [f"{where}:{_line_of(node, fault['loc'])}: {_explain(fault, model)}" for fault in found]
        raise SchemaError([UserError(words) for words in dict.fromkeys(told)]) from None


def line_of_key(path: Path, key: str) -> int:
    """The line (from 1) of a top-level key in a YAML file; 1 where it has no such key. Raises UserError."""
    _, node = parse_yaml(read_text(path), str(path))
    return _line_of(node, (key,))


def _line_of(node: yaml.Node | None, location: Sequence[int | str]) -> int:
    """The line (from 1) of the innermost node that `location` reaches."""
    line = node.start_mark.line if node else 0
    for step in location:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == str(step):
                    node, line = value, key.start_mark.line
                    break
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line
    return line + 1


def _explain(error: Any, model: type[BaseModel]) -> str:
    location = error["loc"]
    name = ".".join(str(step) for step in location)
    if error["type"] == "extra_forbidden":
        known = _fields_at(model, location[:-1])
        close = difflib.get_close_matches(str(location[-1]), known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(known)}"
        return f"unknown key {str(location[-1])!r}; {hint}"
    if error["type"] == "missing":
        return f"key {name!r} is missing"
    return f"{name}: {error['msg'].removeprefix('Value error, ')}" if name else str(error["msg"])


def _fields_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """The keys that the model at `location` knows; where the path can't be followed, the top ones."""
    current: Any = model
    for step in location:
        if isinstance(step, str) and isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(step)
            current = _model_within(field.annotation) if field else None
    if isinstance(current, type) and issubclass(current, BaseModel):
        return list(current.model_fields)
    return list(model.model_fields)


def _model_within(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_within(argument) for argument in getattr(annotation, "__args__", ()))
    return next((model for model in found if model), None)
