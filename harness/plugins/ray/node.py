"""The process that does trials on one node of a cluster: one engine, one run context, many trials.

Warnings of ours on a node, in the log of the trial that they are about.
"""

import asyncio
import contextlib
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from harness.plugins.ray.guard import dismiss, start_guard
from harness.plugins.ray.messages import Assignment, Dropped, Ended, Files, Message, NodeFacts, Unfit, edition
from harness.plugins.ray.mirror import Mirror, apply, unpack
from harness.plugins.ray.services import Relay
from harness.runs.executors.protocol import RunSpec, Services, TrialSpec
from harness.runs.outcome import TrialEvent, TrialOutcome, message_of
from harness.runs.owners import OWNER
from harness.runs.plan import Trial
from harness.runs.run_context import RunContext, run_context, trial_of
from harness.runs.trial_store import TrialStore
from harness.runs.tries import do_trial, harness_error
from harness.sandbox.abilities import StoringEngine, ToolboxEngine
from harness.sandbox.host import cache_directory
from harness.sandbox.protocol import Engine
from harness.specs.catalog_places import CatalogPlace, default_directory
from harness.specs.errors import ImageUnavailable, InfrastructureError, UserError
from harness.tracks.registry import choose_engine

_store: ContextVar[TrialStore | None] = ContextVar("trial", default=None)


class _TrialLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        store = _store.get()
        if store and store.directory.is_dir():
            store.log(f"{record.levelname.lower()}: {self.format(record)}")


_handler = _TrialLog(logging.WARNING)


@contextmanager
def logging_to(store: TrialStore) -> Iterator[None]:
    """Write the log of this block, and of what it starts, to the trial's."""
    logging.getLogger("harness").addHandler(_handler)
    token = _store.set(store)
    try:
        yield
    finally:
        _store.reset(token)


BEAT_SECONDS = 2.0
"""Seconds between two signs of life of a node."""
_COPY_SECONDS = 1.0
_BATCH_BYTES = 8_000_000


