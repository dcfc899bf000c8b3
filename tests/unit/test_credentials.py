"""A key that isn't set and a provider that doesn't exist end a run at once: one line, status 2, nothing written."""

import os
from pathlib import Path

import pytest

from harness.models.build import missing_keys
from harness.specs.model_file import ModelFile
from tests.support.command import Done, typed

TASK = "aiosmtpd-proxy-tlv"
SIGNS = ("_API_KEY", "_AUTH_TOKEN", "HF_TOKEN")


def run(directory: Path, *options: str) -> Done:
    """`testwright run` where no provider's key is set."""
    env = {name: value for name, value in os.environ.items() if not name.endswith(SIGNS)}
    return typed("run", "-t", TASK, "-o", directory / "run", *options, cwd=directory, environment=env)


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("-s", "mini", "-m", "openai/nobody-knows-it"), "OPENAI_API_KEY is not set; export it or put it into .env"),
        (("-s", "mini", "-m", "anthropic/nobody-knows-it", "--dry-run"), "ANTHROPIC_API_KEY is not set"),
        (("-s", "claude-code", "-m", "openai/nobody-knows-it"), "OPENAI_API_KEY is not set"),
        (("-s", "oracle", "--judge", "gemini/nobody-knows-it"), "GEMINI_API_KEY is not set"),
        (("-s", "mini", "-m", "antropic/claude", "--dry-run"), "'antropic'; did you mean 'anthropic/...'?"),
    ],
)
def test_what_can_never_be_asked_ends_a_run_before_it_begins(tmp_path, options, says):
    done = run(tmp_path, *options)
    assert done.status == 2
    [line] = done.complaint.splitlines()
    assert says in line
    assert not list(tmp_path.iterdir())


@pytest.fixture
def keyless(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in list(os.environ):
        if name.endswith(SIGNS):
            monkeypatch.delenv(name)
    return monkeypatch


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("anthropic/x", "ANTHROPIC_AUTH_TOKEN"),
        ("gemini/x", "GOOGLE_API_KEY"),
        ("groq/x", "GROQ_API_KEY"),
        ("fireworks_ai/x", "FIREWORKS_API_KEY"),
        ("huggingface/a/b", "HF_TOKEN"),
    ],
)
def test_each_variable_that_a_client_reads_is_a_key(keyless, model, variable):
    file = ModelFile(model=model)
    assert missing_keys(file)
    keyless.setenv(variable, "k")
    assert not missing_keys(file)


@pytest.mark.parametrize("model", ["hosted_vllm/x", "ollama/x", "bedrock/x", "vertex_ai/x", "azure/x"])
def test_a_provider_that_needs_no_key_or_finds_it_elsewhere_is_not_refused(keyless, model):
    assert not missing_keys(ModelFile(model=model))
