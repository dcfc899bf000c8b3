"""Asking for what the command line doesn't say, where somebody is there to answer."""

import sys
from collections.abc import Sequence

import typer

from harness.specs.errors import UserError


def answered(option: str, given: str | None, question: str) -> str:
    """What is given, else the answer at a terminal. Raises UserError where there is neither."""
    if given:
        return given
    if not sys.stdin.isatty():
        raise UserError(f"{option} is missing, and nobody is at a terminal to ask")
    return str(typer.prompt(question))


def next_command() -> str | None:
    """A line of standard input, asked for at a terminal; None at its end."""
    if sys.stdin.isatty():
        print("$ ", end="", flush=True)
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def several(option: str, given: Sequence[str] | None, question: str) -> tuple[str, ...]:
    """The same for words."""
    return tuple(given) if given else tuple(answered(option, None, question).split())