class TrialNode:
    """An actor. Its methods run in one event loop, side by side."""

    def __init__(self) -> None:
        self._told: asyncio.Queue[Message] = asyncio.Queue()
        self._relay = Relay(self._told.put_nowait)
        self._trials: dict[str, asyncio.Task[None]] = {}
        self._context: RunContext | None = None
        self._opened: asyncio.Future[str] | None = None
        self._life: asyncio.Task[None] | None = None
        self._end = asyncio.Event()

    async def facts(self, sandbox: str, keys: Mapping[str, str]) -> NodeFacts:
        """Return what this node is, with the driver's keys in this process's environment from now on."""
        os.environ.update(keys)
        try:
            engine = choose_engine(sandbox)
            await engine.close()
        except UserError as error:
            return NodeFacts(edition(), complaint=str(error))
        return NodeFacts(edition(), engine.isolation)

    async def open(
        self, run: RunSpec, catalogs: Mapping[str, bytes | None], keys: Mapping[str, str]
    ) -> tuple[str, str]:
        """Make ready for a run's trials. The label of this node's containers, or why it can't."""
        os.environ.update(keys)
        self._opened = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live(run, catalogs, self._opened))
        await asyncio.wait((self._opened, self._life), return_when=asyncio.FIRST_COMPLETED)
        if self._opened.done():
            return self._opened.result(), ""
        return "", str(self._life.exception())

    async def _live(self, run: RunSpec, catalogs: Mapping[str, bytes | None], opened: "asyncio.Future[str]") -> None:
        async with AsyncExitStack() as stack:
            folder = stack.enter_context(_scratch())
            places = tuple(
                CatalogPlace(name, unpack(packed, folder / "catalogs" / name) if packed else default_directory())
                for name, packed in catalogs.items()
            )
            own = run.model_copy(update={"directory": folder / "run", "catalogs": places})
            guards: list[IO[bytes]] = []
            stack.callback(dismiss, guards)  # once the context has left nothing
            services = Services(self._relay, self._relay)
            context = await stack.enter_async_context(run_context(own, services))
            owner = context.session.labels[OWNER]
            guards.append(await asyncio.to_thread(start_guard, run.config.sandbox, owner, folder))
            self._context = context
            opened.set_result(owner)
            await self._end.wait()

    async def begin(self, assignment: Assignment) -> None:
        place = assignment.spec.place
        self._trials[place] = asyncio.create_task(self._do(assignment))

    async def told(self) -> list[Message]:
        """Return what there is to tell, at once or after a while; nothing at all is an answer too."""
        batch: list[Message] = []
        with contextlib.suppress(TimeoutError):
            batch.append(await asyncio.wait_for(self._told.get(), BEAT_SECONDS))
        while not self._told.empty() and sum(map(_size, batch)) < _BATCH_BYTES:
            batch.append(self._told.get_nowait())
        return batch

    async def answer(self, number: int, answer: str) -> None:
        self._relay.answer(number, answer)

    async def reap(self, labels: Mapping[str, str]) -> int:
        """Remove containers of others, which are dead, from this node's engine."""
        assert self._context is not None, "it was opened"
        return await self._context.session.engine.reap(labels)

    async def stop(self) -> None:
        """Cancel what is at work; what it has left is told before its end."""
        tasks = list(self._trials.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> str:
        """Remove all containers and files of this node, and return what went wrong with that."""
        self._end.set()
        if self._life is None:
            return ""
        [ended] = await asyncio.gather(self._life, return_exceptions=True)
        return str(ended or "")

    async def _do(self, assignment: Assignment) -> None:
        """Do one trial, and tell its end whatever goes wrong."""
        place = assignment.spec.place
        end: Message = Ended(place, None)
        try:
            end = Ended(place, await self._outcome(assignment))
        except Exception as error:  # the disk of this node is full, say
            end = Dropped(place, message_of(error))
        finally:
            self._told.put_nowait(end)
            del self._trials[place]
            self._forget(place)

    async def _outcome(self, assignment: Assignment) -> TrialOutcome | None:
        """Do a trial, its files told as they change; None where this node can't. Raises OSError for its disk."""
        context, place = self._context, assignment.spec.place
        assert context is not None, "it was opened"
        spec = assignment.spec.model_copy(update={"run": context.run})
        folder, name = self._folder(place), Path(place).name
        folder.mkdir(parents=True, exist_ok=True)
        apply(assignment.files, folder, name)
        mirror = Mirror(folder, name)
        mirror.change()  # the driver has it
        try:
            if complaint := await _unfit(context, spec, assignment.fingerprint):
                self._told.put_nowait(Unfit(place, complaint))
                return None
            with logging_to(context.store(spec)):
                return await self._copying(mirror, context, spec)
        finally:
            self._copy(mirror, place)

    def _folder(self, place: str) -> Path:
        """Return where a trial's attempts lie on this node."""
        assert self._context is not None, "it was opened"
        return (self._context.run.directory / "trials" / place).parent

    def _forget(self, place: str) -> None:
        name = Path(place).name
        for path in self._folder(place).glob(f"{name}*"):
            if path.name.partition(".")[0] == name:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    async def _copying(self, mirror: Mirror, context: RunContext, spec: TrialSpec) -> TrialOutcome:
        async def copy_often() -> None:
            while True:
                await asyncio.sleep(_COPY_SECONDS)
                self._copy(mirror, spec.place)

        def observe(event: TrialEvent) -> None:
            self._copy(mirror, spec.place)
            self._told.put_nowait(event)

        often = asyncio.create_task(copy_often())
        try:
            return await do_trial(context, observe, spec)
        except Exception as error:
            return harness_error(spec, error)
        finally:
            often.cancel()

    def _copy(self, mirror: Mirror, place: str) -> None:
        change = mirror.change()
        if any(change):
            self._told.put_nowait(Files(place, change))


def fingerprint(trial: Trial) -> str:
    """Return a digest of all that decides a trial's outcome, but for its image and isolation."""
    parts = (trial.identity("", ""), trial.task.digest, trial.task.repo.digest)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


async def _unfit(context: RunContext, spec: TrialSpec, expected: str) -> str:
    """Return why this node can't do a trial; empty where it can, or where that shows at the trial itself."""
    try:
        trial = trial_of(spec, context.catalog, context.models)
        if fingerprint(trial) != expected:
            return f"it has another version of what {trial.label} is made of (task, scaffold or model file)"
        await _provide(context.session.engine, trial, with_toolbox=context.store(spec).agent() is None)
    except (ImageUnavailable, UserError, OSError) as error:
        return str(error).partition("\n")[0]
    except InfrastructureError:  # it may pass: a trial is tried again, and says what has failed
        return ""
    return ""


async def _provide(engine: Engine, trial: Trial, with_toolbox: bool) -> None:
    """Make a trial's image and the toolbox of its scaffold where they aren't here."""
    image = await engine.image(trial.task)
    if isinstance(engine, StoringEngine):
        engine.release(image)
    if with_toolbox and trial.scaffold.native and isinstance(engine, ToolboxEngine):
        await engine.toolbox(trial.scaffold)


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    parent = cache_directory() / "cluster"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="node-", dir=parent) as folder:
        yield Path(folder)


def _size(message: Message) -> int:
    pieces = message.change.pieces if isinstance(message, Files) else ()
    return sum(len(piece.data) for piece in pieces)
