"""Trials on an engine that loses containers when it is told to: tries, exhaustion, missing images, spent money."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.agents.protocol import AgentContext, Ending, Finish
from harness.agents.registry import AGENTS
from harness.agents.trajectory import Trajectory
from harness.judging.verify.arms import ARM_TRIES
from harness.judging.verify.evidence import Draw
from harness.models.replay import ScriptedModel, say
from harness.runs.attempts import AttemptEnd
from harness.runs.evidence_file import ArmsBegun, EndedArm, EvidenceFile
from harness.runs.executors import asyncio_executor
from harness.runs.outcome import RunOutcome
from harness.runs.plan import RunConfig
from harness.runs.records import read_lines, read_record
from harness.runs.regrade import regrade
from harness.runs.store import find_trials
from harness.runs.tries import do_trial
from harness.sandbox.protocol import Sandbox
from harness.specs import yaml_files
from harness.specs.errors import UserError
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.usage import Usage
from tests.support.fake_engine import Event, Fate
from tests.support.scenes import Scene, scenes

LOST, FINE = Event(fate=Fate.LOST), Event()
PRICE = 0.3


class PayingAgent:
    """Asks a model once, which costs PRICE, and hands in nothing."""

    needs_model = False

    def __init__(self, context: AgentContext) -> None:
        self.context = context

    async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        model = self.context.allowance.metered(ScriptedModel([say("", usage=Usage(calls=1, cost_usd=PRICE))]))
        await model.complete([], [])
        return Finish(Ending.SUBMITTED)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Scene]]:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    AGENTS.register("paying", PayingAgent)
    with scenes(tmp_path, {"paying": "paying"}) as made:
        yield made
    AGENTS.unregister("paying")


def code_of(outcome: RunOutcome) -> ReasonCode:
    [reason] = outcome.reasons
    return reason.code


def test_a_lost_arm_costs_one_container_and_no_try_of_the_trial(scene):
    sound = scene()
    [outcome] = sound.run().outcomes
    assert outcome.verdict is Verdict.RESOLVED
    assert sound.engine.closed
    lossy = scene([FINE, LOST, LOST, FINE, LOST], output="lossy")
    [outcome] = lossy.run().outcomes
    assert outcome.verdict is Verdict.RESOLVED
    assert lossy.engine.containers == sound.engine.containers + 3
    assert [attempt.end for attempt in lossy.attempts()] == [AttemptEnd.JUDGED]


def test_an_arm_that_is_lost_again_and_again_ends_the_try_and_the_agent_is_not_asked_twice(scene):
    done = scene([LOST] * 2 * ARM_TRIES)
    [outcome] = done.run().outcomes
    assert outcome.verdict is Verdict.RESOLVED
    assert [attempt.end for attempt in done.attempts()] == [AttemptEnd.FAULT, AttemptEnd.JUDGED]
    assert len(done.sandboxes) == 1


def test_an_arm_that_ends_the_try_costs_no_arm_that_had_ended(scene):
    done = scene([*[Event(turns=500)] * 10, *[LOST] * 1000])
    [outcome] = done.run(tries=1, control="none").outcomes  # a control round runs some of them again
    assert (outcome.verdict, code_of(outcome)) == (Verdict.UNSCORED, ReasonCode.SANDBOX_LOST)
    [store] = find_trials(done.output)
    ended = [line.key for line in read_lines(store.directory / "arms.jsonl", EndedArm)]
    assert ended
    again = scene()
    [outcome] = again.run(control="none").outcomes
    assert outcome.verdict is Verdict.RESOLVED
    assert not {run.variant for run in again.engine.finished} & {key.variant for key in ended}
    assert f"{len(ended)} arms have run before" in (store.directory / "log.txt").read_text()


@pytest.mark.parametrize("is_of_another_draw", [False, True])
def test_a_start_that_ended_between_keeping_its_evidence_and_removing_its_arms_leaves_no_arms(
    scene, is_of_another_draw
):
    scene().run()
    [store] = find_trials(scene().output)
    kept = read_record(store.directory / "evidence.json", EvidenceFile)
    draw = Draw(1, 2) if is_of_another_draw else kept.evidence.draw
    arms = store.directory / "arms.jsonl"
    begun = ArmsBegun(conditions=kept.conditions, tests=kept.evidence.tests, draw=draw)
    ended = [EndedArm(key=key, arm=arm, seconds=1.0) for key, arm in kept.evidence.arms.items()]
    arms.write_text("".join(f"{line.model_dump_json()}\n" for line in (begun, *ended)))
    (store.directory / "verdict.json").unlink()
    again = scene()
    [outcome] = again.run().outcomes
    assert outcome.verdict is Verdict.RESOLVED
    assert not again.engine.finished
    assert arms.exists() is is_of_another_draw, "it was another judging's, which may go on"
    assert "arms have run before" not in (store.directory / "log.txt").read_text()


def test_a_trial_whose_arms_are_always_lost_is_unscored_after_its_tries(scene):
    done = scene([LOST] * 1000)
    [outcome] = done.run().outcomes
    assert (outcome.verdict, code_of(outcome)) == (Verdict.UNSCORED, ReasonCode.SANDBOX_LOST)
    assert len(done.attempts()) == RunConfig().tries
    assert len(done.sandboxes) == 1
    assert not done.engine.finished
    again = scene()
    [outcome] = again.run().outcomes
    assert outcome.verdict is Verdict.RESOLVED
    assert not again.sandboxes, "what the agent handed in is judged; it isn't asked again"


def test_an_image_that_can_not_be_had_leaves_a_trial_unscored(scene):
    done = scene(unavailable="nobody made it")
    [outcome] = done.run().outcomes
    assert (outcome.verdict, code_of(outcome)) == (Verdict.UNSCORED, ReasonCode.IMAGE_UNAVAILABLE)
    assert outcome.reasons[0].words == "nobody made it"
    assert done.engine.containers == 0


@pytest.mark.parametrize("jobs", [1, 3])
def test_no_trial_begins_to_pay_once_the_runs_money_is_spent(scene, jobs):
    done = scene()
    run = done.run(scaffolds=("paying",), attempts=4, jobs=jobs, max_cost_usd=1.5 * PRICE)
    codes = [code_of(outcome) for outcome in run.outcomes]
    paid = [code for code in codes if code is not ReasonCode.BUDGET_EXHAUSTED]
    assert set(paid) == {ReasonCode.EMPTY_SUBMISSION}
    assert 2 <= len(paid) <= 1 + jobs, "calls that are under way at once are not foreseen"
    stopped = [outcome for outcome in run.outcomes if code_of(outcome) is ReasonCode.BUDGET_EXHAUSTED]
    assert {outcome.verdict for outcome in stopped} == {Verdict.UNSCORED}


def kept_draw(scene: Scene) -> dict[str, int]:
    [store] = find_trials(scene.output)
    draw: dict[str, int] = json.loads((store.directory / "evidence.json").read_text())["evidence"]["draw"]
    return draw


def test_regrading_draws_anew_or_repeats_what_chance_decided(scene):
    made = scene()
    made.run()
    first = kept_draw(made)
    assert set(first) == {"code_seed", "order_seed"}
    [done] = regrade(made.catalog, made.output, "mutation", None, True, lambda _: None, same_draw=True)
    assert done.new
    assert done.new.verdict is Verdict.RESOLVED
    assert kept_draw(made) == first
    regrade(made.catalog, made.output, "mutation", None, True, lambda _: None)
    assert kept_draw(made)["order_seed"] != first["order_seed"]


def test_a_draw_is_repeated_only_where_arms_run_again(scene):
    made = scene()
    made.run()
    with pytest.raises(UserError, match="--same-draw is for arms that run again: give it with --stage mutation"):
        regrade(made.catalog, made.output, "rubric", None, True, lambda _: None, same_draw=True)


def test_no_file_of_the_catalog_is_read_once_trials_are_at_work(scene, monkeypatch):
    """Whatever all trials need is read before the first of them begins: nothing changes under a run."""
    read: list[str] = []

    def noted(path: Path) -> str:
        read.append(path.name)
        return path.read_text()

    monkeypatch.setattr(yaml_files, "read_text", noted)
    at_work: list[int] = []

    async def watched(*asked):
        begun = len(read)
        outcome = await do_trial(*asked)
        at_work.append(len(read) - begun)
        return outcome

    monkeypatch.setattr(asyncio_executor, "do_trial", watched)
    assert [outcome.verdict for outcome in scene().run(attempts=2).outcomes] == [Verdict.RESOLVED] * 2
    assert "task.yaml" in read
    assert at_work == [0, 0]
