import shutil
from pathlib import Path

import pytest
import yaml

from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.repo import ArmSettings, Repo, matches
from harness.specs.rubric import Rubric
from harness.specs.task import TaskFile
from harness.specs.yaml_files import SchemaError, load_yaml, parse_yaml

TASK = "schema_version: 1\nid: a-task\nrepo: a-repo\nkind: unit\ntitle: A task\n"


def complaint(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        load_yaml(path, TaskFile)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(str(path))


def test_a_misspelt_key_is_named_with_its_line_and_the_likely_one(tmp_path):
    assert (
        complaint(tmp_path / "task.yaml", TASK + "limitz: {}\n") == ":6: unknown key 'limitz'; did you mean 'limits'?"
    )


@pytest.mark.parametrize("path", ["usr/bin/go", "/", "/usr/../etc", "/usr/", "//usr", "/usr/.", "/usr/a:b"])
def test_a_path_that_arms_do_not_get_is_absolute_and_plain(path: str):
    with pytest.raises(ValueError, match="hidden"):
        ArmSettings(hidden=(path,))


def test_a_path_that_arms_do_not_get_may_lie_below_a_hidden_directory():
    assert ArmSettings(hidden=("/home/agent/.cache/go-build",)).hidden == ("/home/agent/.cache/go-build",)


def test_what_arms_do_not_get_is_part_of_a_repositorys_digest():
    repo = Catalog(default_directory()).select(["restic-duration"])[0].repo
    other = Repo.model_validate(repo.model_dump() | {"arms": ArmSettings(hidden=("/usr/bin/ed",))})
    assert repo.digest != other.digest
    assert repo.digest == Repo.model_validate(repo.model_dump()).digest


def test_a_misspelt_key_inside_a_mapping_is_compared_with_the_keys_there(tmp_path):
    found = complaint(tmp_path / "task.yaml", TASK + "limits:\n  step: 3\n")
    assert found == ":7: unknown key 'step'; did you mean 'steps'?"


def test_a_wrong_value_is_named_with_its_line(tmp_path):
    assert complaint(tmp_path / "task.yaml", TASK.replace("unit", "untit")).startswith(":4: kind:")


def test_a_missing_key_is_named(tmp_path):
    assert complaint(tmp_path / "task.yaml", "id: a\n") == ":1: key 'repo' is missing"


def test_yaml_that_does_not_parse_is_named_with_its_line(tmp_path):
    assert complaint(tmp_path / "task.yaml", "id: a\nrepo: [b\n").startswith(":2: not YAML")


def test_aliases_are_refused_because_they_can_explode(tmp_path):
    assert "aliases" in complaint(tmp_path / "task.yaml", "id: &a b\nrepo: *a\n")


def test_a_key_that_is_there_twice_is_named_with_both_lines(tmp_path):
    found = complaint(tmp_path / "task.yaml", TASK + "limits:\n  steps: 3\n  cost: 1\n  steps: 4\n")
    assert found == ":9: key 'steps' is there already, in line 7"


@pytest.mark.parametrize(
    "value", ['!!int ""', '!!bool "x"', '!!timestamp "x"', "!!binary '!'", "!!python/name:os.system"]
)
def test_tags_are_refused_with_their_line(tmp_path, value):
    assert complaint(tmp_path / "task.yaml", TASK + f"tags: {value}\n").startswith(":6: tags such as !!str")


@pytest.mark.parametrize("value", ["2001-13-45", "9" * 5000, "1" + ":1" * 300, "[" * 200])
def test_values_that_cannot_be_are_one_line(tmp_path, value):
    assert complaint(tmp_path / "task.yaml", TASK + f"title: {value}\n").startswith(":")


def test_every_shipped_yaml_file_reads_as_before():
    paths = [
        path
        for folder in ("tasks", "rubrics", "repos", "scaffolds", "models")
        for path in (default_directory() / folder).rglob("*.yaml")
    ]
    assert len(paths) > 50
    for path in paths:
        assert parse_yaml(path.read_text(), str(path))[0] == yaml.safe_load(path.read_text())


def test_an_absent_file_is_one_line(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        load_yaml(tmp_path / "nothing.yaml", TaskFile)


def test_a_criterion_on_the_wrong_axis_is_refused(tmp_path):
    path = tmp_path / "rubric.yaml"
    criterion = "{id: '1.1', axis: 2, importance: must, statement: Tests that it works, graded_by: [probe]}"
    path.write_text(f"task: a\ncriteria:\n  - {criterion}\n")
    with pytest.raises(UserError, match=r"rubric.yaml:3: .*axis 2"):
        load_yaml(path, Rubric)


def test_unknown_names_get_the_nearest_known_one():
    catalog = Catalog()
    with pytest.raises(UserError, match="unknown task 'aiosmtpd-proxy-tvl'; did you mean 'aiosmtpd-proxy-tlv'"):
        catalog.select(["aiosmtpd-proxy-tvl"])
    with pytest.raises(UserError, match="unknown scaffold 'minni'; did you mean 'mini'"):
        catalog.scaffold("minni")


def test_every_shipped_task_repo_and_scaffold_loads():
    catalog = Catalog()
    assert len(catalog.select(["*"])) >= 3
    assert [catalog.repo(name).name for name in catalog.names("repos")] == catalog.names("repos")
    assert {"mini", "nop", "oracle"} <= set(catalog.names("scaffolds"))
    for task in catalog.select(["*"]):
        assert task.prompt
        assert task.digest
        decided_by_probe = {probe.criterion for probe in task.probes}
        assert {criterion.id for criterion in task.rubric.must_haves} <= decided_by_probe


def test_a_folder_without_a_catalog_is_refused(tmp_path):
    with pytest.raises(UserError, match="no catalog here"):
        Catalog(tmp_path)


def test_no_python_lies_in_the_data_folders_but_what_runs_in_containers():
    """Files that draw calls, and adapters of designs."""
    folders = (default_directory() / name for name in ("tasks", "repos", "rubrics", "scaffolds"))
    assert not [
        path for folder in folders for path in folder.rglob("*.py") if path.parent.name not in ("fuzz", "adapter")
    ]


def test_globs_tell_one_directory_from_many():
    assert matches("a/b/c.py", ["a/**"])
    assert matches("a/c.py", ["a/**/c.py"])
    assert not matches("a/b/c.py", ["a/*.py"])
    assert not matches("x/conftest.py", ["conftest.py"])
    assert matches("conftest.py", ["**/conftest.py"])


def test_every_fault_of_a_schema_is_told_the_likeliest_first(tmp_path):
    path = tmp_path / "task.yaml"
    path.write_text("id: Bad Name\nrepo: tiny\nkind: nothing\ntitel: x\n")
    with pytest.raises(SchemaError, match="did you mean 'title'") as error:
        load_yaml(path, TaskFile)
    told = [str(one).removeprefix(f"{path}:") for one in error.value.each]
    assert [words.partition(":")[0] for words in told] == ["4", "1", "3", "1"]
    assert told[-1].endswith("key 'title' is missing")


def test_a_catalog_of_ones_own_has_the_built_in_scaffolds_and_its_own_before_them(tmp_path):
    (tmp_path / "tasks").mkdir()
    own = tmp_path / "scaffolds" / "nop"
    shutil.copytree(default_directory() / "scaffolds" / "nop", own)
    catalog = Catalog(tmp_path)
    assert catalog.scaffold("mini").directory == default_directory() / "scaffolds" / "mini"
    assert catalog.scaffold("nop").directory == own
    assert catalog.names("scaffolds") == Catalog().names("scaffolds")


def test_a_catalog_without_tasks_is_an_empty_list_and_a_folder_without_its_file_is_named(tmp_path):
    (tmp_path / "tasks").mkdir()
    assert Catalog(tmp_path).chosen(["*"]) == []
    with pytest.raises(UserError, match="no tasks here yet"):
        Catalog(tmp_path).select(["*"])
    (tmp_path / "tasks" / "half").mkdir()
    for ask in (Catalog(tmp_path).task, lambda name: Catalog(tmp_path).chosen([name])):
        with pytest.raises(UserError, match=r"tasks/half: has no task.yaml"):
            ask("half")
