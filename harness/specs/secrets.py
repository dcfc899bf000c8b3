"""Keys and passwords: a file that may hold them, and messages without them."""

import os
import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from harness.specs.errors import UserError
from harness.specs.yaml_files import read_text

DOTENV = ".env"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 8
"""Shorter values stand in texts by chance: what would be replaced are words."""
_declared: set[str] = set()
_PASSWORD_IN_URL = re.compile(r"(?<=://)[^/\s@]+(?=@)")


def adopt_dotenv(directory: Path) -> None:
    """Take over the variables of `directory/.env` that aren't set yet.

    Raises:
        UserError: A line is wrong; the message names file and line and never repeats it.
    """
    path = directory / DOTENV
    if path.is_file():
        for name, value in read_dotenv(path).items():
            os.environ.setdefault(name, value)
            declare_secret(name)


def declare_secret(name: str) -> None:
    """Note that the variable `name` holds a secret, whatever it is called."""
    _declared.add(name)


def read_dotenv(path: Path) -> dict[str, str]:
    """Return variable -> value, as lines of `NAME=value` give them; `$` stands for itself.

    Raises:
        UserError: A line is wrong; the message names file and line and never repeats it.
    """
    from dotenv.parser import parse_stream  # only where there is such a file

    found: dict[str, str] = {}
    for binding in parse_stream(StringIO(read_text(path))):
        line = binding.original.line + _blank_lines(binding.original.string)
        if binding.error or (binding.key and binding.value is None):
            raise UserError(f"{path}:{line}: not NAME=value; write one variable a line, comments behind #")
        if binding.key and binding.value is not None:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", binding.key) or "\0" in binding.value:
                raise UserError(f"{path}:{line}: no name or value for a variable; letters, digits and _ name one")
            found[binding.key] = binding.value
    return found


def _blank_lines(text: str) -> int:
    return text[: len(text) - len(text.lstrip())].count("\n")


def without_secrets(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return a text in which no key of the environment is left, nor a password in a URL.

    Keys are the variables whose name says so, and those that were declared. Longer ones go first: one may hold
    another.
    """
    for name, value in sorted(environment.items(), key=lambda item: -len(item[1])):
        if len(value) >= _SHORTEST and (name in _declared or _SECRET_NAME.search(name)):
            text = text.replace(value, f"${name}")
    return _PASSWORD_IN_URL.sub("...", text)
