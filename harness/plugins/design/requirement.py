"""The requirement of a design: prose, in which each rule is a paragraph that begins with its number in bold."""

import re
from dataclasses import dataclass
from pathlib import Path

from harness.specs.errors import UserError
from harness.specs.yaml_files import read_text

_RULE = re.compile(r"\*\*(?P<id>[^*]+)\*\*\s*(?P<words>.*)")
_ID = re.compile(r"1\.[1-9][0-9]?")
_MOST_WORDS = 400


@dataclass(frozen=True)
class Rule:
    """A rule with its number, its words and the line on which it begins."""

    id: str
    words: str
    line: int


def read_requirement(path: Path) -> tuple[Rule, ...]:
    """Return the rules of a requirement, in order.

    Raises:
        UserError: It is wrong, in one line with file and line.
    """
    rules: list[Rule] = []
    for number, paragraph in _paragraphs(read_text(path)):
        found = _RULE.fullmatch(paragraph)
        if found is None:
            continue
        name, words = found["id"], found["words"]
        if not _ID.fullmatch(name):
            raise UserError(f"{path}:{number}: a rule is numbered 1.1 to 1.99, this one is {name!r}")
        if any(rule.id == name for rule in rules):
            raise UserError(f"{path}:{number}: rule {name} is there already")
        if len(words) < 10:
            raise UserError(f"{path}:{number}: rule {name} says nothing")
        rules.append(Rule(name, words[:_MOST_WORDS], number))
    if not rules:
        raise UserError(f"{path}:1: it has no rule; begin a paragraph with **1.1**")
    return tuple(rules)


def _paragraphs(text: str) -> list[tuple[int, str]]:
    """Return paragraphs on one line each, with the number of their first line."""
    found: list[tuple[int, str]] = []
    fresh = True
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            fresh = True
        elif fresh:
            found.append((number, line.strip()))
            fresh = False
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found
