"""The money of whole runs, by the command line against a real HTTP server."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.command import typed, typed_beside
from tests.support.provider import Provider, Reply, Tokens, failing, playing

pytestmark = pytest.mark.docker

TASK = "aiosmtpd-proxy-tlv"
LOOKS = Reply(commands=("true",), usage=Tokens(input=100, output=20))
SUBMITS = Reply(
    commands=("echo '[]' > /logs/agent/manifest.yaml", "echo TESTWRIGHT_SUBMIT"), usage=Tokens(input=100, output=20)
)
CALL_USD = 0.3
"""What each call costs by the prices below."""


class Ran(NamedTuple):
    status: int
    trials: list[dict[str, Any]]
    complaint: str

    def reasons(self) -> list[list[str]]:
        return [[reason["code"] for reason in trial["reasons"]] for trial in self.trials]

    def costs(self) -> list[list[float]]:
        """USD of the attempt that counts and of those that were lost, for each trial."""
        return [[trial["usage"][who]["cost_usd"] for who in ("agent", "lost")] for trial in self.trials]


async def run(output: Path, provider: Provider, *options: str) -> Ran:
    file = output.with_suffix(".yaml")
    prices = "{input: 2000, output: 5000}"  # USD per million: 100 in and 20 out are 0.20 and 0.10
    file.write_text(f"model: openai/x\napi_base: {provider.url}/v1\nprices: {prices}\nretries: {{attempts: 1}}\n")
    arguments = ["run", "-t", TASK, "-s", "mini", "-m", file, "-o", output, "--sandbox", "docker", "--json"]
    env = {"TESTWRIGHT_CACHE": "", "NO_PROXY": "127.0.0.1"}  # the user's own cache, for its images
    done = await typed_beside(*arguments, *options, cwd=output.parent, **env)
    return Ran(done.status, json.loads(done.output)["trials"] if done.output else [], done.complaint)


async def test_the_runs_cap_stops_before_the_next_call_and_is_the_directorys(tmp_path: Path) -> None:
    output = tmp_path / "run"
    async with playing(LOOKS) as provider:
        first = await run(output, provider, "-k", "2", "--max-cost", "0.5")
        assert first.status == 1
        assert first.reasons() == [["budget-exhausted"], ["budget-exhausted"]]
        assert "--max-cost: $0.6000 of $0.5 are spent" in first.trials[0]["reasons"][0]["words"]
        assert len(provider.requests) == 2, "the second call was under the cap, the third is not made"
        assert sum(map(sum, first.costs())) == pytest.approx(2 * CALL_USD)
        again = await run(output, provider, "-k", "2", "--max-cost", "0.5")
        assert again.reasons() == first.reasons()
        assert len(provider.requests) == 2, "what an earlier start has spent counts"
    async with playing(SUBMITS) as provider:
        enough = await run(output, provider, "-k", "2", "--max-cost", "5")
        assert (enough.status, enough.reasons()) == (0, [["empty-submission"], ["empty-submission"]])
        assert len(provider.requests) == 2
    assert sum(map(sum, enough.costs())) == pytest.approx(4 * CALL_USD), "the attempts that were cut are counted"
    assert enough.trials[0]["usage"]["agent"]["priced_by"] == ["model file"]
    shown = typed("show", output, cwd=tmp_path)
    assert "cost $1.2000 for 400 tokens in and 80 out (prices: model file)" in shown.output


@pytest.mark.long
async def test_money_of_attempts_that_the_provider_has_let_down_is_not_forgotten(tmp_path: Path) -> None:
    replies = [LOOKS, failing("server-error"), LOOKS, LOOKS, failing("overloaded"), LOOKS, failing("unauthorized")]
    async with playing(*replies, SUBMITS) as provider:
        ran = await run(tmp_path / "run", provider)
    assert (ran.status, ran.reasons()) == (1, [["provider-error"]])
    assert "refuses the key" in ran.trials[0]["reasons"][0]["words"]
    assert ran.costs() == [[pytest.approx(CALL_USD), pytest.approx(3 * CALL_USD)]]
    assert len(provider.requests) == 7, "a key that is refused is not tried a fourth time"


async def test_a_conversation_that_has_grown_too_long_is_judged_with_what_is_there(tmp_path: Path) -> None:
    async with playing(LOOKS, failing("context-overflow")) as provider:
        ran = await run(tmp_path / "run", provider)
    assert (ran.status, ran.reasons()) == (0, [["empty-submission"]])
    [agent] = (tmp_path / "run").glob("trials/*/*/*/1/agent.json")
    assert json.loads(agent.read_text())["ending"] == "context-limit"
