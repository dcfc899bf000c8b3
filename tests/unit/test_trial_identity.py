"""What is in a trial's identity, and what isn't: a table, so that each new field is put on one side or the other."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.runs.plan import RunConfig, Trial, plan_trials
from harness.specs.catalog import Catalog
from harness.specs.model_file import ModelFile
from tests.support.tiny_catalog import tiny_catalog

TASK = "tiny-add"
MODEL = {"model": "openai/shelf", "temperature": 0.5, "max_tokens": 1000, "api_base": "http://models:1/v1"}
Edit = Callable[[Path], Any]


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    tiny_catalog(tmp_path / "catalog", nonce="")
    (tmp_path / "model.yaml").write_text(yaml.safe_dump(MODEL))
    return tmp_path / "catalog"


def trial(catalog: Path, scaffold: str = "mini", **options: Any) -> Trial:
    models = (str(catalog.parent / "model.yaml"),) if scaffold == "mini" else ()
    config = RunConfig(tasks=(TASK,), scaffolds=(scaffold,), models=models, **options)
    return plan_trials(Catalog(catalog), config)[0]


def identity(one: Trial, image: str = "sha256:1", isolation: str = "docker") -> str:
    return one.identity(image, isolation)


def edited(path: str, **facts: Any) -> Edit:
    """YAML with other values."""

    def edit(catalog: Path) -> None:
        file = catalog / path
        file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), **facts}))

    return edit


def longer(path: str, text: str) -> Edit:
    def edit(catalog: Path) -> None:
        file = catalog / path
        file.write_text((file.read_text() if file.exists() else "") + text)

    return edit


def other_seconds(file: Path) -> None:
    text = file.read_text()
    assert "test_seconds: 60" in text
    file.write_text(text.replace("test_seconds: 60", "test_seconds: 61"))


TASK_FILE, REPO_FILE, MODEL_FILE = f"tasks/{TASK}/task.yaml", "repos/tiny/repo.yaml", "../model.yaml"
IN: dict[str, Edit] = {
    "prompt": longer(f"tasks/{TASK}/prompt.md", "\nDo it well.\n"),
    "limits of the task": edited(TASK_FILE, limits={"steps": 7}),
    "memory of containers": edited(REPO_FILE, limits={"memory_mb": 300}),
    "test paths": edited(REPO_FILE, test_paths=["test/**"]),
    "environment": edited(REPO_FILE, env={"LC_ALL": "C"}),
    "scaffold's file": longer("scaffolds/mini/system.j2", "\nBe brief.\n"),
    "scaffold's version": edited("scaffolds/mini/scaffold.yaml", version="99"),
    "request that all scaffolds share": longer("scaffolds/request.j2", "\nPlease.\n"),
    "model": edited(MODEL_FILE, model="openai/drawer"),
    "temperature": edited(MODEL_FILE, temperature=0.7),
    "effort": edited(MODEL_FILE, effort="high"),
    "max_tokens": edited(MODEL_FILE, max_tokens=10),
    "where the model is served": edited(MODEL_FILE, api_base="http://others:1/v1"),
}
OUT: dict[str, Edit] = {
    "rubric": longer(f"rubrics/{TASK}.yaml", "\n# a comment\n"),
    "removal": longer(f"tasks/{TASK}/removal.patch", "\na remark\n"),
    "seconds of tests": lambda catalog: other_seconds(catalog / REPO_FILE),
    "prices": edited(MODEL_FILE, prices={"input": 1, "output": 2}),
    "deadline of a request": edited(MODEL_FILE, request_seconds=7),
    "retries": edited(MODEL_FILE, retries={"attempts": 9}),
    "rate limits": edited(MODEL_FILE, limits={"requests_per_minute": 3}),
    "requests at once": edited(MODEL_FILE, limits={"concurrent_requests": 3}),
    "port of the server": edited(MODEL_FILE, api_base="http://models:2/v1"),
    "title of the model": edited(MODEL_FILE, title="The shelf"),
    "name of the key": edited(MODEL_FILE, api_key_env="ANOTHER_KEY"),
    "another task's rubric": longer("rubrics/another.yaml", "# nothing yet"),
    "another scaffold": longer("scaffolds/nop/notes.md", "of another scaffold"),
}
SAME_CONFIGURATION: dict[str, dict[str, Any]] = {
    "trials at once": {"jobs": 8},
    "caps on money": {"max_cost_usd": 5.0},
    "judge": {"judge": "openai/judge"},
    "errors that end it": {"fail_on_error": 1},
    "quota of output": {"arm_output_mb": 1},
    "executor": {"executor": "elsewhere"},
    "more attempts": {"attempts": 4},
}


@pytest.mark.parametrize("what", IN)
def test_what_affects_the_agents_work_is_in_the_identity(catalog, what):
    before = identity(trial(catalog))
    IN[what](catalog)
    assert identity(trial(catalog)) != before


@pytest.mark.parametrize("what", OUT)
def test_what_does_not_affect_the_agents_work_is_not_in_the_identity(catalog, what):
    before = identity(trial(catalog))
    OUT[what](catalog)
    assert identity(trial(catalog)) == before


@pytest.mark.parametrize("what", SAME_CONFIGURATION)
def test_how_a_run_is_done_is_not_in_the_identity(catalog, what):
    assert identity(trial(catalog, **SAME_CONFIGURATION[what])) == identity(trial(catalog))


def test_image_isolation_and_number_are_in_the_identity(catalog):
    one = trial(catalog)
    found = [identity(one), identity(one, image="sha256:2"), identity(one, isolation="none")]
    assert len({*found, identity(replace(one, attempt=2))}) == 4


def test_a_control_may_hand_in_the_reference_so_each_file_of_the_task_counts_for_it(catalog):
    before = identity(trial(catalog, "oracle"))
    OUT["rubric"](catalog)
    assert identity(trial(catalog, "oracle")) == before
    OUT["removal"](catalog)
    assert identity(trial(catalog, "oracle")) != before


def test_no_path_of_this_machine_is_in_the_identity(catalog, tmp_path):
    moved = tmp_path / "elsewhere" / "catalog"
    shutil.copytree(catalog, moved)
    shutil.copy(tmp_path / "model.yaml", moved.parent)
    assert identity(trial(moved)) == identity(trial(catalog))


def test_every_field_of_a_model_file_is_in_the_table():
    told = {"model", "temperature", "effort", "max_tokens", "api_base", "tools"}
    told |= {
        "title",
        "prices",
        "request_seconds",
        "total_seconds",
        "retries",
        "limits",
        "api_key_env",
        "schema_version",
    }
    assert set(ModelFile.model_fields) == told


def test_every_setting_of_a_run_that_names_trials_is_told_from_those_that_only_say_how():
    names = {"tasks", "exclude", "repos", "scaffolds", "overrides", "models", "attempts", "sandbox", "image_map"}
    judged = {"judge", "judge_votes", "protocol", "control", "all_criteria", "registries"}
    how = {"jobs", "max_cost_usd", "judge_cache", "executor", "arm_output_mb", "fail_on_error", "schema_version"}
    how |= {"tries", "retry_seconds", "trial_seconds", "min_free_disk_gb", "image_disk_gb", "mutants", "looks"}
    assert set(RunConfig.model_fields) == names | judged | how
