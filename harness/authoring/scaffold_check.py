"""`testwright scaffold check`: whether native scaffolds are what they are pinned to, and work."""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from harness.agents.native.agent import NativeAgent, equipped
from harness.agents.protocol import AgentContext, AgentResult, GatewaySeat
from harness.agents.supervision import supervise
from harness.agents.trajectory import AgentOutputRecord, Trajectory, read_trajectory
from harness.authoring.repo_build import Tell
from harness.models.allowance import Allowance
from harness.models.build import ServedModel
from harness.models.gateway.records import GatewayRecord
from harness.models.gateway.server import serve_gateway
from harness.models.rate_limits import RateLimiters
from harness.models.stand_ins import SCRIPTED, STAND_INS, CommandAsker
from harness.runs.concurrency import run_to_end
from harness.runs.engine_session import EngineSession, engine_session
from harness.sandbox.images.building import BASE_IMAGE, ensure_base_image
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.protocol import Image, Limits, Sandbox, SandboxOptions
from harness.sandbox.toolboxes.recipe import HASHES, TOOLBOX, read_toolbox_recipe
from harness.specs.authoring_facts import Check
from harness.specs.catalog import Catalog
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.model_file import ModelFile, Retries
from harness.specs.problem import Problem, Severity
from harness.specs.scaffold import NativeDialect, Scaffold
from harness.specs.task import Task, TaskLimits

_MODEL = "check-model-1"
_RESOLD = "some-vendor/"
"""Before it, as models of those who resell others' have; Google's own never do."""
_PROVIDERS = {
    NativeDialect.CHAT: "openai",
    NativeDialect.RESPONSES: "openai",
    NativeDialect.MESSAGES: "anthropic",
    NativeDialect.GOOGLE: "gemini",
}
_BASES = {"openai": "/v1", "anthropic": "", "gemini": "/v1beta"}
_MARKER = "/tmp/checked-by-testwright"
_LIMITS = TaskLimits(steps=6, wall_seconds=180, cost_usd=1)
_MEMORY = Limits(memory_mb=3000, cpus=2, pids=512, disk_mb=2000)


@dataclass(frozen=True)
class _Seen:
    """A run's records: of the gateway, of the agent, and whether its shell tool did as asked."""

    result: AgentResult
    gateway: GatewayRecord
    output: AgentOutputRecord
    asked: int
    did: bool
    told: str


def check_scaffolds(catalog: Catalog, names: Sequence[str], tell: Tell) -> list[Check]:
    """Check each scaffold by itself, on a Docker engine.

    Raises:
        UserError: One isn't native, or no engine answers.
    """
    scaffolds = [catalog.scaffold(name) for name in names or catalog.names("scaffolds")]
    native = [scaffold for scaffold in scaffolds if scaffold.native]
    for scaffold in scaffolds:
        if names and not scaffold.native:
            raise UserError(f"scaffold {scaffold.name!r} is no native one; there is nothing to install or to check")
    return run_to_end(_check_all(catalog, native, tell))


async def _check_all(catalog: Catalog, scaffolds: Sequence[Scaffold], tell: Tell) -> list[Check]:
    task = catalog.task(catalog.names("tasks")[0])
    async with engine_session("docker", uuid4().hex) as session:
        async with engine_images() as images:
            await ensure_base_image(images)
        return [await _check(session, task, scaffold, tell) for scaffold in scaffolds]


async def _check(session: EngineSession, task: Task, scaffold: Scaffold, tell: Tell) -> Check:
    tell(f"{scaffold.name}: installing, then running it against a scripted model")
    began = time.monotonic()
    try:
        problems = tuple(await _problems(session, task, scaffold))
    except (UserError, InfrastructureError) as error:
        problems = (Problem(where=scaffold.name, message=str(error)),)
    digest = read_toolbox_recipe(scaffold).digest
    return Check(scaffold.name, digest, 0, time.monotonic() - began, problems)


