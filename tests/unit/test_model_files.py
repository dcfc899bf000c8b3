"""Model files: what they say, what makes two models the same, and what is said about wrong ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.models.anthropic_model import AnthropicModel
from harness.models.build import Models
from harness.models.litellm_model import LiteLLMModel
from harness.models.price_table import has_price
from harness.runs.plan import RunConfig, plan_trials
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.model_file import ModelFile, Prices
from tests.support.command import typed

BASE = {"model": "openai/x", "api_base": "http://one.example:8000/v1", "temperature": 0.5}
TASK = "aiosmtpd-proxy-tlv"


def file(**changes: object) -> ModelFile:
    return ModelFile.model_validate({**BASE, **changes})


def written(directory: Path, text: str) -> str:
    path = directory / "m.yaml"
    path.write_text(text)
    return str(path)


def identity(name: str) -> str:
    [trial] = plan_trials(Catalog(), RunConfig(tasks=(TASK,), scaffolds=("mini",), models=(name,)))
    return trial.identity("image", "docker")


@pytest.mark.parametrize(
    "change",
    [
        {"model": "openai/y"},
        {"api_base": "http://other.example:8000/v1"},
        {"api_base": None},
        {"temperature": None},
        {"effort": "high"},
        {"max_tokens": 5},
        {"tools": False},
    ],
)
def test_what_can_change_an_answer_makes_another_model(change: dict[str, object]) -> None:
    assert file(**change).digest != file().digest


@pytest.mark.parametrize(
    "change",
    [
        {"api_base": "https://one.example:9999/v1/"},
        {"title": "renamed"},
        {"api_key_env": "MY_KEY"},
        {"prices": {"input": 1, "output": 2}},
        {"request_seconds": 5, "total_seconds": 50},
        {"retries": {"attempts": 1}},
        {"limits": {"requests_per_minute": 5, "tokens_per_minute": 5, "concurrent_requests": 5}},
    ],
)
def test_ports_keys_prices_deadlines_and_limits_make_no_other_model(change: dict[str, object]) -> None:
    assert file(**change).digest == file().digest


def test_a_trials_identity_follows_the_models_file(tmp_path: Path) -> None:
    name = written(tmp_path, "model: openai/x\ntemperature: 0\n")
    before = identity(name)
    written(tmp_path, "# the same\nmodel: openai/x\ntemperature: 0.0\nlimits: {requests_per_minute: 7}\n")
    assert identity(name) == before
    written(tmp_path, "model: openai/x\ntemperature: 1\n")
    assert identity(name) != before


def test_the_shipped_files_load_and_have_prices() -> None:
    catalog = Catalog()
    assert set(catalog.model_names()) >= {"claude-high-effort", "self-hosted"}
    for name in catalog.model_names():
        assert has_price(catalog.model(name)), name


def test_a_name_is_a_file_of_the_catalog_a_path_or_a_providers_model(tmp_path: Path) -> None:
    models = Models(Catalog())
    assert isinstance(models.build("claude-high-effort"), AnthropicModel)
    assert isinstance(models.build("self-hosted"), LiteLLMModel)
    assert isinstance(models.build("anthropic/x"), AnthropicModel)
    assert models.file("openai/x") == ModelFile(model="openai/x")
    assert models.build(written(tmp_path, "model: openai/x")).name == str(tmp_path / "m.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model: openai/x\ntemprature: 1\n", "m.yaml:2: unknown key 'temprature'; did you mean 'temperature'?"),
        ("temperature: 1\n", "m.yaml:1: key 'model' is missing"),
        ("model: gpt\n", "m.yaml:1: model: String should match"),
        ("model: openai/x\nprices: {input: -1, output: 2}\n", "m.yaml:2: prices.input: "),
        ("model: openai/x\nprices: {input: 1}\n", "m.yaml:2: key 'prices.output' is missing"),
        ("model: openai/x\napi_base: localhost:8000\n", "m.yaml:2: api_base: "),
        ("model: openai/x\neffort: huge\n", "m.yaml:2: effort: "),
        ("model: openai/x\napi_key_env: sk-abc-def\n", "m.yaml:2: api_key_env: "),
        ("model: openai/x\nlimits: {requests_per_minute: 0}\n", "m.yaml:2: limits.requests_per_minute: "),
    ],
)
def test_a_wrong_file_is_told_by_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        Models(Catalog()).build(written(tmp_path, text))
    assert words in str(caught.value)


def test_a_key_that_is_not_set_is_named_and_said_before_anything_is_paid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_SERVERS_KEY", raising=False)
    name = written(tmp_path, "model: openai/x\napi_key_env: MY_SERVERS_KEY\n")
    with pytest.raises(UserError, match=r"api_key_env MY_SERVERS_KEY is not set; export it or put it into \.env"):
        Models(Catalog()).build(name)


def test_an_unknown_name_is_told_the_forms_and_the_files_that_are_here() -> None:
    with pytest.raises(UserError, match=r"unknown model 'claude'.*claude-high-effort, self-hosted"):
        Models(Catalog()).build("claude")


def test_a_catalog_may_do_without_model_files(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    with pytest.raises(UserError, match="model files here: none"):
        Models(Catalog(tmp_path)).build("claude")


def test_whether_a_price_is_known_is_known_before_anything_is_paid() -> None:
    assert has_price(ModelFile(model="openai/gpt-4o-mini"))
    assert has_price(ModelFile(model="anthropic/claude-sonnet-4-5"))
    assert has_price(ModelFile(model="openrouter/vendor/new")), "its answers say what they cost"
    assert has_price(ModelFile(model="openai/nobody-knows-it", prices=Prices(input=0, output=0)))
    assert not has_price(ModelFile(model="openai/nobody-knows-it"))


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "harness.cli", *arguments]
    return subprocess.run(whole, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_the_command_shows_models() -> None:
    listed = json.loads(typed("model", "list", "--json", cwd=Path.cwd()).output)
    assert {row["name"] for row in listed} >= {"claude-high-effort", "self-hosted"}
    shown = json.loads(typed("model", "show", "openai/nobody-knows-it", "--json", cwd=Path.cwd()).output)
    assert shown["price"].startswith("unknown")
    assert shown["digest"] == ModelFile(model="openai/nobody-knows-it").digest


def test_the_commands_help_imports_no_client_and_is_quick() -> None:
    program = (
        "import sys, harness.cli.main; heavy = {'litellm', 'anthropic', 'openai', 'docker', 'aiohttp', 'pydantic'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # By what the same core takes for the library that reads the options, now: cores and their neighbours differ.
    pairs = [(_processor_seconds("-m", "harness.cli", "--help"), _processor_seconds("-c", LIBRARY)) for _ in range(3)]
    assert min(ours / library for ours, library in pairs) < 2.5, pairs


LIBRARY = "import typer, rich, typer.main, typer.completion"


def _processor_seconds(*arguments: str) -> float:
    before = os.times()
    assert subprocess.run([sys.executable, *arguments], capture_output=True, check=False).returncode == 0
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system
