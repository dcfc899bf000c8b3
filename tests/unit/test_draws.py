"""What chance decides in a judging: drawn where no submission can reach it, kept, and used again on request."""

import asyncio

from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.evidence import AT_BASELINE, CodeSeeds, Draw, derived_seed
from harness.judging.verify.gathering import TOGETHER, ArmPlan, gather_evidence, schedule
from harness.judging.verify.manifest_check import ManifestCheck
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.task import Task
from tests.support.fake_engine import FakeEngine
from tests.support.guessing import TEST
from tests.support.scripted_language import ScriptedToolchain
from tests.support.scripted_plan import KINDS, sources
from tests.support.small_task import small_task


def test_a_code_seed_serves_some_judgings_of_its_task_and_an_order_seed_one():
    seeds = CodeSeeds(renewed_after=3)
    draws = [seeds.draw("a task") for _ in range(7)]
    assert [draws.index(next(d for d in draws if d.code_seed == draw.code_seed)) for draw in draws] == [
        0, 0, 0, 3, 3, 3, 6,
    ]  # fmt: skip
    assert len({draw.order_seed for draw in draws}) == 7
    assert seeds.draw("another task").code_seed not in {draw.code_seed for draw in draws}


def test_another_process_draws_other_seeds():
    assert CodeSeeds().draw("a task") != CodeSeeds().draw("a task")


def test_a_derived_seed_belongs_to_its_names():
    assert derived_seed(1, "a", "b") == derived_seed(1, "a", "b")
    assert (
        len({derived_seed(1, "a", "b"), derived_seed(1, "ab"), derived_seed(2, "a", "b"), derived_seed(1, "b", "a")})
        == 4
    )


def test_all_arms_are_in_one_order_and_what_must_pass_may_come_last():
    lasts, baselines = set(), set()
    for seed in range(300):
        arms = [item.key for item in schedule(sources(), ManifestCheck(), seed)]
        assert sorted(key.variant for key in arms) == sorted(KINDS)
        lasts.add(arms[-1].variant)
        baselines.add(arms.index(AT_BASELINE))
    assert lasts >= set(KINDS) - {"baseline"}
    assert baselines == set(range(TOGETHER)), "anywhere among those that run first"


def ran(task: Task, draw: Draw) -> list[str]:
    """Which variants ran, in their order."""
    engine = FakeEngine(lambda run, _test: "passes" if KINDS[run.variant].behaves_like_baseline else "fails")
    image = Image("fake", "0", "/app", task.directory)
    context = ArmContext(
        engine, image, {}, slots=asyncio.Semaphore(1), toolchain=ScriptedToolchain(), options=SandboxOptions()
    )
    suite = Suite((TEST,), {TEST.file: b"..."})
    evidence = asyncio.run(gather_evidence(context, task, ArmPlan(sources(), suite, ManifestCheck((TEST,)), draw)))
    assert evidence.draw == draw
    return [run.variant for run in engine.finished]


def test_the_same_draw_gives_the_same_order_and_another_one_another(tmp_path):
    task = small_task(tmp_path)
    assert ran(task, Draw(1, 1)) == ran(task, Draw(1, 1))
    assert len({tuple(ran(task, Draw(1, seed))) for seed in range(5)}) == 5
