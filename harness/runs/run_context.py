"""The run context: what trials of a run in one process share (engine, models, rate limits, money, judge).

Room on the disks for one more trial.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.agents.egress import check_egress
from harness.agents.protocol import GatewaySeat
from harness.agents.registry import is_native
from harness.judging.verify.judge.judge import Judge
from harness.models.allowance import Budget
from harness.models.build import Models
from harness.models.gateway.server import GatewayServer, serve_gateway
from harness.runs.ablation import limited, named_scaffold
from harness.runs.engine_session import EngineSession, engine_session
from harness.runs.evidence_file import ArmQuota
from harness.runs.executors.protocol import RunSpec, Services, TrialSpec
from harness.runs.judges import configured_judge
from harness.runs.plan import Trial, chosen_tasks
from harness.runs.trial_store import TrialStore
from harness.sandbox.abilities import StoringEngine, ToolboxEngine
from harness.sandbox.egress.clients import Egress, egress_for
from harness.sandbox.host import cache_directory
from harness.sandbox.protocol import Engine
from harness.specs.catalog import Catalog
from harness.specs.errors import ToolFailed, UserError
from harness.specs.grading import ControlRound, GradingRules


@dataclass(frozen=True)
class RunContext:
    """One run on one machine."""

    run: RunSpec
    session: EngineSession
    catalog: Catalog
    models: Models
    budget: Budget
    arm_quota: ArmQuota
    judge: Judge | None = None
    gateway: GatewayServer | None = None
    _read: dict[tuple[str, str, str], Trial] = field(default_factory=dict, init=False, compare=False)
    """The first trial of each task, scaffold and model: catalog files are read once in a run, before any trial."""

    @property
    def protocol(self) -> GradingRules:
        """The rules by which this run's submissions are graded."""
        return self.run.config.protocol

    @property
    def control(self) -> ControlRound:
        """The kills that this run repeats apart."""
        return self.run.config.control

    def trial(self, spec: TrialSpec) -> Trial:
        """Return the trial that a description stands for, with this run's catalog and models."""
        key = (spec.task, spec.scaffold, spec.model)
        if key not in self._read:
            self._read[key] = trial_of(spec, self.catalog, self.models)
        return replace(self._read[key], attempt=spec.attempt)

    def seat(self, trial: Trial) -> GatewaySeat | None:
        """Return a native agent's way to its model; None for any other agent.

        Raises:
            UserError: The model can't be served.
        """
        if self.gateway is None or not is_native(trial.scaffold):
            return None
        return GatewaySeat(self.gateway, self.models.served(trial.model))

    def egress(self, trial: Trial) -> Egress | None:
        """Return the package registries that a trial's agent may reach; None for a control.

        Raises:
            UserError: This machine has none for one of the task's clients.
        """
        if not (trial.model and trial.task.registries):
            return None
        return egress_for(trial.task.registries, self.run.config.registries)

    def store(self, spec: TrialSpec) -> TrialStore:
        """Return the store of a trial's files."""
        return TrialStore(self.run.directory / "trials" / spec.place)


def trial_of(spec: TrialSpec, catalog: Catalog, models: Models) -> Trial:
    """Return the trial that a description stands for.

    Raises:
        UserError: The catalog has changed under it.
    """
    config = spec.run.config
    scaffold = named_scaffold(catalog, spec.scaffold, config.scaffolds, config.overrides)
    task = limited(catalog.task(spec.task), scaffold)
    file = models.file(spec.model) if spec.model else None
    return Trial(task, scaffold, spec.model, spec.attempt, file)


def trial_labels(trial: Trial) -> dict[str, str]:
    """Return the labels that a trial's containers have beside the run's."""
    return {"testwright.trial": str(trial.place)}


@asynccontextmanager
async def run_context(run: RunSpec, services: Services, alone: bool = False) -> AsyncIterator[RunContext]:
    """Provide the context of a run's trials in this process; none of its containers is left at its end.

    Args:
        run: What all its trials share.
        services: What they share while they are at work.
        alone: No other process does trials of this run.

    Raises:
        UserError: The engine isn't there or can't run a native scaffold, or the catalog is wrong.
    """
    catalog = Catalog(run.catalogs, run.config.task_options)
    models = Models(catalog, services.rate_limits)
    judge = configured_judge(catalog, models, run.config)
    has_native = any(is_native(catalog.scaffold(name)) for name in run.config.scaffolds)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(engine_session(run.config.sandbox, run.id, alone))
        if has_native and not isinstance(session.engine, ToolboxEngine):
            name = session.engine.name
            raise UserError(f"native scaffolds need a sandbox with toolboxes, which {name!r} has not; use docker")
        if run.config.models and not session.engine.capabilities.gateway:
            for task in chosen_tasks(catalog, run.config):
                check_egress(session.engine, task)
        gateway = await stack.enter_async_context(serve_gateway()) if has_native else None
        quota = ArmQuota(run.directory, run.config.arm_output_mb * 1_000_000)
        yield RunContext(run, session, catalog, models, services.budget, quota, judge, gateway)


_GB = 1_000_000_000


async def make_room(context: RunContext) -> None:
    """Remove images beyond the run's disk budget.

    Raises:
        ToolFailed: A disk has less free than it must have.
    """
    config, engine = context.run.config, context.session.engine
    if config.image_disk_gb is not None and isinstance(engine, StoringEngine):
        await engine.shrink(int(config.image_disk_gb * _GB))
    check_free_disk([context.run.directory, *_disks(engine)], config.min_free_disk_gb)


def check_free_disk(directories: list[Path], least_gb: float) -> None:
    """Check that each directory's disk has so many GB free.

    Raises:
        ToolFailed: One has less.
    """
    for directory in directories if least_gb else ():
        there = next(parent for parent in (directory, *directory.parents) if parent.exists())
        free = shutil.disk_usage(there).free / _GB
        if free < least_gb:
            remedy = f"a trial needs {least_gb:g} GB (--min-free-disk)"
            raise ToolFailed(f"{directory}: {free:.1f} GB are free, and {remedy}; make room or name another disk")


def _disks(engine: Engine) -> list[Path]:
    """Return where images, containers and trees lie."""
    storage = engine.storage if isinstance(engine, StoringEngine) else None
    return [cache_directory(), *([storage] if storage else [])]
