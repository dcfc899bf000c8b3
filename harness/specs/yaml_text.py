"""Writing YAML: the one place that decides what needs quotes."""

from typing import Any

import yaml

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
        """Lists are indented below their key."""
        super().increase_indent(flow, False)


def _represent_quoted(dumper: yaml.SafeDumper, text: Quoted) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')


def _represent_inline(dumper: yaml.SafeDumper, items: Inline) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


_Dumper.add_representer(Quoted, _represent_quoted)
_Dumper.add_representer(Inline, _represent_inline)


def yaml_text(data: Any) -> str:
    """`data` (lists, mappings, text, numbers) as YAML in the order given; it reads back as the same data."""
    return yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_UNBROKEN, default_flow_style=False
    )
