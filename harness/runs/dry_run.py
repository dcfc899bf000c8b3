"""A forecast of a run: what it would do and could cost. Creates nothing, pays nothing."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.judging.verify.judge.judge import Judge
from harness.models.price_table import has_price
from harness.runs.additions import AskedRun, check_additions
from harness.runs.command import Warn, prepare
from harness.runs.concurrency import run_to_end
from harness.runs.judges import VerdictConditions
from harness.runs.plan import RunConfig, Trial
from harness.runs.store import check_free, spent_in
from harness.runs.trial_store import TrialStore
from harness.sandbox.protocol import Engine
from harness.specs.catalog import Catalog
from harness.specs.grading import ControlRound, GradingRules
from harness.specs.model_file import ModelFile
from harness.tracks.registry import check_sandboxed, choose_engine, known_digest


class State(StrEnum):
    """States in which a start finds a trial, and so what it does."""

    DONE = "done"
    JUDGE = "judge"
    """The agent has handed in; only the judging is missing, or was by another judge."""
    RUN = "run"
    REDO = "redo"
    """Its files are of another identity: of a task, image, scaffold or model that has changed since."""
    UNKNOWN = "unknown"
    """Something is there, and whether it is of this trial shows once the image is made."""


@dataclass(frozen=True)
class PlannedTrial:
    """A trial to come.

    `agent_usd` is the most that one try of its agent may cost; None where its price is unknown.
    """

    trial: Trial
    state: State
    agent_usd: float | None


@dataclass(frozen=True)
class DryRun:
    """Money is in USD, None where it is unknown. `spent_usd` is what earlier starts have cost."""

    directory: Path
    isolation: str
    trials: tuple[PlannedTrial, ...]
    judge: str | None
    judge_usd: float | None
    max_cost_usd: float | None
    spent_usd: float | None
    tries: int

    @property
    def agents_usd(self) -> float | None:
        """USD of all agents, each tried once."""
        return _sum([item.agent_usd for item in self.trials])

    @property
    def tries_usd(self) -> float | None:
        """The same, were every trial tried as often as faults of the infrastructure allow."""
        return None if self.agents_usd is None else self.agents_usd * self.tries

    @property
    def left_usd(self) -> float | None:
        """The rest of the run's cap, None where there is none. Where spending is unknown, no further call is made."""
        if self.max_cost_usd is None:
            return None
        return 0.0 if self.spent_usd is None else max(0.0, self.max_cost_usd - self.spent_usd)

    @property
    def bound_usd(self) -> float | None:
        """The most that agents and judge can cost.

        A call that reaches a limit is the last, so it may pass that by its cost.
        """
        limits = _sum([self.tries_usd, self.judge_usd])
        return min((bound for bound in (limits, self.left_usd) if bound is not None), default=None)


def dry_run(catalog: Catalog, config: RunConfig, directory: Path, warn: Warn, extend: bool = False) -> DryRun:
    """Check all that a run checks before it begins, and return what it would do and cost.

    Args:
        catalog: Where tasks, scaffolds and models lie.
        config: What to run.
        directory: The run's; nothing is written.
        warn: Told what is no error.
        extend: Whether the directory may hold trials of another command.

    Raises:
        UserError: Something is wrong.
    """
    models, trials, judge = prepare(catalog, config, warn)
    check_free(directory)
    isolation, planned = run_to_end(_planned(config, trials, directory, judge, extend))
    is_asked = judge is not None and any(item.state is not State.DONE for item in planned)
    unpaid = config.judge is None or models.file(config.judge) is None
    return DryRun(
        directory=directory,
        isolation=isolation,
        trials=planned,
        judge=config.judge,
        judge_usd=0.0 if unpaid or not is_asked else None,
        max_cost_usd=config.max_cost_usd,
        spent_usd=spent_in(directory).cost_usd,
        tries=config.tries,
    )


async def _planned(
    config: RunConfig, trials: list[Trial], directory: Path, judge: Judge | None, extend: bool
) -> tuple[str, tuple[PlannedTrial, ...]]:
    engine = choose_engine(config.sandbox)
    try:
        asked = AskedRun(config, trials, engine.isolation)
        await check_sandboxed(asked.tasks.values(), asked.isolation)
        check_additions(directory, asked, extend)
        return engine.isolation, tuple(_plan(engine, trial, directory, judge, config) for trial in trials)
    finally:
        await engine.close()


def _plan(engine: Engine, trial: Trial, directory: Path, judge: Judge | None, config: RunConfig) -> PlannedTrial:
    digest = known_digest(engine, trial.task)
    store = TrialStore(directory / "trials" / trial.place)
    state = state_of(trial, store, engine.isolation, digest, judge, config.protocol, config.control)
    pays = state not in (State.DONE, State.JUDGE)
    return PlannedTrial(trial, state, _limit(trial, trial.model_file) if pays else 0.0)


def state_of(
    trial: Trial,
    store: TrialStore,
    isolation: str,
    image_digest: str | None,
    judge: Judge | None = None,
    protocol: GradingRules = GradingRules.TESTWRIGHT,
    control: ControlRound = ControlRound.DRAWN,
) -> State:
    """Return how far a trial is, as `run_trial` finds it.

    `image_digest` is None where it isn't known before the image is made.
    """
    found = store.identity()
    if not found:
        return State.RUN
    if image_digest is None:
        return State.UNKNOWN
    identity = trial.identity(image_digest, isolation)
    if not store.is_of(identity):
        before = store.finished_before(identity)
        if before is None:
            return State.REDO
        store = before
    if store.agent() is None:
        return State.JUDGE if store.has_unread_work else State.RUN
    now = VerdictConditions(trial.task, image_digest, isolation, judge, protocol, control)
    return State.DONE if now.is_done(store) else State.JUDGE


def _limit(trial: Trial, model: ModelFile | None) -> float | None:
    """Return the most that a trial's agent may cost; None where the model has no price, so that nothing can hold it.

    A control, a recording and a script cost nothing.
    """
    if model is None:
        return 0.0
    return trial.task.file.limits.cost_usd if has_price(model) else None


def _sum(amounts: list[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
