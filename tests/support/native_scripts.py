"""What a scripted model says to any native agent, and one agent's work without a verification."""

import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.agents.protocol import AgentContext, AgentResult, GatewaySeat
from harness.agents.trajectory import read_trajectory
from harness.judging.submission.extraction import Submission
from harness.models.allowance import Allowance
from harness.models.build import ServedModel
from harness.models.gateway.server import serve_gateway
from harness.models.rate_limits import RateLimiters
from harness.plugins.scripted_provider.scenario import Reply, Tokens
from harness.plugins.scripted_provider.server import Answerer, Received, serve
from harness.plugins.scripted_provider.stand_in import shell_call
from harness.runs.agent_work import let_work
from harness.sandbox.protocol import Engine
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.model_file import ModelFile, Prices, Retries
from harness.specs.scaffold import Scaffold
from harness.specs.task import TaskLimits
from tests.support.sandboxes import labels

SAMPLE = tuple(os.environ.get("TESTWRIGHT_NATIVE", "claude-code command").split())
"""Native scaffolds of two dialects. The variable names others: each one more is an installation and a trial."""
ATTEMPTS = int(os.environ.get("TESTWRIGHT_ATTEMPTS", "1"))
"""Of each scaffold of the sample at the task."""
TASK = "aiosmtpd-proxy-tlv"
MARK = "Please write unit tests for how aiosmtpd decodes that block"
"""Of the task's prompt."""
REFERENCE = default_directory() / "tasks" / TASK / "reference"
USAGE = Tokens(input=1000, output=100)
DONE = "reference-is-applied"
SUBMITS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "TESTWRIGHT_SUBMIT")
"""Agents that go on until they are told to stop name one of these in their prompts."""


def heredoc(path: str, text: str) -> str:
    return f"cat > {path} <<'END_OF_FILE'\n{text.rstrip()}\nEND_OF_FILE\n"


def reference_command() -> str:
    """Writes the reference's tests and manifest."""
    return heredoc("/logs/agent/manifest.yaml", (REFERENCE / "manifest.yaml").read_text()) + writing_tests()


def writing_tests() -> str:
    """Writes the reference's tests alone."""
    patch = heredoc("/tmp/tests.patch", (REFERENCE / "tests.patch").read_text())
    return f"{patch}git apply /tmp/tests.patch && printf '%s-%s' reference-is applied"


def does_the_task(received: Received) -> Reply:
    """One command by the shell tool that the agent offers, and the end as the agent wants it."""
    if MARK not in received.text or not received.body.get("tools"):  # a title, a summary
        return Reply(text="Tests", usage=USAGE)
    submits = [word for word in SUBMITS if word in received.text]
    if DONE not in received.text:
        return calling(received, reference_command())
    return calling(received, f"echo {submits[0]}") if submits else Reply(text="All is done.", usage=USAGE)


def calling(received: Received, command: str) -> Reply:
    call = shell_call(received.body, command)
    assert call, f"no shell tool among {received.body.get('tools')}"
    return Reply(text="I go on.", tool_calls=(call,), usage=USAGE)


def says_nothing_useful(_: Received) -> Reply:
    return Reply(text="I'd rather not.", usage=USAGE)


def in_turn(*replies: Reply) -> Answerer:
    """One after the other; the last again and again."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def own_command(*command: str) -> Scaffold:
    """The generic scaffold with another command."""
    scaffold = Catalog().scaffold("command")
    assert scaffold.native
    return scaffold.model_copy(update={"native": scaffold.native.model_copy(update={"command": command})})


@dataclass(frozen=True)
class Worked:
    """What came of an agent's work: `records` are its trajectory's."""

    result: AgentResult
    submission: Submission
    records: Sequence[Any]
    printed: bytes


@asynccontextmanager
async def seat(answerer: Answerer, attempts: int = 1) -> AsyncIterator[GatewaySeat]:
    """A gateway to a scripted provider."""
    async with serve(answerer) as provider, serve_gateway() as gateway:
        file = ModelFile(
            model="openai/scripted-gpt",
            api_base=f"{provider.url}/v1",
            prices=Prices(input=3.0, output=15.0),
            retries=Retries(attempts=attempts, first_wait=0.01, longest_wait=0.02),
        )
        served = ServedModel(file.model, file, "k-scripted", RateLimiters().limiter(file.model, file.limits))
        yield GatewaySeat(gateway, served)


async def work(engine: Engine, scaffold: Scaffold, answerer: Answerer, **limits: Any) -> Worked:
    """Let a native agent work on the task's own image. Raises what ends a trial without a submission."""
    task = Catalog().task(TASK)
    image = await engine.image(task)
    with tempfile.TemporaryDirectory() as directory:
        trajectory = Path(directory) / "trajectory.jsonl"
        async with seat(answerer) as gateway:
            context = AgentContext(task, scaffold, Allowance(TaskLimits(**limits)), gateway=gateway)
            result, submission = await let_work(engine, image, context, labels("native"), trajectory)
        printed = (trajectory.with_name("agent-stdout.txt")).read_bytes()
        return Worked(result, submission, read_trajectory(trajectory), printed)
