"""docs/commands.md is of the commands as they are, and its examples are commands that work."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from scripts.commands import Example, commands, examples

CHECKOUT = Path(__file__).parents[2]
ALL = [example for group in examples().values() for items in group.values() for example in items]
RUNNABLE = [
    pytest.param(example, id=example.type, marks=[pytest.mark.long] if example.slow else [])
    for example in ALL
    if not example.needs
]


def test_the_page_is_what_the_commands_say() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scripts.commands", "--check"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.type)
def test_an_example_is_of_its_command_and_takes_options_that_there_are(example: Example) -> None:
    program, *words = example.type.split()
    assert program == "testwright"
    name = example.command.split()
    assert words[: len(name)] == name
    command: Any = commands()[example.command]
    context = command.context_class(command, info_name=example.command)
    taken, beyond, _ = command.make_parser(context).parse_args(example.words[len(name) :])
    assert beyond == []
    missing = [item.name for item in command.params if item.required and taken.get(item.name) in (None, ())]
    assert missing == []


@pytest.mark.parametrize("example", RUNNABLE)
def test_an_example_that_needs_nothing_works(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("docs", "scripts", "tasks", "tests"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name == "DOCKER_HOST"]:
        monkeypatch.delenv(name)
    done = CliRunner().invoke(app, example.words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert done.output.strip()
