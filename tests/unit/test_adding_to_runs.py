"""A directory that holds something else is refused with the difference, unless `--extend`."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import __version__
from harness.runs.plan import RunFile
from harness.runs.store import RunStore
from harness.specs.errors import UserError
from harness.specs.yaml_files import load_yaml
from tests.support.runs_here import TASK, RunsHere, runs_here
from tests.support.tree_state import tree_state

RUBRIC, PROMPT, REPO = f"rubrics/{TASK}.yaml", f"tasks/{TASK}/prompt.md", "repos/tiny/repo.yaml"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[RunsHere]:
    with runs_here(tmp_path) as runs:
        yield runs


def run_file(here: RunsHere) -> RunFile:
    return load_yaml(here.output / "run.yaml", RunFile)


def refused(here: RunsHere, scaffold: str = "nop", **options: Any) -> list[str]:
    """The lines of the refusal. Nothing is written."""
    before = tree_state(here.output)
    with pytest.raises(UserError) as error:
        here.run(scaffold, extend=False, **options)
    assert tree_state(here.output) == before
    head, *lines, remedy = str(error.value).splitlines()
    assert head == f"{here.output}: it holds something else than this command asks for:"
    assert "--extend" in remedy
    assert "-o" in remedy
    return [line.strip() for line in lines]


def second_task(here: RunsHere) -> str:
    """Another task of the catalog, with the same files."""
    name, catalog = "tiny-sub", here.directory / "catalog"
    shutil.copytree(catalog / "tasks" / TASK, catalog / "tasks" / name)
    for place in (f"tasks/{name}/task.yaml", f"rubrics/{name}.yaml"):
        text = (catalog / (RUBRIC if place.startswith("rubrics") else place)).read_text()
        (catalog / place).write_text(text.replace(TASK, name))
    return name


def test_the_same_command_goes_on_and_is_kept_once(here):
    here.run(extend=False)
    first = (here.output / "run.yaml").read_bytes()
    here.run(extend=False)
    assert (here.output / "run.yaml").read_bytes() == first
    [command] = run_file(here).commands
    assert (command.version, command.extended, command.config.scaffolds) == (__version__, (), ("nop",))


@pytest.mark.parametrize(
    "options",
    [{"jobs": 4}, {"max_cost_usd": 3.0}, {"fail_on_error": 2}, {"arm_output_mb": 1}, {"judge_cache": False}],
)
def test_how_many_run_at_once_and_what_they_may_cost_is_free_at_each_start(here, options):
    here.run(extend=False)
    here.run(extend=False, **options)
    found = run_file(here)
    assert len(found.commands) == 1
    assert {name: getattr(found.config, name) for name in options} == options


def test_part_of_a_run_goes_on_and_the_rest_stays_asked_for(here):
    name = second_task(here)
    here.run(extend=False, tasks=(TASK, name), attempts=2)
    here.run(extend=False, tasks=(name,))
    found = run_file(here)
    assert found.attempts == {"nop": {TASK: 2, name: 2}}
    assert found.config.tasks == (TASK, name)


ADDED: dict[str, Callable[[RunsHere], tuple[dict[str, Any], str]]] = {
    "attempts": lambda _: ({"attempts": 3}, f"attempts of nop at {TASK}: 1 -> 3"),
    "tasks": lambda here: ({"tasks": (TASK, second_task(here))}, "tasks: none -> tiny-sub"),
    "systems": lambda _: ({"scaffold": "oracle"}, "systems: none -> oracle"),
    "protocol": lambda _: ({"judge_votes": {"must": 5, "nice": 1}}, "judge votes: must 3, nice 1 -> must 5, nice 1"),
    "registries": lambda _: ({"registries": ("files.example.org",)}, "registries: none -> files.example.org"),
}


@pytest.mark.parametrize("what", ADDED)
def test_what_a_command_adds_is_refused_with_a_line_and_extend_keeps_the_command(here, what):
    here.run(extend=False)
    options, line = ADDED[what](here)
    assert refused(here, **options) == [line]
    here.run(extend=True, **options)
    here.run(extend=False, **options)
    first, second = run_file(here).commands
    assert (first.extended, second.extended) == ((), (line,))
    assert first.time < second.time


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (PROMPT, "I need tests", "I need good tests", f"files of task {TASK}: digest "),
        (RUBRIC, "Adds negative numbers.", "Adds numbers below zero.", f"files of task {TASK}: digest "),
        (REPO, "test_seconds: 60", "test_seconds: 61", "repo.yaml of tiny: digest "),
        ("scaffolds/nop/scaffold.yaml", "title:", "# edited\ntitle:", "files of scaffold nop: digest "),
    ],
)
def test_an_edited_file_is_refused_with_what_it_belongs_to_and_both_digests(here, file, old, new, says):
    here.run(extend=False)
    here.edit(file, old, new)
    lines = refused(here)
    [line] = [line for line in lines if line.startswith(says)]
    before, after = line.removeprefix(says).split(" -> ")
    assert len(before) == len(after) == 12
    assert before != after


def test_another_scaffold_or_model_is_named(here):
    here.run("mini", extend=False, models=(here.script(),))
    model = here.script("messages:\n  - text: I do nothing.\n")
    [line] = refused(here, "mini", models=(model,))
    assert line.startswith(f"parameters of model {model}: digest scripted:")


def test_a_folder_of_other_files_is_refused_and_left_alone(here):
    here.output.mkdir()
    (here.output / "thesis.tex").write_text("mine")
    assert refused(here) == ["files that are no run: thesis.tex"]
    here.run(extend=True)
    assert (here.output / "thesis.tex").read_text() == "mine"


def test_trials_whose_run_file_is_gone_are_refused(here):
    here.run()
    (here.output / "run.yaml").unlink()
    assert refused(here) == ["run.yaml: it is gone, so what the trials here were run with isn't known"]


def test_a_start_that_was_killed_before_it_wrote_anything_is_gone_on_with(here):
    RunStore(here.output).close()
    here.run(extend=False)
    assert len(run_file(here).commands) == 1


def test_a_run_file_of_an_older_version_is_read_and_gone_on_with(here):
    here.run(extend=False)
    path = here.output / "run.yaml"
    facts = yaml.safe_load(path.read_text())
    for name in ("commands", "repos", "images"):
        del facts[name]
    path.write_text(yaml.safe_dump(facts))
    old = run_file(here)
    assert (old.commands, old.repos, old.attempts) == ((), {}, {"nop": {TASK: 1}})
    here.run(extend=False)
    assert run_file(here).id == old.id
    assert len(run_file(here).commands) == 1
    assert refused(here, attempts=2) == [f"attempts of nop at {TASK}: 1 -> 2"]


def test_who_is_second_in_a_directory_is_told_so_before_any_difference(here):
    here.run(extend=False)
    held = RunStore(here.output)
    try:
        with pytest.raises(UserError, match="another testwright is at work here; choose another with -o"):
            here.run("oracle", extend=False)
    finally:
        held.close()
