"""The scripted provider, as tests start it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harness.plugins.scripted_provider.failures import ErrorKind
from harness.plugins.scripted_provider.scenario import Failure, Reply, ReplyRule, Scenario, Tokens
from harness.plugins.scripted_provider.server import Provider, serve
from harness.specs.yaml_files import load_yaml

SCENARIOS = Path(__file__).parents[1] / "fixtures" / "scenarios"

__all__ = ["SCENARIOS", "ErrorKind", "Failure", "Provider", "Reply", "Tokens", "failing", "playing", "scenario"]


@asynccontextmanager
async def playing(*replies: Reply) -> AsyncIterator[Provider]:
    """These replies in order, whoever asks; the last one is given again to whoever asks for more."""
    async with serve(Scenario(rules=(ReplyRule(replies=replies, repeat=True),))) as provider:
        yield provider


def failing(kind: ErrorKind | str, message: str | None = None, retry_after: float | None = None) -> Reply:
    return Reply(error=Failure(kind=ErrorKind(kind), message=message, retry_after=retry_after))


def scenario(name: str) -> Scenario:
    """One of the fixtures."""
    return load_yaml(SCENARIOS / f"{name}.yaml", Scenario)
