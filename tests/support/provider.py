"""The scripted provider, as tests start it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harness.llm.scripted_provider.failures import ErrorKind
from harness.llm.scripted_provider.scenario import Failure, Reply, Rule, Scenario, Tokens
from harness.llm.scripted_provider.server import Provider, serve
from harness.specs.loading import load_yaml

SCENARIOS = Path(__file__).parents[1] / "fixtures" / "scenarios"

__all__ = ["SCENARIOS", "ErrorKind", "Failure", "Provider", "Reply", "Tokens", "failing", "playing", "scenario"]


@asynccontextmanager
async def playing(*replies: Reply) -> AsyncIterator[Provider]:
    """These replies in order, whoever asks; the last one is given again to whoever asks for more."""
    async with serve(Scenario(rules=(Rule(replies=replies, repeat=True),))) as provider:
        yield provider


def failing(kind: ErrorKind | str, message: str | None = None, retry_after: float | None = None) -> Reply:
    return Reply(error=Failure(kind=ErrorKind(kind), message=message, retry_after=retry_after))


def scenario(name: str) -> Scenario:
    """One of the fixtures."""
    return load_yaml(SCENARIOS / f"{name}.yaml", Scenario)
