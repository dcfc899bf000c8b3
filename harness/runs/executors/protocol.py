"""The protocol of executors, and what an executor gets: trials as data, and the services that they share.

Executors by name. A name may carry an argument after a colon: `ray:10.0.0.1:6379`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from harness.models.allowance import Budget
from harness.models.rate_limits import LimiterService
from harness.runs.concurrency import FirstInterrupt
from harness.runs.outcome import TrialEvent, TrialOutcome
from harness.runs.plan import RunConfig
from harness.specs.catalog_places import CatalogPlace
from harness.specs.errors import UserError
from harness.specs.registry import Registry


class RunSpec(BaseModel):
    """The part of a run that all its trials share.

    `directory` is the run's; `catalogs` lie on the machine that does the trial.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    directory: Path
    catalogs: tuple[CatalogPlace, ...]
    config: RunConfig


class TrialSpec(BaseModel):
    """A trial as data: all that another process needs to do it, as JSON or pickled.

    `task` is an id, or `swe-atlas:DIRECTORY`; `model` is empty for a control; `place` is the trial's directory below
    `trials/`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: RunSpec
    task: str
    scaffold: str
    model: str
    attempt: int
    place: str


class RunObserver:
    """An observer of a run's trials; all methods return at once. Override what matters."""

    def done(self, outcome: TrialOutcome) -> None:
        """Hear that a trial has ended."""

    def observe(self, event: TrialEvent) -> None:
        """Hear that something has happened to a trial before its end."""

    def may_begin(self) -> bool:
        """Return whether a further trial may begin.

        It is asked before each; after a no, no trial is begun any more.
        """
        return True


@dataclass(frozen=True)
class Services:
    """Services that the trials of a run share while they are at work.

    An executor on many machines hands its workers stand-ins that ask here. `budget` is the run's money;
    `rate_limits` are of the models' providers. An executor tells `observer` of each step and each outcome. One that
    can end a run in an orderly way sets `interrupt.wind_down`; otherwise a Ctrl-C cancels it.
    """

    budget: Budget
    rate_limits: LimiterService
    observer: RunObserver = field(default_factory=RunObserver)
    interrupt: FirstInterrupt = field(default_factory=FirstInterrupt)


class Executor(Protocol):
    """A place where trials are done. One is made for each run."""

    async def isolation(self, config: RunConfig) -> str:
        """Return how trials of this configuration are isolated, for the run's record.

        Raises:
            UserError: They can't be done here; the run is refused before its directory is made.
        """
        ...

    async def run(self, trials: Sequence[TrialSpec], services: Services) -> None:
        """Do every trial, in any order and place, and tell `services.observer` of each as it ends.

        Whatever goes wrong in a trial is that trial's outcome; an error that is raised ends the run. After a
        cancellation nothing is at work and no container is left.
        """
        ...


EXECUTORS: Registry[Callable[..., Executor]] = Registry(
    "executor",
    "testwright.executors",
    {
        "asyncio": "harness.runs.executors.asyncio_executor:AsyncioExecutor",
    },
)
"""Each makes an executor: called with what followed the name's colon, or with nothing where nothing did."""


def make_executor(named: str) -> Executor:
    """Return the executor that `--executor NAME[:ARGUMENT]` names; nothing is reached yet.

    Raises:
        UserError: Nobody registered the name, or the argument is wrong.
    """
    name, _, argument = named.partition(":")
    factory = EXECUTORS.get(name)
    given = (argument,) if argument else ()
    try:
        signature(factory).bind(*given)
    except TypeError:
        raise UserError(f"executor {name!r} takes nothing behind a colon; say --executor {name}") from None
    return factory(*given)