async def _problems(session: EngineSession, task: Task, scaffold: Scaffold) -> list[Problem]:
    """Return the problems in a container of the bare base image.

    It has no Python, git or Node.js of a task's image.
    """
    native = scaffold.native
    assert native is not None
    provider = _PROVIDERS[native.dialect]
    model = f"{provider}/{_name(native.dialect)}"
    image = Image(BASE_IMAGE, "", "/tmp", Path("/nonexistent"), may_be_root=True)
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        stand_in = STAND_INS.get(SCRIPTED)
        async with stand_in.ask_for(f"echo checked > {_MARKER}") as played, serve_gateway() as gateway:
            file = ModelFile(model=model, api_base=played.url + _BASES[provider], retries=Retries(attempts=1))
            served = ServedModel(model, file, "scripted", RateLimiters().limiter(model, file.limits))
            context = AgentContext(task, scaffold, Allowance(_LIMITS), gateway=GatewaySeat(gateway, served))
            async with equipped(SandboxOptions(_MEMORY), session.engine, context) as options:
                sandbox = session.engine.sandbox(image, options, session.labels)
                try:
                    await sandbox.start()
                    if changed := await _changed(sandbox):
                        return [Problem(where=scaffold.name, message=changed)]
                    seen = await _run(context, sandbox, Path(scratch), played)
                finally:
                    await asyncio.shield(sandbox.remove())
    return list(_complaints(scaffold, seen))


def _name(dialect: NativeDialect) -> str:
    return _MODEL if dialect is NativeDialect.GOOGLE else _RESOLD + _MODEL


async def _changed(sandbox: Sandbox) -> str:
    """Return what of the toolbox isn't as it was installed; empty where all is."""
    compared = await sandbox.run(f"cd {TOOLBOX} && sha256sum --check --quiet {HASHES} 2>&1 | head -n 3", 300)
    if compared.output.strip():
        first = compared.output.decode(errors="replace").strip().splitlines()[0]
        return f"its toolbox is not as it was installed ({first}); remove the volume and run this again"
    return ""


async def _run(context: AgentContext, sandbox: Sandbox, scratch: Path, asker: CommandAsker) -> _Seen:
    path = scratch / "trajectory.jsonl"
    with Trajectory(path) as trajectory:
        result = await supervise(NativeAgent(context), context, sandbox, trajectory)
    records = read_trajectory(path)
    [gateway] = [record for record in records if isinstance(record, GatewayRecord)]
    [output] = [record for record in records if isinstance(record, AgentOutputRecord)]
    did = (await sandbox.run(f"cat {_MARKER}", 20)).output == b"checked\n"
    return _Seen(result, gateway, output, asker.calls, did, output.error or result.message)


def _complaints(scaffold: Scaffold, seen: _Seen) -> Iterator[Problem]:
    """Yield one line each; the first of them explains those that follow, which are left out."""
    native = scaffold.native
    assert native is not None

    def problem(message: str, severity: Severity = Severity.ERROR) -> Problem:
        return Problem(where=scaffold.name, message=message, severity=severity)

    told = f" (it said: {seen.told})" if seen.told else ""
    asked = _name(native.dialect)
    others = {name for name in seen.gateway.models if name != asked}
    if not seen.gateway.dialects:
        yield problem(f"it ignores its base URL: no call of a model came to the gateway{told}")
    elif others:
        yield problem(f"it can't address the model {asked!r}: it asked for {', '.join(sorted(others))}{told}")
    elif set(seen.gateway.dialects) != {native.dialect.value}:
        yield problem(f"it speaks {', '.join(seen.gateway.dialects)}, and scaffold.yaml says {native.dialect.value}")
    elif not seen.asked:
        yield problem(f"it offered its model no tool that runs a command{told}")
    elif not seen.did:
        yield problem(f"its shell tool did not run the command that the model asked for{told}")
    elif seen.output.exit_status:
        yield problem(f"it ended with exit status {seen.output.exit_status}{told}")
    if seen.gateway.unknown:
        paths = ", ".join(sorted(seen.gateway.unknown))
        yield problem(f"it asked the gateway for what is no model: {paths}", Severity.WARNING)
