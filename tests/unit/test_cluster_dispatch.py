"""Trials among nodes that lack images, are lost or share rate limits: the nodes are in this process, without Ray."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.models.allowance import Spending
from harness.models.build import Models
from harness.models.rate_limits import RateLimiters
from harness.plugins.ray.connection import ClusterNode, usual_keys
from harness.plugins.ray.dispatch import Dispatch, WorkingNode
from harness.plugins.ray.mirror import pack
from harness.plugins.ray.node import TrialNode, fingerprint
from harness.plugins.ray.services import Desk, Relay
from harness.runs.executors.protocol import RunObserver, Services, TrialSpec, make_executor
from harness.runs.outcome import TrialEvent, TrialOutcome
from harness.runs.plan import RunConfig, plan_trials
from harness.runs.run_context import trial_of
from harness.runs.scheduler import trial_specs
from harness.runs.trial_store import TrialStore
from harness.sandbox.protocol import Image, Mount
from harness.sandbox.registry import SANDBOXES
from harness.specs.errors import BudgetExhausted, ImageUnavailable, SandboxLost, UserError
from harness.specs.model_file import RateLimits
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.usage import Usage
from tests.support.fake_engine import FakeEngine
from tests.support.runs_here import TASK, RunsHere, runs_here


class Calls:
    """An actor's handle, as Ray gives it, on an object here. One that `dies` does so once it is given a trial."""

    def __init__(self, actor: object, dies: bool) -> None:
        self.actor = actor
        self.dies = dies
        self.begun = 0

    def __getattr__(self, name: str) -> Any:
        class Method:
            @staticmethod
            def remote(*arguments: Any) -> "asyncio.Future[Any]":
                return asyncio.ensure_future(self.call(name, arguments))

        return Method

    async def call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        self.begun += name == "begin"
        answer = None if self.dies and self.begun else await getattr(self.actor, name)(*arguments)
        if self.dies and self.begun and name != "close":
            raise ConnectionError("it is gone")
        return answer


class Away:
    """An engine that doesn't answer when it is asked for an image."""

    def __init__(self, words: str, engine: FakeEngine) -> None:
        self._words = words
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def image(self, _: Task) -> Image:
        raise SandboxLost(self._words)


class NoToolbox(Away):
    """An engine that has the image, and no toolbox."""

    async def image(self, task: Task) -> Image:
        return await self._engine.image(task)

    async def toolbox(self, _: Scaffold) -> Mount:
        raise ImageUnavailable(self._words)


class Scene(RunObserver):
    def __init__(self, runs: RunsHere, attempts: int = 1, **asked: Any) -> None:
        self.runs = runs
        self.outcomes: list[TrialOutcome] = []
        self.events: list[TrialEvent] = []
        self.services = Services(Spending(), RateLimiters(), self)
        asked = {"scaffolds": ("nop",), **asked}
        config = RunConfig(tasks=(TASK,), attempts=attempts, sandbox="node", retry_seconds=0, **asked)
        self.specs = trial_specs(runs.catalog, config, "an-id", runs.output, plan_trials(runs.catalog, config))
        self.dispatch = Dispatch(self.specs, self.services, self.fingerprint)

    def done(self, outcome: TrialOutcome) -> None:
        self.outcomes.append(outcome)

    def observe(self, event: TrialEvent) -> None:
        self.events.append(event)

    def fingerprint(self, spec: TrialSpec) -> str:
        return fingerprint(trial_of(spec, self.runs.catalog, Models(self.runs.catalog)))

    async def node(
        self, name: str, unavailable: str = "", dies: bool = False, away: str = "", no_toolbox: str = ""
    ) -> Calls:
        engine: Any = replace(self.runs.engine, unavailable=unavailable)
        if away or no_toolbox:
            engine = Away(away, engine) if away else NoToolbox(no_toolbox, engine)
        SANDBOXES.register("node", lambda _argument, _images: engine)
        calls = Calls(TrialNode(), dies)
        try:
            run = self.specs[0].run
            catalogs = {place.name: pack(place.directory) for place in run.catalogs}
            owner, complaint = await calls.open.remote(run, catalogs, {})
        finally:
            SANDBOXES.unregister("node")
        assert not complaint
        self.dispatch.join(WorkingNode(ClusterNode(name, name, 1), calls, owner))
        return calls

    async def finish(self) -> None:
        try:
            async with asyncio.timeout(60):
                while not self.dispatch.is_over:
                    await self.dispatch.advance(8, 1.0)
        finally:
            await self.dispatch.end()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunsHere]:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    with runs_here(tmp_path) as runs:
        yield runs


