"""What people are told of mistakes in files that they write: one line for each, with its place and without jargon."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from harness.plugins.browser.application import data_directory
from harness.plugins.browser.arms_file import ArmsFile
from harness.runs.command import configure
from harness.runs.plan import RunFile
from harness.sandbox.images.own_source import own_repo
from harness.specs.errors import UserError
from harness.specs.rubric import Rubric
from harness.specs.task import TaskFile
from harness.specs.yaml_files import SchemaError, load_yaml

ARMS = "same:\n  - {options: {x: y}, name: slow}\nmust_fail:\n  - {options: {x: z}, probe: '1.1'}\n"
CRITERION = "  - {id: '1.1', axis: 1, importance: must, statement: Tests that it works, graded_by: [probe]"
TASK = "id: a-task\nrepo: a-repo\nkind: unit\ntitle: A task\n"


def told(path: Path, text: str, model: type[BaseModel]) -> list[str]:
    path.write_text(text)
    with pytest.raises(SchemaError) as caught:
        load_yaml(path, model)
    return [str(each).removeprefix(f"{path}:") for each in caught.value.each]


@pytest.mark.parametrize(
    ("model", "text", "messages"),
    [
        (
            ArmsFile,
            ARMS.replace("slow}", "slow, reasson: x}"),
            ["2: unknown key 'reasson'; did you mean 'reason'?"],
        ),
        (ArmsFile, ARMS.replace("'1.1'", "1.10"), ['4: must_fail.0.probe: write it in quotes: "1.10"']),
        (ArmsFile, ARMS + "technique: '1.1'\n", ["5: technique: Input should be a list"]),
        (
            ArmsFile,
            "same: []\n" + ARMS.partition("slow}\n")[2],
            ["1: same: the list should have at least 1 item, not 0"],
        ),
        (
            ArmsFile,
            ARMS.replace("slow}", "slow, proxy: {refuse: [{path: '/', how: dorp}]}}"),
            ["2: same.0.proxy.refuse.0.how: Input should be a valid integer or 'drop'"],
        ),
        (
            Rubric,
            f"task: a\ncriteria:\n{CRITERION}, negative: true}}\n",
            ["3: criteria.0: criterion 1.1: only what a judge alone decides can be negative"],
        ),
        (
            Rubric,
            f"task: a\ncriteria:\n{CRITERION}}}\n{CRITERION}}}\n",
            ["1: criterion 1.1 is there twice"],
        ),
        (TaskFile, TASK + "limits: 3\n", ["5: limits: Input should be a mapping"]),
        (TaskFile, TASK.replace("A task", "yes"), ['4: title: write it in quotes: "yes"']),
        (TaskFile, TASK.replace("A task", ""), ["4: title: Input should be text"]),
        (TaskFile, "schema_version: 2\nfuture: x\n" + TASK, ["1: schema_version 2: this testwright reads 1"]),
        (ArmsFile, ARMS + "schema_version: 99\n", ["5: schema_version 99: this testwright reads 1"]),
        (ArmsFile, ARMS + "schema_version: '2'\n", ["5: schema_version 2: this testwright reads 1"]),
    ],
)
def test_each_mistake_is_told_once_at_its_line_in_plain_words(
    tmp_path: Path, model: type[BaseModel], text: str, messages: list[str]
) -> None:
    assert told(tmp_path / "file.yaml", text, model) == messages


def test_a_version_may_be_left_out_and_records_of_runs_are_read_as_far_as_they_fit(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(TASK)
    assert load_yaml(path, TaskFile).schema_version == 1
    assert "this testwright reads" not in " ".join(told(path, "schema_version: 2\n", RunFile))


def test_a_wrong_option_is_told_without_the_words_of_the_library() -> None:
    with pytest.raises(UserError, match=r"^tasks: Input should be a list$"):
        configure({"tasks": "x"}, None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\narms:", "\narmz:", "unknown key 'armz'; did you mean 'arms'?"),
        ("\nname: deskapp", "", "key 'name' is missing"),
        ("\nname: deskapp", "\nname: other", "says it is 'other', but its directory is 'deskapp'; rename one"),
        ("\nlanguage: python", "\nlanguage: rust", "unknown language 'rust'"),
        ("/app/serve_app.py", "app/tally", "arms.hidden.1: String should match pattern"),
    ],
)
def test_mistakes_in_the_description_of_an_application_name_file_and_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    own = tmp_path / "deskapp"
    own.mkdir()
    path = own / "repo.yaml"
    path.write_text((data_directory() / "deskapp" / "repo.yaml").read_text().replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        own_repo([path], own, "browser")
    assert str(caught.value).startswith(f"{path}:")
    assert message in str(caught.value)
