"""docs/commands.md is of the commands as they are, and its examples are commands that work."""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import UsageError, app
from scripts.commands import PAGE, Example, commands, examples, main

CHECKOUT = Path(__file__).parents[2]
PAGES = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
ALL = [example for group in examples().values() for items in group.values() for example in items]
RUNNABLE = [
    pytest.param(example, id=example.type, marks=[pytest.mark.long] if example.slow else [])
    for example in ALL
    if not example.needs
]


def test_the_page_is_what_the_commands_say(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["commands.py", "--check"])
    assert main() == 0, capsys.readouterr().err


def test_the_page_has_the_defaults_that_help_shows() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for option, default in (("--port N", "8000"), ("--control CONTROL", "drawn"), ("--seconds NUMBER", "600")):
        assert re.search(rf"`{option}` \|.*[^]] \[default: {default}\] \|$", page, re.MULTILINE)


def check(words: list[str], known: Mapping[str, Any]) -> str:
    """The name of the command that these words call; options that it doesn't have raise UsageError."""
    while words[0] == "--catalog":
        words = words[2:]
    name = next(" ".join(words[:length]) for length in (2, 1) if " ".join(words[:length]) in known)
    command = known[name]
    context = command.context_class(command, info_name=name)
    taken, beyond, _ = command.make_parser(context).parse_args(words[len(name.split()) :])
    assert beyond == []
    assert [item.name for item in command.params if item.required and taken.get(item.name) in (None, ())] == []
    return name


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.type)
def test_an_example_is_of_its_command_and_takes_options_that_there_are(example: Example) -> None:
    assert example.type.startswith("testwright ")
    assert check(example.words, commands()) == example.command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_lines_to_type_on_a_page_are_commands_with_options_that_there_are(page: Path) -> None:
    """Lines in a block; a synopsis has brackets or dots, and is left out."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = re.findall(r"^(?:    |\$ )(?:\.venv/bin/)?testwright ([^&|>\n]+)", text, re.MULTILINE)
    known, wrong = commands(), []
    for line in lines:
        if "[" in line or "..." in line:
            continue
        try:
            check(shlex.split(line, comments=True), known)
        except (UsageError, AssertionError, StopIteration) as error:
            wrong.append(f"{line}: {error}")
    assert wrong == []
    assert lines or page.name != "README.md"


def test_the_readme_fits_on_a_page() -> None:
    """And has ten commands for three kinds of users."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    assert len(re.findall(r"^    testwright ", text, re.MULTILINE)) == 10


@pytest.mark.parametrize("example", RUNNABLE)
def test_an_example_that_needs_nothing_works(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("docs", "scripts", "tasks", "tests"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.endswith("_API_KEY") or name == "DOCKER_HOST"]:
        monkeypatch.delenv(name)
    before = {*(CHECKOUT / "tasks").iterdir()}
    done = CliRunner().invoke(app, example.words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert done.output.strip()
    assert {*(CHECKOUT / "tasks").iterdir()} == before, "it writes to the checkout"


def test_help_names_values_and_no_types_of_python() -> None:
    known = commands()
    for name, command in known.items():
        told = command.get_help(command.context_class(command, info_name=name))
        assert not re.search(r"<(?:list\[)?(?:str|int|float|path|text)\b", told), (name, told)
    of_run = known["run"]
    told = of_run.get_help(of_run.context_class(of_run, info_name="run"))
    assert "--max-cost NUMBER" in told
    assert "Attempts at each task [default: 1]" in told
    assert "\n    testwright run -t aiosmtpd-proxy-tlv -s oracle\n" in told, "examples stand on lines of their own"