async def test_a_trial_goes_to_the_node_that_has_the_image(runs, tmp_path):
    scene = Scene(runs)
    lacking, having = await scene.node("a", unavailable="no image of tiny"), await scene.node("b")
    await scene.finish()
    assert (lacking.begun, having.begun) == (1, 1)
    [outcome] = scene.outcomes
    assert outcome.reasons[0].code == "empty-submission"
    [record] = TrialStore(runs.output / "trials" / outcome.place).attempts.read()
    assert record.end == "judged", "nothing was begun where the image was missing"
    assert not list((tmp_path / "cache" / "cluster").iterdir()), "nodes leave no files"


async def test_an_image_that_no_node_has_is_the_reason_with_every_node_named(runs):
    scene = Scene(runs)
    await scene.node("a", unavailable="no image of tiny")
    await scene.node("b", unavailable="no image here either")
    await scene.finish()
    [reason] = scene.outcomes[0].reasons
    assert reason.code == "image-unavailable"
    assert reason.words == "node a: no image of tiny; node b: no image here either"


async def test_a_toolbox_that_no_node_has_is_the_reason_and_nothing_was_begun(runs):
    scene = Scene(runs, scaffolds=("command",), models=("openai/x",))
    await scene.node("a", no_toolbox="no docker command that can build")
    await scene.node("b", no_toolbox="nor here")
    await scene.finish()
    [outcome] = scene.outcomes
    [reason] = outcome.reasons
    assert (reason.code, reason.words) == (
        "image-unavailable",
        "node a: no docker command that can build; node b: nor here",
    )
    [record] = TrialStore(runs.output / "trials" / outcome.place).attempts.read()
    assert record.is_final, "no node has tried"


async def test_a_lost_nodes_trial_is_done_elsewhere_and_both_attempts_are_kept(runs):
    scene = Scene(runs)
    dying, living = await scene.node("a", dies=True), await scene.node("b")
    await scene.finish()
    assert (dying.begun, living.begun) == (1, 1)
    [outcome] = scene.outcomes
    assert outcome.reasons[0].code == "empty-submission"
    records = TrialStore(runs.output / "trials" / outcome.place).attempts.read()
    assert [(record.number, record.end, record.is_final) for record in records] == [
        (1, "fault", False),
        (2, "judged", True),
    ]
    assert "node a is lost" in records[0].message
    assert [event.fault for event in scene.events if event.fault] == [records[0].message]


async def test_a_trial_that_a_nodes_own_disk_ends_is_done_elsewhere(runs, tmp_path):
    scene = Scene(runs)
    broken = await scene.node("a")
    [scratch] = (tmp_path / "cache" / "cluster").iterdir()
    scratch.joinpath("run").write_text("no directory can be made in its place")
    whole = await scene.node("b")
    await scene.finish()
    assert (broken.begun, whole.begun) == (1, 1), "not a second time where it has failed"
    [outcome] = scene.outcomes
    assert outcome.reasons[0].code == "empty-submission"
    records = TrialStore(runs.output / "trials" / outcome.place).attempts.read()
    assert [(record.end, record.is_final) for record in records] == [("fault", False), ("judged", True)]
    assert "node a couldn't go on with it: " in records[0].message


async def test_a_trial_that_the_only_node_drops_three_times_is_unscored(runs, tmp_path):
    scene = Scene(runs)
    node = await scene.node("a")
    [scratch] = (tmp_path / "cache" / "cluster").iterdir()
    scratch.joinpath("run").write_text("no directory can be made in its place")
    await scene.finish()
    assert node.begun == 3
    assert [outcome.reasons[0].code for outcome in scene.outcomes] == ["sandbox-lost"]


