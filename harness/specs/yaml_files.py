"""Reading YAML files into frozen models, with errors that name file and line.

YAML without its traps: no tags, aliases, duplicate keys or deep nesting. Messages name the line of each fault.

Tags make a scalar what it isn't (`!!int ""`), aliases make small files huge, and of two equal keys one is lost.
All of this is linear in the size of the text.

Writing YAML: the one place that decides what needs quotes.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from harness.specs.errors import UserError
from harness.specs.schema_faults import faults_of, line_at

_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlFault(Exception):
    """Text that isn't YAML as it is accepted here. `line` counts from 1; 0 where it isn't known."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def compose(text: str, max_depth: int) -> yaml.Node | None:
    """Return the node tree of one document; None for an empty one.

    Args:
        text: Hostile or not; tags, aliases and deep nesting are faults.
        max_depth: How many levels of lists and mappings may be nested.

    Raises:
        YamlFault: It isn't YAML as it is accepted here.
    """
    try:
        _refuse_traps(text, max_depth)
        node: yaml.Node | None = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        last = max(1, len(text.splitlines()))  # the end of a file is the start of a line that isn't there
        raise YamlFault(
            f"not YAML: {error.problem or error.context}", min(mark.line + 1, last) if mark else 0
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlFault("not YAML: a character that is not allowed", line) from None
    except (yaml.YAMLError, ValueError) as error:
        raise YamlFault(f"not YAML: {str(error).splitlines()[0]}") from None
    if node is not None:
        _refuse_duplicates(node)
    return node


def construct(node: yaml.Node | None) -> Any:
    """Return the data of a node: text, numbers, dates and so on, as YAML resolves them.

    Raises:
        YamlFault: A value can't be made.
    """
    if node is None:
        return None
    try:
        loader = yaml.SafeLoader("")
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or node.start_mark
        raise YamlFault(f"not YAML: {error.problem}", mark.line + 1) from None
    except (ValueError, OverflowError) as error:  # a date or number that can't be
        raise YamlFault(f"not YAML: {error}") from None


def plain(node: yaml.Node | None) -> Any:
    """Return the data of a node as text, lists and mappings alone: `1`, `yes` and `~` are text."""
    match node:
        case None:
            return ""
        case yaml.MappingNode():
            return {key.value: plain(value) for key, value in node.value}
        case yaml.SequenceNode():
            return [plain(item) for item in node.value]
        case _:
            return node.value


def line_of(node: yaml.Node) -> int:
    """Return the line, from 1, on which a node begins."""
    return int(node.start_mark.line) + 1


def _refuse_traps(text: str, max_depth: int) -> None:
    """Look at the stream before anything is built of it."""
    if directive := _DIRECTIVE.search(text):
        # Each %TAG is compared with all before it.
        line = text.count("\n", 0, directive.start()) + 1
        raise YamlFault("directives such as %TAG are not allowed", line)
    depth = documents = 0
    for event in yaml.parse(text, Loader=_LOADER):
        line = event.start_mark.line + 1 if event.start_mark else 0
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if depth > max_depth:
            raise YamlFault("nested too deeply", line)
        if documents > 1:
            raise YamlFault("a second document; only one is allowed", line)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise YamlFault("aliases and anchors are not allowed; write the value out", line)
        if isinstance(event, yaml.NodeEvent) and getattr(event, "tag", None):
            raise YamlFault("tags such as !!str are not allowed; quote what is meant as text", line)


def _refuse_duplicates(root: yaml.Node) -> None:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise YamlFault("a key must be text", line_of(key))
                if key.value in lines:
                    raise YamlFault(f"key {key.value!r} is there already, in line {lines[key.value]}", line_of(key))
                lines[key.value] = line_of(key)
                waiting.append(value)


MAX_YAML_BYTES = 1_000_000
MAX_DEPTH = 50


class SchemaError(UserError):
    """A file that isn't as its schema says. The message is its first fault, `each` has all of them."""

    def __init__(self, each: Sequence[UserError]) -> None:
        super().__init__(str(each[0]))
        self.each = tuple(each)


class FileModel(BaseModel):
    """A file of ours: versioned, frozen, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_record: ClassVar[bool] = False
    """Whether testwright itself writes such files: one of another version is read as far as it fits."""

    schema_version: int = 1


FileModelT = TypeVar("FileModelT", bound=BaseModel)


def parse_yaml(text: str, where: str) -> tuple[Any, yaml.Node | None]:
    """Return the data of a text, and its node tree for line numbers.

    Tags, aliases and duplicate keys are refused.

    Raises:
        UserError: It is wrong; the message begins with `where:line`.
    """
    try:
        node = compose(text, MAX_DEPTH)
        return construct(node), node
    except YamlFault as error:
        line = f":{error.line}" if error.line else ""
        raise UserError(f"{where}{line}: {error}") from None


def read_text(path: Path, limit: int = MAX_YAML_BYTES) -> str:
    """Return a file's text.

    Args:
        path: The file.
        limit: Bytes.

    Raises:
        UserError: It is absent, unreadable, too large or not UTF-8.
    """
    try:
        if path.stat().st_size > limit:
            raise UserError(f"{path}: larger than {limit} bytes; that can't be right")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


def load_yaml(path: Path, model: type[FileModelT], more: Mapping[str, Any] | None = None) -> FileModelT:
    """Read a file as a model.

    Args:
        path: The file.
        model: The class.
        more: Keys that the file doesn't have and the model demands.

    Raises:
        UserError: It is absent or wrong, in one line: `file:line: what to do`.
    """
    data, node = parse_yaml(read_text(path), str(path))
    if not isinstance(data, dict):
        raise UserError(f"{path}:1: expected a mapping with keys such as {', '.join(list(model.model_fields)[:3])}")
    return validate({**data, **(more or {})}, node, model, str(path))


def validate(data: Any, node: yaml.Node | None, model: type[FileModelT], where: str) -> FileModelT:
    """Return data as a model.

    Args:
        data: As YAML gives it.
        node: Its node tree, for line numbers.
        model: The class.
        where: The file's name, for messages.

    Raises:
        SchemaError: It has faults; the most likely one comes first.
    """
    _check_version(data, node, model, where)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        told = [
            f"{where}:{line_at(node, fault.place)}: {fault.message}" for fault in faults_of(error, data, model, node)
        ]
        raise SchemaError([UserError(words) for words in dict.fromkeys(told)]) from None


def _check_version(data: Any, node: yaml.Node | None, model: type[BaseModel], where: str) -> None:
    """Refuse a file that people wrote for another version: what else it says may mean something else there."""
    field = model.model_fields.get("schema_version")
    if field is None or not isinstance(data, dict) or getattr(model, "is_record", False):
        return
    version = data.get("schema_version", field.default)
    if isinstance(version, int | float | str) and str(version) != str(field.default):
        line = line_at(node, ("schema_version",))
        words = f"schema_version {version}: this testwright reads {field.default}"
        raise SchemaError([UserError(f"{where}:{line}: {words}")])


def line_of_key(path: Path, *keys: int | str) -> int:
    """Return the line (from 1) of what keys and numbers of items lead to in a YAML file, as far as they do.

    Raises:
        UserError: The file is absent or wrong.
    """
    _, node = parse_yaml(read_text(path), str(path))
    return line_at(node, keys)


_UNBROKEN = 100_000
"""Characters: no line of ours is folded."""


class Quoted(str):
    """Text that is written in quotes whether or not it needs them, as people write test names and criteria."""

    __slots__ = ()


class Inline(list[Any]):
    """A list that is written on one line: `[a, b]`."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        """Indent lists below their key."""
        super().increase_indent(flow, False)


def _represent_quoted(dumper: yaml.SafeDumper, text: Quoted) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')


def _represent_inline(dumper: yaml.SafeDumper, items: Inline) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


_Dumper.add_representer(Quoted, _represent_quoted)
_Dumper.add_representer(Inline, _represent_inline)


def yaml_text(data: Any) -> str:
    """Return lists, mappings, text and numbers as YAML in the order given; it reads back as the same data."""
    return yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_UNBROKEN, default_flow_style=False
    )


def check_name(path: Path, name: str) -> None:
    """Check that what lies in a directory is called as the directory is.

    Raises:
        UserError: It has another name.
    """
    if name != path.parent.name:
        raise UserError(f"{path}:1: says it is {name!r}, but its directory is {path.parent.name!r}; rename one")
