"""Prints the scripted provider's address and its requests."""

import asyncio
import signal
from pathlib import Path

from harness.llm.scripted_provider.failures import ErrorAnswer
from harness.llm.scripted_provider.scenario import Reply, Scenario
from harness.llm.scripted_provider.server import Received, serve
from harness.report.plain import printable
from harness.specs.loading import load_yaml

_WORDS_CHARS = 200


def serve_and_tell(path: Path, port: int) -> int:
    """Play a scenario until Ctrl-C or SIGTERM, a line for each request. Raises UserError."""
    asyncio.run(_serve_until_told(load_yaml(path, Scenario), str(path), port))
    return 0


async def _serve_until_told(scenario: Scenario, name: str, port: int) -> None:
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    async with serve(scenario, port, name, _tell) as provider:
        print(f"{name} is played at {provider.url}; Ctrl-C ends it")
        print(f"  OPENAI_BASE_URL={provider.url}/v1 OPENAI_API_KEY=any")
        print(f"  ANTHROPIC_BASE_URL={provider.url} ANTHROPIC_API_KEY=any", flush=True)
        await told.wait()


def _tell(received: Received, answer: Reply | ErrorAnswer) -> None:
    print(f"{received.method} {printable(received.path)} -> {_in_words(answer)}", flush=True)


def _in_words(answer: Reply | ErrorAnswer) -> str:
    if isinstance(answer, ErrorAnswer):
        return printable(f"{answer.status} {answer.body['error']['message']}", _WORDS_CHARS)
    parts = [
        f"{answer.error.kind} error" if answer.error else "",
        answer.fault or "",
        answer.stop or "",
        "a body of its own" if answer.body is not None else "",
        f"text of {len(answer.text)} characters" if answer.text else "",
        f"{len(answer.calls)} tool calls" if answer.calls else "",
    ]
    return ", ".join(filter(None, parts)) or "an empty answer"
