"""The run context: what trials of a run in one process share (engine, models, rate limits, money, judge)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from harness.agents.egress import check_egress
from harness.agents.protocol import GatewaySeat
from harness.agents.registry import is_native
from harness.llm.build import Models
from harness.llm.spending import Budget
from harness.runs.ablation import limited, named_scaffold
from harness.runs.engine_session import EngineSession, engine_session
from harness.runs.executors.protocol import RunSpec, Services, TrialSpec
from harness.runs.judges import configured_judge
from harness.runs.kept_arms import ArmQuota
from harness.runs.plan import Trial, chosen_tasks
from harness.runs.run_gateway import RunGateway, run_gateway
from harness.runs.trial_store import TrialStore
from harness.sandbox.egress.clients import Egress, egress_for
from harness.sandbox.protocol import ToolboxEngine
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.verify.judge.judge import Judge


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
    gateway: RunGateway | None = None

    @property
    def protocol(self) -> GradingRules:
        return self.run.config.protocol

    def trial(self, spec: TrialSpec) -> Trial:
        """The trial that a description stands for. Raises UserError where the catalog has changed under it."""
        return trial_of(spec, self.catalog, self.models)

    def seat(self, trial: Trial) -> GatewaySeat | None:
        """Where a native agent's model is; None for any other. Raises UserError."""
        if self.gateway is None or not is_native(trial.scaffold):
            return None
        return GatewaySeat(self.gateway.server, self.gateway.socket, self.models.served(trial.model))

    def egress(self, trial: Trial) -> Egress | None:
        """What a trial's agent may reach of package registries; None for a control. Raises UserError."""
        if not (trial.model and trial.task.registries):
            return None
        return egress_for(trial.task.registries, self.run.config.registries)

    def store(self, spec: TrialSpec) -> TrialStore:
        return TrialStore(self.run.directory / "trials" / spec.place)


def trial_of(spec: TrialSpec, catalog: Catalog, models: Models) -> Trial:
    """The trial that a description stands for. Raises UserError where the catalog has changed under it."""
    config = spec.run.config
    scaffold = named_scaffold(catalog, spec.scaffold, config.scaffolds, config.overrides)
    task = limited(catalog.task(spec.task), scaffold)
    file = models.file(spec.model) if spec.model else None
    return Trial(task, scaffold, spec.model, spec.attempt, file)


def trial_labels(trial: Trial) -> dict[str, str]:
    """Of a trial's containers, beside the run's."""
    return {"testwright.trial": str(trial.place)}


@asynccontextmanager
async def run_context(run: RunSpec, services: Services, alone: bool = False) -> AsyncIterator[RunContext]:
    """The context of a run's trials in this process; none of its containers is left at its end.

    `alone` says that no other process does trials of this run. Raises UserError.
    """
    catalog = Catalog(run.catalog, run.config.task_options)
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
        gateway = await stack.enter_async_context(run_gateway()) if has_native else None
        quota = ArmQuota(run.directory, run.config.arm_output_mb * 1_000_000)
        yield RunContext(run, session, catalog, models, services.budget, quota, judge, gateway)
