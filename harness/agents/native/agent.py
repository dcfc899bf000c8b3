"""The agent of native scaffolds: it runs a command of a toolbox in the task's sandbox until the process ends.

The command, its environment and its files are templates, checked before anything is paid. The sandbox gets the
toolbox and the way to the gateway beside the task's own options.
"""

import asyncio
import contextlib
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

from jinja2 import Environment, StrictUndefined, TemplateSyntaxError, UndefinedError

from harness.agents.native.events import EventSummary, summary
from harness.agents.protocol import AgentContext, Finish, GatewaySeat
from harness.agents.templates import request_text
from harness.agents.trajectory import AgentOutputRecord, Ending, Trajectory
from harness.models.allowance import Allowance, AllowanceExhausted, Limit
from harness.models.gateway.access import GatewayAccess
from harness.models.gateway.dialects.protocol import DialectName
from harness.sandbox.abilities import ToolboxEngine
from harness.sandbox.protocol import (
    AGENT_LOGS,
    GATEWAY_PORT,
    MANIFEST_NAMES,
    CommandResult,
    Engine,
    Gateway,
    Network,
    Sandbox,
    SandboxOptions,
)
from harness.sandbox.toolboxes.recipe import PYTHON, TOOLBOX, read_toolbox_recipe
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.scaffold import NativeCommand, Scaffold
from harness.specs.task import Task


@asynccontextmanager
async def equipped(options: SandboxOptions, engine: Engine, context: AgentContext) -> AsyncIterator[SandboxOptions]:
    """Provide a sandbox's options with the toolbox and the way to the gateway that a native agent needs.

    They are as they were for an agent that isn't native.

    Raises:
        UserError: The engine offers no toolboxes or no gateway.
        ImageUnavailable: The toolbox can't be made.
    """
    if context.gateway is None:
        yield options
        return
    if not isinstance(engine, ToolboxEngine) or not engine.capabilities.gateway:
        name = context.scaffold.name
        raise UserError(f"scaffold {name!r} is a native one, which sandbox {engine.name!r} can't run; use docker")
    toolbox = await engine.toolbox(context.scaffold)
    async with context.gateway.server.socket() as socket:
        gateway = Gateway(socket, python=PYTHON)
        yield replace(options, network=Network.GATEWAY, gateways=(gateway,), mounts=(*options.mounts, toolbox))


PLACE = "/tmp/testwright"
HOME = f"{PLACE}/home"
REQUEST_FILE = f"{PLACE}/request.md"
STDOUT, STDERR = f"{PLACE}/stdout", f"{PLACE}/stderr"
VARIABLES = ("model", "base_url", "token", "request", "request_file", "home", "toolbox", "workdir")
"""Variables of these templates."""


@dataclass(frozen=True)
class Invocation:
    """A command as it is run: a line for bash, and the files that are laid out before it."""

    line: str
    files: dict[str, bytes]


class NativeTexts:
    """The texts of a native scaffold.

    Making it raises UserError for a scaffold without a command or a broken template.
    """

    def __init__(self, scaffold: Scaffold) -> None:
        if scaffold.native is None:
            raise UserError(f"{scaffold.directory / 'scaffold.yaml'}: key 'native' is missing; docs/scaffolds.md")
        self._native: NativeCommand = scaffold.native
        self._where = scaffold.directory / "scaffold.yaml"
        self._environment = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
        self.invocation(dict.fromkeys(VARIABLES, "x"))

    def invocation(self, values: dict[str, str]) -> Invocation:
        """Return the command and what it finds around it. `values` has all of VARIABLES."""
        native = self._native
        words = [self._render(f"command[{n}]", text, values) for n, text in enumerate(native.command)]
        program = words[0] if words[0].startswith("/") else f"{TOOLBOX}/bin/{words[0]}"
        env = {name: self._render(f"environment.{name}", text, values) for name, text in native.environment.items()}
        files = {
            f"{HOME}/{path}": self._render(f"files.{path}", text, values).encode()
            for path, text in native.files.items()
        }
        files[REQUEST_FILE] = values["request"].encode()
        assignments = [f"{name}={value}" for name, value in {"HOME": HOME, **env}.items()]
        line = shlex.join(["env", *assignments, program, *words[1:]])
        return Invocation(f"mkdir -p {HOME} && exec {line} </dev/null >{STDOUT} 2>{STDERR}", files)

    def _render(self, key: str, text: str, values: dict[str, str]) -> str:
        try:
            return self._environment.from_string(text).render(values)
        except UndefinedError as error:
            known = ", ".join(VARIABLES)
            raise UserError(f"{self._where}: native.{key}: {error}; it is given {known}") from None
        except TemplateSyntaxError as error:
            raise UserError(f"{self._where}: native.{key}: {error.message}") from None


AUTHORITY = f"http://127.0.0.1:{GATEWAY_PORT}"
"""The gateway's, as the sandbox sees it."""
_MOST_SECONDS = 7 * 24 * 3600.0
"""The sandbox's own deadline: the agent's clock, which stands still at times, ends it long before."""
_POLL_SECONDS = 1.0
_KEPT_BYTES = 16_000_000
_READING_SECONDS = 30.0
_TAIL_CHARS = 300


def check_native(task: Task, scaffold: Scaffold) -> None:
    """Check all of a native scaffold that needs no engine.

    Raises:
        UserError: Something is wrong.
    """
    NativeTexts(scaffold)
    request_text(task, scaffold)
    read_toolbox_recipe(scaffold)


