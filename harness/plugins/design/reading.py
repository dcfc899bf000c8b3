"""Reads designed cases: YAML, or Gherkin over the same operations. Part of the harness, and of agents' validator.

Needs the standard library and PyYAML alone. What a case may say is in the vocabulary, as `vocabulary.json` has it.
Every scalar is text until the vocabulary gives it a type: `0123`, `yes` and `12:30` are what they look like.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

import yaml

MAX_BYTES = 80_000
MAX_CASES = 40
MAX_STEPS = 60
MAX_DEPTH = 6
MAX_TEXT = 2_000
MAX_MS = 20 * 366 * 24 * 3600 * 1000
ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_TIME = re.compile(
    r"\+(?=\d)(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m(?!s))?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?", re.ASCII
)
_UNITS = (86_400_000, 3_600_000, 60_000, 1_000, 1)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATETIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?", re.ASCII)
Json = dict[str, Any]
Patterns = list[tuple[str, re.Pattern[str]]]
_KEYS = ("id", "partition", "given", "when", "then")


class Unreadable(Exception):
    """A fault of a design, with its line; 0 where it is the file as a whole."""

    def __init__(self, words: str, line: int = 0) -> None:
        super().__init__(words)
        self.words, self.line = words, line


class TooMany(Unreadable):
    """More cases than may be handed in."""


def read_cases(data: bytes, name: str, vocabulary: Json) -> tuple[list[Json], list[Unreadable]]:
    """Return the cases of a design, in its order; each is a dictionary.

    Args:
        data: The file's bytes.
        name: Its name; `.feature` is Gherkin, any other YAML.
        vocabulary: What cases may say, as `vocabulary.json` has it.

    Returns:
        The cases, and a list of all faults, as `Unreadable`. With a fault no case counts.
    """
    try:
        text = _text(data)
        rows = _scenarios(text, vocabulary) if name.endswith(".feature") else _rows(text)
    except Unreadable as fault:
        return [], [fault]
    cases: list[Json] = []
    faults: list[Unreadable] = []
    lines: dict[str, int] = {}
    for row in rows:
        try:
            case = _case(row, vocabulary)
            if case["id"] in lines:
                raise Unreadable(f"case {case['id']} is there already, in line {lines[case['id']]}", row.line)
            lines[case["id"]] = row.line
            cases.append(case)
        except Unreadable as fault:
            faults.append(fault)
    if len(rows) > MAX_CASES:
        faults.insert(0, TooMany(f"{len(rows)} cases; at most {MAX_CASES} count", rows[MAX_CASES].line))
    if not rows:
        faults.append(Unreadable("there is no case"))
    return ([] if faults else cases), faults


def _text(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise Unreadable(f"larger than {MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8") from None
    return text.replace("\r\n", "\n")


class _Node:
    """A value with its line: text, a list of nodes or a dictionary of nodes."""

    def __init__(self, value: Any, line: int) -> None:
        self.value, self.line = value, line


# YAML


def _rows(text: str) -> "list[_Node]":
    try:
        _refuse_traps(text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Unreadable(f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else 0) from None
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable(f"not YAML: {str(error).splitlines()[0]}") from None
    if root is None:
        return []
    rows = _plain(root)
    if not isinstance(rows.value, list):
        raise Unreadable("expected a list of cases, each beginning with '- id: ...'", rows.line)
    return rows.value


def _refuse_traps(text: str) -> None:
    depth = documents = 0
    for number, written in enumerate(text.split("\n"), 1):
        if written.startswith("%"):
            raise Unreadable("directives such as %TAG are not allowed", number)
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if depth > MAX_DEPTH:
            raise Unreadable("nested too deeply", line)
        if documents > 1:
            raise Unreadable("a second document; only one is allowed", line)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise Unreadable("aliases and anchors are not allowed; write the value out", line)
        if isinstance(event, yaml.NodeEvent) and getattr(event, "tag", None):
            raise Unreadable("tags such as !!str are not allowed", line)


def _plain(node: yaml.Node) -> _Node:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return _Node([_plain(item) for item in node.value], line)
    if not isinstance(node, yaml.MappingNode):
        if getattr(node, "style", None) is None and node.value in ("", "~", "null"):
            raise Unreadable('nothing stands here; write "" for an empty text', line)
        return _Node(node.value, line)
    found = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise Unreadable("a key must be text", key.start_mark.line + 1)
        if key.value in found:
            raise Unreadable(f"key {_shown(key.value)} is there twice", key.start_mark.line + 1)
        found[key.value] = _plain(value)
    return _Node(found, line)


# Gherkin

_STEP = re.compile(r"(Given|When|Then|And|But|\*)\s+(?:at (\+\w+),? )?(.*)")
_HEAD = re.compile(r"(Feature|Rule|Background|Scenario|Example|Scenario Outline|Scenario Template|Examples):\s*(.*)")
_PLACE = re.compile(r"\{(\w+)\}")


def _scenarios(text: str, vocabulary: Json) -> list[_Node]:
    """Return scenarios as rows of the same form as those of YAML."""
    operations = _patterns(vocabulary["operations"])
    outcomes = _patterns(vocabulary["outcomes"])
    rows: list[_Node] = []
    part, seen = "", False
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith(("#", "@")):
            continue
        if head := _HEAD.fullmatch(line):
            _head(head, number, rows)
            part, seen = "", True
        elif not (step := _STEP.fullmatch(line)):
            if rows or not seen:
                raise Unreadable(f"neither a scenario nor a step: {_shown(line)}", number)
        else:
            if not rows:
                raise Unreadable("a step before the first scenario", number)
            part = _step(rows[-1].value, part, step, number, operations if step[1] != "Then" else outcomes)
    return rows


def _head(head: re.Match[str], number: int, rows: list[_Node]) -> None:
    if head[1] in ("Feature", "Rule"):
        return
    if head[1] not in ("Scenario", "Example"):
        raise Unreadable(f"{head[1]} is not read; write each scenario out", number)
    name, _, words = head[2].partition(" ")
    row = {"id": _Node(name.rstrip(":"), number), "given": _Node([], number)}
    if words.strip():
        row["partition"] = _Node(words.strip(), number)
    rows.append(_Node(row, number))


def _step(row: dict[str, _Node], part: str, step: re.Match[str], number: int, patterns: Patterns) -> str:
    keyword, at, words = step.groups()
    part = part if keyword in ("And", "But", "*") else keyword.lower()
    if part not in ("given", "when", "then"):
        raise Unreadable(f"{keyword} comes first here; begin with Given or When", number)
    order = ("given", "when", "then")
    if part != "then" and any(name in row for name in order[max(1, order.index(part)) :]):
        raise Unreadable("a scenario has Given steps, one When and one Then, in this order", number)
    if part == "then" and "then" in row:
        raise Unreadable("a scenario has one Then", number)
    kind = "outcome" if part == "then" else "op"
    name, fields = _matched(words, patterns, number)
    made = {kind: _Node(name, number), **{key: _Node(value, number) for key, value in fields.items()}}
    if at:
        made["at"] = _Node(at, number)
    node = _Node(made, number)
    if part == "given":
        row["given"].value.append(node)
    else:
        row[part] = node
    return part


def _patterns(known: Json) -> Patterns:
    return [(name, _pattern(step, item["fields"])) for name, item in known.items() for step in item["steps"]]


def _pattern(template: str, fields: Json) -> re.Pattern[str]:
    parts = _PLACE.split(template)
    for place in range(1, len(parts), 2):
        is_text = fields[parts[place]]["type"] == "text"
        parts[place] = f"(?P<{parts[place]}>" + (r'(?:[^"\\]|\\["\\])*' if is_text else r'[^"\s]+?') + ")"
    parts[::2] = [re.escape(part) for part in parts[::2]]
    return re.compile("".join(parts))


def _matched(words: str, patterns: Patterns, number: int) -> tuple[str, dict[str, str]]:
    if len(words) > MAX_TEXT:
        raise Unreadable(f"a step of more than {MAX_TEXT} characters", number)
    found = [(name, match) for name, pattern in patterns if (match := pattern.fullmatch(words))]
    if not found:
        raise Unreadable(f"unknown step {_shown(words)}; vocabulary.yaml has the steps", number)
    if len(found) > 1:
        raise Unreadable(f"this step may mean {found[0][0]} or {found[1][0]}; write the case in YAML", number)
    name, match = found[0]
    return name, {key: re.sub(r'\\(["\\])', r"\1", value) for key, value in match.groupdict().items()}


# What a case may say


def _case(row: _Node, vocabulary: Json) -> Json:
    fields = _mapping(row, "a case")
    for key in fields:
        if key not in _KEYS:
            raise Unreadable(f"unknown key {_shown(key)} of a case; known: {', '.join(_KEYS)}", fields[key].line)
    for key in ("id", "when", "then"):
        if key not in fields:
            raise Unreadable(f"the case has no {key!r}", row.line)
    name = _scalar(fields["id"], "id")
    if not ID.fullmatch(name):
        raise Unreadable(f"id {_shown(name)}: a letter, then letters, digits, - and _; at most 40", fields["id"].line)
    partition = _scalar(fields["partition"], "partition") if "partition" in fields else ""
    _check_text(partition, 200, "partition", row.line)
    given = fields["given"].value if "given" in fields else []
    if not isinstance(given, list):
        raise Unreadable("given: expected a list of steps", fields["given"].line)
    if len(given) > MAX_STEPS:
        raise Unreadable(f"given: more than {MAX_STEPS} steps", fields["given"].line)
    state = {"ms": 0, "labels": set()}
    steps = [_action(step, vocabulary, state, "given") for step in given]
    when = _action(fields["when"], vocabulary, state, "when")
    then = _outcome(fields["then"], vocabulary)
    return {"id": name, "partition": partition, "given": steps, "when": when, "then": then}


def _action(node: _Node, vocabulary: Json, state: Json, place: str) -> Json:
    fields = _mapping(node, f"a step of {place}")
    name = _named(fields, node, "op", vocabulary["operations"])
    operation = vocabulary["operations"][name]
    if place not in operation["in"]:
        raise Unreadable(f"{name} can't stand in {place!r}", node.line)
    if "at" in fields:
        if not vocabulary["clock"]:
            raise Unreadable("this vocabulary has no time, so no 'at'", fields["at"].line)
        ms = _ms(_scalar(fields["at"], "at"), fields["at"].line)
        if ms < state["ms"]:
            raise Unreadable("time goes backward here: 'at' counts from the start of the case", fields["at"].line)
        state["ms"] = ms
    values = _values(fields, node, operation["fields"], ("op", "at"), name, state["labels"])
    known = operation["fields"].items()
    state["labels"].update(values[key] for key, field in known if field["type"] == "new-label" and key in values)
    return {"op": name, "ms": state["ms"], "fields": values}


def _outcome(node: _Node, vocabulary: Json) -> Json:
    fields = _mapping(node, "then")
    name = _named(fields, node, "outcome", vocabulary["outcomes"])
    known = vocabulary["outcomes"][name]["fields"]
    return {"outcome": name, "fields": _values(fields, node, known, ("outcome",), name, set())}


def _named(fields: dict[str, _Node], node: _Node, key: str, known: Json) -> str:
    if key not in fields:
        raise Unreadable(f"key {key!r} is missing", node.line)
    name = _scalar(fields[key], key)
    if name not in known:
        raise Unreadable(f"unknown {key} {_shown(name)}; known: {', '.join(known)}", fields[key].line)
    return name


def _values(
    fields: dict[str, _Node], node: _Node, known: Json, others: tuple[str, ...], name: str, labels: set[str]
) -> Json:
    values = {}
    for key, value in fields.items():
        if key in others:
            continue
        if key not in known:
            raise Unreadable(f"{name} has no field {_shown(key)}; it has: {', '.join(known) or 'none'}", value.line)
        values[key] = _typed(_scalar(value, key), known[key], f"{name}.{key}", value.line, labels)
    for key, field in known.items():
        if key not in values:
            if field.get("default") is not None:
                values[key] = field["default"]
            elif not field.get("optional"):
                raise Unreadable(f"{name} needs the field {key!r}", node.line)
    return values


def _typed(text: str, field: Json, where: str, line: int, labels: set[str]) -> str | int | bool:
    kind = field["type"]
    if kind == "text":
        return _check_text(text, field.get("max", MAX_TEXT), where, line)
    if kind == "integer":
        if not _INTEGER.fullmatch(text):
            raise Unreadable(f"{where}: {_shown(text)} is no whole number", line)
        if not field["min"] <= int(text) <= field["max"]:
            raise Unreadable(f"{where}: {text} is not from {field['min']} to {field['max']}", line)
        return int(text)
    if kind == "flag":
        if text not in ("true", "false"):
            raise Unreadable(f"{where}: write true or false", line)
        return text == "true"
    if kind == "choice":
        if text not in field["of"]:
            raise Unreadable(f"{where}: {_shown(text)} is none of {', '.join(field['of'])}", line)
        return text
    if kind in ("label", "new-label"):
        if not LABEL.fullmatch(text):
            raise Unreadable(f"{where}: a name is a letter, then letters, digits, - and _", line)
        if kind == "label" and text not in labels:
            raise Unreadable(f"{where}: no step before makes {_shown(text)}", line)
        return text
    return _moment(text, kind, where, line)


def _datetime(text: str) -> str:
    """Return the same moment in one spelling: with seconds only where there are some."""
    moment = datetime.fromisoformat(text)
    return moment.isoformat(timespec="seconds" if moment.second else "minutes")


_MOMENTS: Mapping[str, tuple[re.Pattern[str], Callable[[str], str], str]] = {
    "date": (_DATE, lambda text: date.fromisoformat(text).isoformat(), "2026-03-29"),
    "datetime": (_DATETIME, _datetime, "2026-03-29T01:30"),
}


def _moment(text: str, kind: str, where: str, line: int) -> str:
    form, read, example = _MOMENTS[kind]
    try:
        if form.fullmatch(text):
            return read(text)
    except ValueError:
        pass
    raise Unreadable(f"{where}: {_shown(text)} is no {kind} such as {example}", line)


def _ms(text: str, line: int) -> int:
    found = _TIME.fullmatch(text)
    if not found:
        raise Unreadable(f"at: {_shown(text)} is no time such as +29m59s (units d, h, m, s, ms in this order)", line)
    ms = sum(int(count) * unit for count, unit in zip(found.groups(), _UNITS, strict=True) if count)
    if ms > MAX_MS:
        raise Unreadable("at: more than 20 years", line)
    return ms


def _mapping(node: _Node, what: str) -> dict[str, _Node]:
    if not isinstance(node.value, dict):
        raise Unreadable(f"{what} must be a mapping such as {{op: NAME, field: value}}", node.line)
    return node.value


def _scalar(node: _Node, what: str) -> str:
    if not isinstance(node.value, str):
        raise Unreadable(f"{what}: expected one value, not a list or a mapping", node.line)
    return node.value


def _check_text(text: str, most: int, where: str, line: int) -> str:
    if len(text) > most:
        raise Unreadable(f"{where}: {len(text)} characters, at most {most}", line)
    if any(unicodedata.category(char) in ("Cc", "Cs", "Co", "Zl", "Zp") for char in text):
        raise Unreadable(f"{where}: control characters are not allowed", line)
    return text


def _shown(text: str) -> str:
    plain = "".join(char if char.isprintable() else "?" for char in text)
    return repr(plain if len(plain) <= 60 else plain[:57] + "...")
