"""Dispatch of trials: nodes that come and go, trials that are handed out, and what nodes tell."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, assert_never

from harness.plugins.ray.connection import ClusterNode
from harness.plugins.ray.messages import (
    Assignment,
    Dropped,
    Ended,
    Files,
    MayPay,
    Message,
    Paid,
    TurnOver,
    TurnWanted,
    Unfit,
)
from harness.plugins.ray.mirror import Mirror, apply
from harness.plugins.ray.services import Desk
from harness.runs.executors.protocol import Services, TrialSpec
from harness.runs.outcome import Progress, TrialEvent, TrialOutcome
from harness.runs.tries import try_elsewhere
from harness.specs.errors import ImageUnavailable, InfrastructureError, SandboxLost

SILENCE_SECONDS = 60.0
"""After so long without a word a node is lost."""
_END_SECONDS = 120.0
_MOST_LOSSES = 3
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class WorkingNode:
    """A node that has been opened. `owner` is the label of its containers; `kill` ends its process."""

    node: ClusterNode
    actor: Any
    owner: str
    kill: Callable[[], None] = lambda: None
    busy: set[str] = field(default_factory=set)
    listener: "asyncio.Task[None] | None" = None

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def has_room(self) -> bool:
        return len(self.busy) < self.node.slots


@dataclass(eq=False)
class _Item:
    """A trial that isn't over. `unfit` has what nodes lack for it; `losses` are the nodes that it was lost with.

    `dropped_by` are those among them that are still there.
    """

    spec: TrialSpec
    fingerprint: str
    unfit: dict[str, str] = field(default_factory=dict)
    losses: int = 0
    dropped_by: set[str] = field(default_factory=set)
    lost: Callable[[InfrastructureError, bool], TrialOutcome | None] = lambda _error, _is_final: None

    @property
    def folder(self) -> Path:
        return (self.spec.run.directory / "trials" / self.spec.place).parent

    @property
    def name(self) -> str:
        return Path(self.spec.place).name


class Dispatch:
    """The trials of one run. `fingerprint` says what a trial is made of here."""

    def __init__(
        self, trials: Sequence[TrialSpec], services: Services, fingerprint: Callable[[TrialSpec], str]
    ) -> None:
        self._services = services
        self._items = {spec.place: _Item(spec, fingerprint(spec)) for spec in trials}
        self._queue = list(self._items.values())
        self._nodes: list[WorkingNode] = []
        self._dead: list[str] = []
        self._calls: set[asyncio.Task[Any]] = set()
        self._failure: BaseException | None = None
        self._changed = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Return whether nothing is at work and nothing is left that may begin."""
        at_work = any(node.busy for node in self._nodes)
        return not at_work and (not self._queue or not self._services.observer.may_begin())

    @property
    def has_nodes(self) -> bool:
        return bool(self._nodes)

    def join(self, node: WorkingNode) -> None:
        """Give a node trials from now on."""
        self._nodes.append(node)
        node.listener = asyncio.create_task(self._listen(node))

    async def advance(self, jobs: int, seconds: float) -> None:
        """Hand out what there is room for, and wait until something has happened, at most so long."""
        self._hand_out(jobs)
        if not self.is_over:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
            self._changed.clear()
        if self._failure:
            raise self._failure

    def give_up(self, message: str) -> None:
        """End the trials in the queue: no node is left to do them."""
        for item in self._queue:
            self._end_without(item, SandboxLost(message))
        self._queue.clear()

    async def end(self) -> None:
        """Stop what is at work, take what it has left, and have each node remove what is its own and the dead's."""
        nodes, self._queue = list(self._nodes), []
        await asyncio.gather(*(self._leave(node) for node in nodes))
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _leave(self, node: WorkingNode) -> None:
        try:
            async with asyncio.timeout(_END_SECONDS):
                await node.actor.stop.remote()
                while node.busy and node in self._nodes:
                    await self._changed.wait()
                    self._changed.clear()
                for owner in self._dead:
                    await node.actor.reap.remote({"testwright.owner": owner})
                if complaint := await node.actor.close.remote():
                    _log.warning("node %s: %s", node.name, complaint)
        except Exception as error:
            _log.warning("node %s didn't end: %s", node.name, _why(error))
        finally:
            if node.listener:
                node.listener.cancel()
                await asyncio.gather(node.listener, return_exceptions=True)

    def _hand_out(self, jobs: int) -> None:
        for item in list(self._queue):
            fit = [node for node in self._nodes if node.node.id not in item.unfit]
            if self._nodes and not fit:
                self._queue.remove(item)
                self._end_without(item, ImageUnavailable("; ".join(sorted(item.unfit.values()))))
            fit = [node for node in fit if node.node.id not in item.dropped_by] or fit
            free = sorted((node for node in fit if node.has_room), key=lambda node: len(node.busy) / node.node.slots)
            at_work = sum(len(node.busy) for node in self._nodes)
            if free and at_work < jobs and self._services.observer.may_begin():
                self._queue.remove(item)
                self._send(item, free[0])

    def _send(self, item: _Item, node: WorkingNode) -> None:
        node.busy.add(item.spec.place)
        item.lost = try_elsewhere(item.spec)
        files = Mirror(item.folder, item.name).change()
        self._call(node.actor.begin.remote(Assignment(item.spec, item.fingerprint, files)))

    def _call(self, call: Any) -> None:
        """Drop a call's answer, which nobody waits for; where the node is lost, its listener learns of it."""

        async def wait() -> None:
            try:
                await call
            except Exception as error:
                _log.debug("a call of a node: %s", error)

        task = asyncio.create_task(wait())
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _listen(self, node: WorkingNode) -> None:
        desk = Desk(self._services, lambda number, answer: self._call(node.actor.answer.remote(number, answer)))
        try:
            while True:
                try:
                    async with asyncio.timeout(SILENCE_SECONDS):
                        batch = await node.actor.told.remote()
                except Exception as error:
                    self._lose(node, _why(error))
                    return
                for message in batch:
                    await self._take(node, desk, message)
        except Exception as error:  # ours, or that the run's directory can't be written: it ends the run
            self._failure = error
            self._changed.set()
        finally:
            desk.close()

    async def _take(self, node: WorkingNode, desk: Desk, message: Message) -> None:
        match message:
            case TrialEvent():
                item = self._items[message.place]
                self._services.observer.observe(message.model_copy(update={"number": message.number + item.losses}))
            case Files():
                item = self._items[message.place]
                apply(message.change, item.folder, item.name)
            case Unfit():
                self._items[message.place].unfit[node.node.id] = f"node {node.name}: {message.message}"
                self._queue.insert(0, self._items[message.place])
            case Ended():
                node.busy.discard(message.place)
                self._changed.set()
                if message.outcome:
                    self._services.observer.done(message.outcome)
            case Dropped():
                node.busy.discard(message.place)
                item = self._items[message.place]
                item.dropped_by.add(node.node.id)
                self._try_again(item, SandboxLost(f"node {node.name} couldn't go on with it: {message.message}"))
                self._changed.set()
            case MayPay() | Paid() | TurnWanted() | TurnOver():
                await desk.take(message)
            case _:
                assert_never(message)

    def _lose(self, node: WorkingNode, why: str) -> None:
        """Try a lost node's trials elsewhere.

        Other nodes remove what it may have left on an engine that they share.
        """
        self._nodes.remove(node)
        self._dead.append(node.owner)
        _log.warning("node %s is lost: %s", node.name, why)
        node.kill()  # it may be there all the same, and only out of reach
        for other in self._nodes:
            self._call(other.actor.reap.remote({"testwright.owner": node.owner}))
        for place in sorted(node.busy):
            self._try_again(self._items[place], SandboxLost(f"node {node.name} is lost: {why}"))
        node.busy.clear()
        self._changed.set()

    def _try_again(self, item: _Item, error: SandboxLost) -> None:
        item.losses += 1
        if item.losses >= _MOST_LOSSES:
            self._end_without(item, error, is_begun=True)
            return
        item.lost(error, False)
        event = TrialEvent(place=item.spec.place, progress=Progress.RETRIED, number=item.losses, fault=str(error))
        self._services.observer.observe(event)
        self._queue.insert(0, item)

    def _end_without(self, item: _Item, error: InfrastructureError, is_begun: bool = False) -> None:
        outcome = (item.lost if is_begun else try_elsewhere(item.spec))(error, True)
        assert outcome is not None, "nobody tries again"
        self._services.observer.done(outcome)


def _why(error: Exception) -> str:
    """Return the first line of one of Ray's errors; a deadline has no words of its own."""
    return str(error).strip().partition("\n")[0] or f"no word from it for {SILENCE_SECONDS:g} seconds"
