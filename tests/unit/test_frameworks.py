"""What tasks are in other frameworks, as far as that can be told without one."""

import tomllib

import pytest
import yaml

from harness.plugins.frameworks.harbor_tasks import task_files, write_tasks
from harness.plugins.frameworks.instructions import instruction
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.task import TaskLimits
from tests.support.small_task import scaffold, small_task
from tests.support.tiny_catalog import tiny_catalog

LIMITS = TaskLimits(steps=40, wall_seconds=900, cost_usd=2.5)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (True, "You have 40 answers, each of them one call of a model, and 900 seconds."),
        (False, "You have 900 seconds."),
    ],
)
def test_a_request_names_the_limits_that_a_framework_enforces_and_no_other(tmp_path, counts, words):
    told = instruction(small_task(tmp_path), scaffold("mini"), LIMITS, counts)
    assert words in told
    assert "I need tests for add()." in told
    assert "may cost" not in told
    assert ("one call of a model" in told) == counts


def test_harbors_files_say_what_the_task_is_and_judge_nothing(tmp_path):
    task = tiny_catalog(tmp_path, "no image of it is made")
    title = 'a "quoted" title\nof two lines: \\ ü 😀'
    task = task.model_copy(update={"file": task.file.model_copy(update={"title": title, "tags": ("a", "b")})})
    files = task_files(scaffold("mini"), task, "testwright/tiny-add-task:1234")
    told = tomllib.loads(files["task.toml"])
    assert (told["task"]["description"], told["task"]["keywords"]) == (title, ["a", "b"])
    assert told["metadata"]["digest"] == task.digest
    assert (told["metadata"]["task"], told["metadata"]["catalog"]) == ("tiny-add", str(tmp_path))
    assert told["environment"]["docker_image"] == "testwright/tiny-add-task:1234"
    assert told["environment"]["network_mode"] == "no-network"
    assert told["agent"]["timeout_sec"] == task.file.limits.wall_seconds
    assert "reward" not in files["tests/test.sh"].replace("could write the reward itself", "")
    assert not any(name.startswith("solution/") for name in files)


def test_a_task_with_package_registries_is_refused_before_any_image_is_made(tmp_path):
    task = tiny_catalog(tmp_path, "no image of it is made")
    path = task.directory / "task.yaml"
    told = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**told, "network": ["pip"]}))
    with pytest.raises(UserError, match="package registries, to which Harbor has no way"):
        write_tasks(Catalog(tmp_path), ["tiny-add"], tmp_path / "out", with_solutions=False)
    assert not (tmp_path / "out").exists()
