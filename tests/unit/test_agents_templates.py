"""Mistakes in a scaffold's templates show when it is built, with file and line."""

import shutil
from pathlib import Path

import pytest
from jinja2 import Environment

from harness.agents.mini import VARIABLES
from harness.agents.templates import Templates
from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold
from tests.support.small_task import scaffold


@pytest.fixture
def copy(tmp_path: Path) -> Scaffold:
    mini = scaffold("mini")
    shutil.copytree(mini.directory, tmp_path / "mini")
    return mini.model_copy(update={"directory": tmp_path / "mini"})


def shown(templates: Templates, output: str, chars: int = 20, truncated: int = 0, name: str = "observation") -> str:
    facts = {"exit_status": 3, "timeout": 9, "truncated": truncated, "observation_chars": chars}
    rest = {"submit_hint": False, "submit_command": "x", "answers_left": 1, "seconds_left": 2, "usd_left": None}
    return templates.render(name, command="x", output=output, **facts, **rest)


def test_a_misspelt_variable_is_named_with_its_line(copy: Scaffold) -> None:
    (copy.directory / "task.j2").write_text("first\n{{ task_promt }}\n")
    with pytest.raises(UserError, match=r"task\.j2:2: unknown variable 'task_promt'; did you mean 'task_prompt'\?"):
        Templates(copy, VARIABLES)


def test_a_misspelt_attribute_fails_when_it_is_rendered(copy: Scaffold) -> None:
    (copy.directory / "observation.j2").write_text("{{ output.txt }}")
    with pytest.raises(UserError, match=r"observation\.j2: .*has no attribute 'txt'"):
        shown(Templates(copy, VARIABLES), "text")


def test_a_template_that_is_not_jinja_is_named_with_its_line(copy: Scaffold) -> None:
    (copy.directory / "system.j2").write_text("a\nb\n{% if %}")
    with pytest.raises(UserError, match=r"system\.j2:3: "):
        Templates(copy, VARIABLES)


def test_a_missing_file_and_a_missing_key_are_named(copy: Scaffold) -> None:
    (copy.directory / "timeout.j2").unlink()
    with pytest.raises(UserError, match=r"scaffold\.yaml: templates\.timeout: there is no file 'timeout\.j2'"):
        Templates(copy, VARIABLES)
    with pytest.raises(UserError, match=r"scaffold\.yaml: key 'templates\.system' is missing"):
        Templates(copy.model_copy(update={"templates": {}}), VARIABLES)


def test_a_template_is_compiled_once_and_again_when_its_text_is_another(
    copy: Scaffold, monkeypatch: pytest.MonkeyPatch
) -> None:
    Templates(copy, VARIABLES)
    compiled: list[object] = []
    compile_it = Environment.compile
    monkeypatch.setattr(
        Environment,
        "compile",
        lambda self, *text, **more: (compiled.append(text), compile_it(self, *text, **more))[1],
    )
    Templates(copy, VARIABLES)
    assert compiled == []
    (copy.directory / "observation.j2").write_text("another text")
    assert shown(Templates(copy, VARIABLES), "x") == "another text"
    assert len(compiled) == 1


def test_short_output_is_shown_as_it_was_printed() -> None:
    assert shown(Templates(scaffold("mini"), VARIABLES), " a {{ b }}\n\n").endswith("Output:\n a {{ b }}\n\n")


@pytest.mark.parametrize("name", ["observation", "timeout"])
def test_long_output_keeps_head_and_tail_and_says_what_is_left_out(name: str) -> None:
    text = shown(Templates(scaffold("mini"), VARIABLES), "h" * 10 + "m" * 80 + "t" * 10, truncated=7, name=name)
    assert "80 characters left out, and 7 bytes that were not kept" in text
    assert "h" * 10 in text
    assert text.endswith("t" * 10)
    assert "mmm" not in text


def test_bytes_that_the_sandbox_dropped_are_mentioned_though_the_rest_is_short() -> None:
    assert "7 bytes" in shown(Templates(scaffold("mini"), VARIABLES), "short", truncated=7)
