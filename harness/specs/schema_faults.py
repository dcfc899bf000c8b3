"""Faults of data that isn't as its model says, in the words of people who write files.

A model's own errors speak of tuples and dictionaries, and name the branch of a union as if it were a key.
"""

import difflib
import re
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, ValidationError

Place = tuple[int | str, ...]
"""Keys and numbers of items, from the whole to a part."""
_QUOTES = "write it in quotes: "
_SHOULD_BE = "Input should be "
_PLAIN = (
    (re.compile(r"^(Value error|Assertion failed), "), ""),
    (re.compile(r"^Input should be a valid (tuple|list)\b"), f"{_SHOULD_BE}a list"),
    (re.compile(r"^Input should be a valid (dictionary|mapping)( or instance of \w+)?"), f"{_SHOULD_BE}a mapping"),
    (re.compile(r"^Input should be a valid string\b"), f"{_SHOULD_BE}text"),
    (re.compile(r"^(Tuple|List) should have (.*?)( after validation)?, not"), r"the list should have \2, not"),
)


class Fault(NamedTuple):
    """A fault: where it is, and a message that names the place."""

    place: Place
    message: str


def plain_words(message: str) -> str:
    """Return the message of a model's error without the words of its library."""
    for pattern, words in _PLAIN:
        message = pattern.sub(words, message)
    return message


def first_fault(error: ValidationError, data: Any) -> str:
    """Return the most likely fault of data that no file holds, in one line."""
    return faults_of(error, data)[0].message


def faults_of(
    error: ValidationError, data: Any, model: type[BaseModel] | None = None, node: yaml.Node | None = None
) -> list[Fault]:
    """Return what is wrong, the most likely mistake first.

    Args:
        error: What the model said.
        data: What the model was given.
        model: The model, which knows the keys that a wrong one may stand for.
        node: The data's node tree, which knows how a number was written.
    """
    # A misspelt key is often why another one is missing: the mistake itself comes first.
    raised = sorted(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    found: dict[Place, list[Any]] = {}
    for each in raised:
        found.setdefault(_place_in(data, each["loc"], each["type"]), []).append(each)
    own = {place: each for place, each in found.items() if not _follows(place, found)}
    return [Fault(place, _message(place, each, model, node)) for place, each in own.items()]


def _follows(place: Place, found: dict[Place, list[Any]]) -> bool:
    """Return whether a list is too short only because an item of it is wrong: the item's own fault is told."""
    is_short = all(each["type"] == "too_short" for each in found[place])
    return is_short and any(len(other) > len(place) and other[: len(place)] == place for other in found)


def _place_in(data: Any, location: Sequence[int | str], kind: str) -> Place:
    """Return a location without what isn't in the data: names of a union's branches, and `[key]`."""
    place: list[int | str] = []
    for number, step in enumerate(location):
        is_last = number == len(location) - 1
        is_there = isinstance(data, dict) and step in data
        is_item = isinstance(data, list | tuple) and isinstance(step, int)
        if is_there or is_item or not number or (is_last and kind == "missing"):
            place.append(step)
        if is_there or (is_item and int(step) < len(data)):
            data = data[step]
    return tuple(place)


def _message(place: Place, raised: Sequence[Any], model: type[BaseModel] | None, node: yaml.Node | None) -> str:
    name = ".".join(map(str, place))
    first = raised[0]
    if first["type"] == "extra_forbidden" and model:
        return _unknown_key(place, model)
    if first["type"] == "missing":
        return f"key {name!r} is missing"
    words = _together(list(dict.fromkeys(_words(each, place, node) for each in raised)))
    return f"{name}: {words}" if name else words


def _words(error: Any, place: Place, node: yaml.Node | None) -> str:
    given = error["input"]
    if error["type"] == "string_type" and isinstance(given, int | float | date):
        scalar = _nodes(node, place)[-1][0]
        written = scalar.value if isinstance(scalar, yaml.ScalarNode) else str(given)
        return f'{_QUOTES}"{written}"'
    return plain_words(str(error["msg"]))


def _together(each: list[str]) -> str:
    """Return the messages of a union's branches as one: what would do in any of them."""
    quoted = [words for words in each if words.startswith(_QUOTES)]
    if quoted:
        return quoted[0]
    if all(words.startswith(_SHOULD_BE) for words in each):
        return _SHOULD_BE + " or ".join(words.removeprefix(_SHOULD_BE) for words in each)
    return "; ".join(each)


def line_at(node: yaml.Node | None, place: Sequence[int | str]) -> int:
    """Return the line (from 1) of the innermost node that a place reaches."""
    return _nodes(node, place)[-1][1] + 1


def _nodes(node: yaml.Node | None, place: Sequence[int | str]) -> list[tuple[yaml.Node | None, int]]:
    """Return the nodes on the way to a place, each with its line from 0; the line of a key's value is the key's."""
    reached = [(node, node.start_mark.line if node else 0)]
    for step in place:
        if isinstance(node, yaml.MappingNode):
            reached += [(value, key.start_mark.line) for key, value in node.value if key.value == str(step)]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            reached += [(item, item.start_mark.line) for item in node.value[step : step + 1]]
        node = reached[-1][0]
    return reached


def _unknown_key(place: Place, model: type[BaseModel]) -> str:
    known = _fields_at(model, place[:-1])
    close = difflib.get_close_matches(str(place[-1]), known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(known)}"
    return f"unknown key {str(place[-1])!r}; {hint}"


def _fields_at(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """Return the keys that the model at `location` knows; where the path can't be followed, the top ones."""
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