async def test_an_engine_that_is_away_when_a_trial_comes_is_that_trials_fault(runs):
    scene = Scene(runs)
    await scene.node("a", away="the engine doesn't answer")
    await scene.finish()
    [outcome] = scene.outcomes
    assert (outcome.reasons[0].code, outcome.reasons[0].words) == ("sandbox-lost", "the engine doesn't answer")


async def test_a_trial_that_is_lost_with_three_nodes_is_unscored(runs):
    scene = Scene(runs)
    nodes = [await scene.node(name, dies=True) for name in "abc"] + [await scene.node("d")]
    await scene.finish()
    assert [node.begun for node in nodes] == [1, 1, 1, 0]
    [outcome] = scene.outcomes
    assert outcome.reasons[0].code == "sandbox-lost"
    records = TrialStore(runs.output / "trials" / outcome.place).attempts.read()
    assert [record.is_final for record in records] == [False, False, True]


async def test_money_and_turns_are_shared_by_nodes():
    services = Services(Spending(1.0), RateLimiters())
    limits = RateLimits(concurrent_requests=1)
    async with linked(services) as one, linked(services) as other:
        await one.check()
        async with one.limiter("m", limits).turn(10):
            waiting = asyncio.create_task(entered(other, limits))
            await one.check()  # has gone to and fro meanwhile
            assert not waiting.done()
            gone = asyncio.create_task(entered(other, limits))
            await one.check()
            gone.cancel()
        await waiting
        await other.charge(Usage(calls=1, cost_usd=1.5))
        with pytest.raises(BudgetExhausted, match=r"\$1.5000 of \$1 are spent"):
            await other.check()
        with pytest.raises(BudgetExhausted):
            await one.check()
        await entered(one, limits)


async def test_the_turn_of_a_lost_node_is_free_again():
    services, limits = Services(Spending(), RateLimiters()), RateLimits(concurrent_requests=1)
    async with linked(services) as living:
        async with linked(services) as lost:
            turn = lost.limiter("m", limits).turn(10)
            await turn.__aenter__()
            waiting = asyncio.create_task(entered(living, limits))
            await living.check()
            assert not waiting.done()
        await waiting


async def entered(relay: Relay, limits: RateLimits) -> None:
    async with relay.limiter("m", limits).turn(10):
        pass


@asynccontextmanager
async def linked(services: Services) -> AsyncIterator[Relay]:
    """A node's stand-ins, and the driver's desk that answers them until the node is lost."""
    questions: asyncio.Queue[Any] = asyncio.Queue()
    relay = Relay(questions.put_nowait)
    desk = Desk(services, relay.answer)

    async def serve() -> None:
        while True:
            await desk.take(await questions.get())

    serving = asyncio.create_task(serve())
    try:
        yield relay
    finally:
        serving.cancel()
        desk.close()


def test_nodes_get_keys_by_their_usual_names_and_those_that_are_asked_for():
    environment = {"A_API_KEY": "1", "OTHER": "2", "REGION": "3", "EMPTY_API_KEY": ""}
    assert usual_keys(environment) == {"A_API_KEY": "1"}
    others = {"ANTHROPIC_AUTH_TOKEN": "4", "HF_TOKEN": "5", "REPLICATE_API_TOKEN": "6", "SWEREX_AUTH_TOKEN": "7"}
    assert usual_keys({**others, "MY_AUTH_TOKEN": "8"}) == others
    assert usual_keys({**environment, "TESTWRIGHT_NODE_KEYS": "REGION, "}) == {"A_API_KEY": "1", "REGION": "3"}
    with pytest.raises(UserError, match="TESTWRIGHT_NODE_KEYS names NONE, which is not set"):
        usual_keys({"TESTWRIGHT_NODE_KEYS": "NONE"})


def test_an_executor_without_an_argument_takes_none():
    with pytest.raises(UserError, match="executor 'asyncio' takes nothing behind a colon"):
        make_executor("asyncio:here")
    with pytest.raises(UserError, match="unknown executor 'rya'; did you mean 'ray'"):
        make_executor("rya:127.0.0.1:1")
