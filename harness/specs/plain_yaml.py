"""YAML without its traps: no tags, aliases, duplicate keys or deep nesting. Messages name the line of each fault.

Tags make a scalar what it isn't (`!!int ""`), aliases make small files huge, and of two equal keys one is lost.
All of this is linear in the size of the text.
"""

import re
from typing import Any

import yaml

_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlFault(Exception):
    """Text that isn't YAML as we take it. `line` counts from 1; 0 where it isn't known."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def compose(text: str, max_depth: int) -> yaml.Node | None:
    """The node tree of one document, or None for an empty one. Raises YamlFault."""
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
    """The data of a node: text, numbers, dates and so on, as YAML resolves them. Raises YamlFault."""
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
    """The data of a node as nothing but text, lists and mappings: `1`, `yes` and `~` are text."""
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
    """The line, from 1, on which a node begins."""
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
