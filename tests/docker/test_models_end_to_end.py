"""Whole trials with models behind real HTTP: an agent is led through its work by a scripted provider."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.agents.mini import SUBMIT_COMMAND
from harness.plugins.scripted_provider.scenario import Reply, ReplyRule, Scenario, Tokens
from harness.plugins.scripted_provider.server import Provider, serve
from harness.specs.catalog_places import default_directory
from tests.support.command import typed_beside
from tests.support.few_arms import few_arms
from tests.support.light_task import light_catalog
from tests.support.provider import failing

TASK = "aiosmtpd-proxy-tlv"
REFERENCE = default_directory() / "tasks" / TASK / "reference"
MODELS = ("openai/scripted-gpt", "anthropic/scripted-claude")
PRICES = {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}
"""USD per million tokens."""


def heredoc(path: str, text: str) -> str:
    return f"cat > {path} <<'END_OF_FILE'\n{text.rstrip()}\nEND_OF_FILE\n"


def work() -> Scenario:
    """An agent's way through the task, with two faults that pass and an answer without a command."""
    patch = heredoc("/tmp/tests.patch", (REFERENCE / "tests.patch").read_text())
    manifest = heredoc("/logs/agent/manifest.yaml", (REFERENCE / "manifest.yaml").read_text())
    return Scenario(
        rules=(
            ReplyRule(
                when="Please write unit tests for how aiosmtpd decodes that block",
                replies=(
                    failing("rate-limit", retry_after=0.2),
                    Reply(
                        text="I look around.",
                        commands=("ls aiosmtpd/tests", "grep -n 'class ProxyTLV' -A 20 aiosmtpd/proxy_protocol.py"),
                        usage=Tokens(input=2000, output=100, cache_write=1500),
                    ),
                    failing("overloaded"),
                    Reply(
                        text="I write the tests.",
                        commands=(f"{patch}git apply /tmp/tests.patch && git status --short",),
                        usage=Tokens(input=4000, output=900, reasoning=400, cache_read=1500, cache_write=2000),
                    ),
                    Reply(usage=Tokens(input=5000, output=20, cache_read=3500)),
                    Reply(
                        text="I run them and list them.",
                        commands=("./run_tests.sh aiosmtpd/tests/test_proxyprotocol.py || true", manifest),
                        usage=Tokens(input=5100, output=300, cache_read=3500, cache_write=1000),
                    ),
                    Reply(commands=(SUBMIT_COMMAND,), usage=Tokens(input=6000, output=60, cache_read=4500)),
                ),
            ),
        )
    )


# By hand, in millionths of a USD: what is neither read from the cache nor written to it, what is written, what is
# read, and what comes out, where reasoning is part of it.
COST_USD = (
    (500 * 3 + 1500 * 3.75 + 0 * 0.3 + 100 * 15)
    + (500 * 3 + 2000 * 3.75 + 1500 * 0.3 + 900 * 15)
    + (1500 * 3 + 0 * 3.75 + 3500 * 0.3 + 20 * 15)
    + (600 * 3 + 1000 * 3.75 + 3500 * 0.3 + 300 * 15)
    + (1500 * 3 + 0 * 3.75 + 4500 * 0.3 + 60 * 15)
) / 1_000_000
USAGE = {
    "calls": 5,
    "input": 2000 + 4000 + 5000 + 5100 + 6000,
    "output": 100 + 900 + 20 + 300 + 60,
    "reasoning": 400,
    "cache_read": 1500 + 3500 + 3500 + 4500,
    "cache_write": 1500 + 2000 + 1000,
    "priced_by": ["model file"],
}


def write_model(directory: Path, name: str, provider: Provider) -> str:
    """A model file; returns its path as `-m` takes it."""
    own_client = name.startswith("anthropic/")
    file = {
        "schema_version": 1,
        "model": name,
        "api_base": provider.url if own_client else f"{provider.url}/v1",
        "api_key_env": "SCRIPTED_KEY",
        "prices": PRICES,
        "retries": {"attempts": 3, "first_wait": 0.001, "longest_wait": 0.002},
    }
    path = directory / f"{name.partition('/')[2]}.yaml"
    path.write_text(yaml.safe_dump(file))
    return path.name


async def run(directory: Path, *arguments: str | Path) -> tuple[int, str]:
    """Status and output of `testwright run` on the light task, typed in `directory`."""
    catalog = light_catalog(directory / "light")
    keys = {"SCRIPTED_KEY": "k-end-to-end", "NO_PROXY": "127.0.0.1", "TESTWRIGHT_CACHE": ""}
    done = await typed_beside("--catalog", catalog, "run", *arguments, cwd=directory, **keys)
    return done.status, done.output + done.complaint


@pytest.mark.long
@pytest.mark.docker
async def test_agents_with_either_vendors_model_resolve_a_task_and_cost_what_their_tokens_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_arms(monkeypatch, 0)
    async with serve(work()) as gpt, serve(work()) as claude:
        providers = (gpt, claude)
        files = [write_model(tmp_path, name, provider) for name, provider in zip(MODELS, providers, strict=True)]
        options = [word for file in files for word in ("-m", file)]
        asked = ("-t", TASK, "-s", "mini", *options, "-j", "2", "--sandbox", "docker", "--max-cost", "1", "-o", "out")
        status, told = await run(tmp_path, *asked)

    assert status == 0, told
    assert "2 trials: 2 resolved" in told
    spent = [json.loads(path.read_text()) for path in tmp_path.glob("out/trials/*/*/*/1/usage.json")]
    assert len(spent) == len(MODELS)
    for file in spent:
        assert_paid(file)
    assert_asked_well(gpt, "/v1/chat/completions", "Bearer k-end-to-end")
    assert_asked_well(claude, "/v1/messages", "k-end-to-end")
    assert "cache_control" in json.dumps(claude.requests[-1].body)


def assert_paid(file: dict[str, Any]) -> None:
    agent = file["agent"]
    assert {name: agent[name] for name in USAGE} == USAGE
    assert agent["cost_usd"] == pytest.approx(COST_USD, rel=1e-9)
    assert round(agent["cost_usd"], 9) == 0.055275
    assert file["judge"]["calls"] == 0


def assert_asked_well(provider: Provider, path: str, key: str) -> None:
    """Seven requests, none refused as malformed: five answers and the two faults, each asked once more."""
    assert [request.path for request in provider.requests] == [path] * 7
    assert all(request.text for request in provider.requests)
    assert all(
        key in request.headers.values() or f"Bearer {key}" in request.headers.values()
        for request in provider.requests
    )
    bodies = Counter(json.dumps(request.body["messages"]) for request in provider.requests)
    assert sorted(bodies.values()) == [1, 1, 1, 2, 2]
    first, second = provider.requests[:2]
    assert second.seconds - first.seconds >= 0.2