class NativeAgent:
    """The agent. Raises UserError for a scaffold that has no command, or templates that can't work."""

    needs_model: ClassVar[bool] = True

    def __init__(self, context: AgentContext) -> None:
        if context.gateway is None:
            raise UserError(f"scaffold {context.scaffold.name!r} is run by testwright run, beside a gateway")
        self.seat: GatewaySeat = context.gateway
        self.context = context
        self.texts = NativeTexts(context.scaffold)
        self.request = request_text(context.task, context.scaffold)

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        allowance, seat = self.context.allowance, self.seat
        calls = trajectory.path.with_name("calls.jsonl")
        async with seat.server.open(seat.served, allowance, trajectory.add, calls) as access:
            line = await self._lay_out(sandbox, access)
            began = allowance.counted_seconds
            result: CommandResult | None = None
            try:
                result = await _until_end(sandbox, line, access, allowance)
            finally:
                printed = await _printed(sandbox)
                told = self._keep(trajectory, printed, result, allowance.counted_seconds - began)
            has_failed = result.exit_status != 0 or not await _has_manifest(sandbox)
            await access.quiet()
            if access.end:
                raise access.end
            # Before its first answer nothing that it did can have made the provider fail.
            if access.fault and has_failed and not allowance.steps:
                raise access.fault
        if access.fault and has_failed:
            words = f"exit status {result.exit_status}; its provider's last word: {access.fault}"
            return Finish(Ending.GAVE_UP, words)
        if result.exit_status == 0:
            return Finish(Ending.SUBMITTED)
        return Finish(Ending.CRASHED, f"exit status {result.exit_status}{_last_words(told.error, printed)}")

    async def _lay_out(self, sandbox: Sandbox, access: GatewayAccess) -> str:
        """Return the line that runs it, once its files lie in an otherwise empty home."""
        native = self.context.scaffold.native
        assert native is not None  # its texts have seen to that
        invocation = self.texts.invocation(
            {
                "model": access.model,
                "base_url": access.base_url(DialectName(native.dialect.value), AUTHORITY),
                "token": access.token,
                "request": self.request,
                "request_file": REQUEST_FILE,
                "home": HOME,
                "toolbox": TOOLBOX,
                "workdir": self.context.task.repo.workdir,
            }
        )
        for path, data in invocation.files.items():
            await sandbox.write(path, data)
        return invocation.line

    def _keep(
        self, trajectory: Trajectory, printed: tuple[bytes, bytes], result: CommandResult | None, seconds: float
    ) -> EventSummary:
        """Keep what it printed beside the trajectory, and a record of it; return what it told by events."""
        for name, data in zip(("agent-stdout.txt", "agent-stderr.txt"), printed, strict=True):
            trajectory.keep_beside(name, data)
        native = self.context.scaffold.native
        told = summary(native.events if native else "text", printed[0])
        trajectory.conclude(
            AgentOutputRecord(
                exit_status=result.exit_status if result else None,
                seconds=round(seconds, 3),
                stdout_bytes=len(printed[0]),
                stderr_bytes=len(printed[1]),
                events=told.events,
                tools=told.tools,
                error=told.error,
            )
        )
        trajectory.count_format_errors(told.format_errors)
        return told


async def _until_end(sandbox: Sandbox, line: str, access: GatewayAccess, allowance: Allowance) -> CommandResult:
    """Run it beside the gateway and its clock. Raises what ends the trial, AllowanceExhausted for instance."""
    command = asyncio.ensure_future(sandbox.run(line, _MOST_SECONDS))
    ended = asyncio.ensure_future(access.ended())
    try:
        while not command.done():
            left = _POLL_SECONDS if allowance.is_waiting else min(_POLL_SECONDS, allowance.seconds_left())
            await asyncio.wait({command, ended}, timeout=max(left, 0.01), return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                ended.result()
        result = command.result()
        if result.timed_out:
            raise AllowanceExhausted(Limit.WALL, f"its limit of {_MOST_SECONDS:.0f} seconds in a sandbox")
        return result
    finally:
        for task in (command, ended):
            task.cancel()
        await asyncio.gather(command, ended, return_exceptions=True)


async def _printed(sandbox: Sandbox) -> tuple[bytes, bytes]:
    """Return the beginnings of its two outputs; what can't be read any more is empty."""
    found = []
    for path in (STDOUT, STDERR):
        data = b""
        with contextlib.suppress(InfrastructureError, OSError, TimeoutError):
            async with asyncio.timeout(_READING_SECONDS):
                data = await sandbox.read(path, _KEPT_BYTES)
        found.append(data)
    return found[0], found[1]


async def _has_manifest(sandbox: Sandbox) -> bool:
    for name in MANIFEST_NAMES:
        try:
            await sandbox.read(f"{AGENT_LOGS}/{name}", 1)
        except (FileNotFoundError, IsADirectoryError):
            continue
        except OSError:  # no regular file, or one that its reader may not read: whoever takes it in decides
            return True
        return True
    return False


def _last_words(error: str, printed: tuple[bytes, bytes]) -> str:
    """Return the first line of the agent's error, else the last one of standard error, or else of standard output."""
    if error.strip():
        return f": {error.strip().splitlines()[0][:_TAIL_CHARS]}"
    for data in reversed(printed):
        lines = data.decode(errors="replace").strip().splitlines()
        if lines:
            return f": {lines[-1][:_TAIL_CHARS]}"
    return ""
