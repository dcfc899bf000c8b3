"""The executor on a Ray cluster."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

from harness.models.build import Models
from harness.plugins.ray.connection import (
    RESOURCE,
    ClusterNode,
    check_address,
    connect,
    disconnect,
    model_keys,
    nodes_here,
    start_actors,
    usual_keys,
)
from harness.plugins.ray.dispatch import Dispatch, WorkingNode
from harness.plugins.ray.messages import NodeFacts, edition
from harness.plugins.ray.mirror import pack
from harness.plugins.ray.node import TrialNode, fingerprint
from harness.runs.executors.protocol import RunSpec, Services, TrialSpec
from harness.runs.plan import RunConfig
from harness.runs.run_context import trial_of
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import Extra, UserError, check_extra

_START_SECONDS = 90.0
_LOOK_SECONDS = 5.0
_NO_NODE_SECONDS = 60.0
_log = logging.getLogger(__name__)


class RayExecutor:
    """See `Executor`. `address` is HOST:PORT, `auto`, or empty: see `connect`."""

    def __init__(self, address: str = "") -> None:
        check_extra(Extra.RAY, "--executor ray")
        check_address(address)
        self._address = address
        self._ray: ModuleType | None = None
        self._ready: list[tuple[ClusterNode, Any]] = []
        self._seen: set[str] = set()
        self._keys: dict[str, str] = {}

    async def isolation(self, config: RunConfig) -> str:
        self._keys = usual_keys()
        self._ray = await connect(self._address, config.jobs)
        try:
            nodes = nodes_here(self._ray)
            if not nodes:
                raise UserError(
                    f"executor ray: no node of the cluster offers {RESOURCE!r}; start nodes with "
                    f"'ray start --address=HOST:PORT --resources={{\"{RESOURCE}\": 4}}'"
                )
            isolations = await self._meet(nodes, config)
            if len(set(isolations.values())) > 1:
                told = ", ".join(f"{name} has {isolation}" for name, isolation in isolations.items())
                raise UserError(f"executor ray: the nodes isolate differently ({told}); name a --sandbox for all")
        except BaseException:
            disconnect()
            raise
        return next(iter(isolations.values()))

    async def run(self, trials: Sequence[TrialSpec], services: Services) -> None:
        assert self._ray is not None, "isolation() was asked for"
        try:
            if trials:
                await self._run(trials, services)
        finally:
            disconnect()

    async def _run(self, trials: Sequence[TrialSpec], services: Services) -> None:
        run = trials[0].run
        catalog = Catalog(run.catalogs, run.config.task_options)
        models = Models(catalog)
        self._keys |= model_keys(run.config, models)
        dispatch = Dispatch(trials, services, lambda spec: fingerprint(trial_of(spec, catalog, models)))
        try:
            nodes = await self._open(run, self._ready)
            # Of an earlier start of this run, before anything of this one is there.
            await asyncio.gather(*(node.actor.reap.remote({"testwright.run": run.id}) for node in nodes))
            for node in nodes:
                dispatch.join(node)
            joining = asyncio.create_task(self._take_up_others(run, dispatch))
            try:
                await self._until_done(dispatch, run.config.jobs)
            finally:
                joining.cancel()
                await asyncio.gather(joining, return_exceptions=True)
        finally:
            await asyncio.shield(dispatch.end())

    async def _until_done(self, dispatch: Dispatch, jobs: int) -> None:
        clock = asyncio.get_running_loop()
        last = clock.time()
        while not dispatch.is_over:
            await dispatch.advance(jobs, _LOOK_SECONDS)
            last = clock.time() if dispatch.has_nodes else last
            if clock.time() - last > _NO_NODE_SECONDS:
                dispatch.give_up(f"no node of the cluster was left for {_NO_NODE_SECONDS:g} seconds")

    async def _take_up_others(self, run: RunSpec, dispatch: Dispatch) -> None:
        """Take up nodes that join the cluster while the run is at work."""
        assert self._ray is not None
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            new = [node for node in nodes_here(self._ray) if node.id not in self._seen]
            try:
                before = len(self._ready)
                await self._meet(new, run.config)
                for node in await self._open(run, self._ready[before:]):
                    dispatch.join(node)
            except UserError as error:
                _log.warning("%s; it gets no trials", error)

    async def _meet(self, nodes: Sequence[ClusterNode], config: RunConfig) -> dict[str, str]:
        """Start our process on each node; their isolation by their names. Raises UserError where one can't work."""
        assert self._ray is not None
        self._seen |= {node.id for node in nodes}
        actors = start_actors(self._ray, TrialNode, nodes)
        asked = [self._facts(node, actor, config) for node, actor in zip(nodes, actors, strict=True)]
        facts = await asyncio.gather(*asked)
        for node, told in zip(nodes, facts, strict=True):
            if told.edition != edition():
                raise UserError(f"node {node.name} has {told.edition}, this machine {edition()}; install the same")
            if told.complaint:
                raise UserError(f"node {node.name}: {told.complaint}")
        self._ready += zip(nodes, actors, strict=True)
        return {node.name: told.isolation for node, told in zip(nodes, facts, strict=True)}

    async def _facts(self, node: ClusterNode, actor: Any, config: RunConfig) -> NodeFacts:
        try:
            async with asyncio.timeout(_START_SECONDS):
                facts: NodeFacts = await actor.facts.remote(config.sandbox, self._keys)
        except TimeoutError:
            raise UserError(
                f"node {node.name} began nothing within {_START_SECONDS:g} seconds: is another run at work there?"
            ) from None
        except Exception as error:
            if "No module named 'harness" in str(error):
                raise UserError(f"node {node.name} has no testwright; install the same version as here") from None
            raise UserError(f"node {node.name}: {str(error).strip().splitlines()[0]}") from None
        return facts

    async def _open(self, run: RunSpec, ready: Sequence[tuple[ClusterNode, Any]]) -> list[WorkingNode]:
        quota = run.config.arm_output_mb // max(1, len(self._ready))
        own = run.model_copy(update={"config": run.config.model_copy(update={"arm_output_mb": quota})})
        shipped = _shipped(run)
        told = await asyncio.gather(*(actor.open.remote(own, shipped, self._keys) for _, actor in ready))
        for (node, _), (_, complaint) in zip(ready, told, strict=True):
            if complaint:
                raise UserError(f"node {node.name}: {complaint}")
        assert self._ray is not None
        kill = self._ray.kill
        opened = zip(ready, told, strict=True)
        return [WorkingNode(node, actor, owner, partial(kill, actor)) for (node, actor), (owner, _) in opened]


def _shipped(run: RunSpec) -> dict[str, bytes | None]:
    """Return the packed catalogs by name; None for the one that every testwright has."""
    built_in = default_directory().resolve()
    return {place.name: None if place.directory == built_in else pack(place.directory) for place in run.catalogs}
