"""What a start in an old directory does again, and what it doesn't: damaged files, changed tasks, money."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.agents.protocol import AgentContext, Finish
from harness.agents.trajectory import Ending, Trajectory
from harness.judging.submission.extraction import Submission
from harness.judging.verify.evidence import listed_arm
from harness.models.protocol import Message, MessageRole
from harness.models.replay import MessageRecord
from harness.results.report.run_report import report_run, show_run
from harness.results.run_rows import load_rows
from harness.runs.dry_run import State, state_of
from harness.runs.engine_session import engine_session
from harness.runs.evidence_file import ArmQuota, Conditions
from harness.runs.plan import Trial
from harness.runs.records import append_line
from harness.runs.store import spent_in
from harness.sandbox.protocol import JobResult, Sandbox
from harness.specs.reasons import ReasonCode
from harness.specs.usage import Usage
from tests.support.runs_here import TASK, RunsHere, codes, runs_here

EMPTY, ERROR = [ReasonCode.EMPTY_SUBMISSION], [ReasonCode.HARNESS_ERROR]
CENT = Usage(calls=1, cost_usd=0.01)
RUBRIC, PROMPT, REPO = f"rubrics/{TASK}.yaml", f"tasks/{TASK}/prompt.md", "repos/tiny/repo.yaml"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[RunsHere]:
    with runs_here(tmp_path) as runs:
        yield runs


@pytest.fixture
def paid(here: RunsHere) -> Iterator[list[str]]:
    """An agent `paid` that costs a cent; each of its works is an entry of the list."""
    works: list[str] = []

    async def work(context: AgentContext, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        works.append(sandbox.__class__.__name__)
        message = Message(role=MessageRole.ASSISTANT, content="I work.")
        trajectory.add(MessageRecord(step=1, message=message, usage=CENT))
        await context.allowance.spending.charge(CENT)
        return Finish(Ending.SUBMITTED)

    here.agent("paid", work)
    return works


def mini(here: RunsHere) -> list[list[ReasonCode]]:
    return codes(here.run("mini", models=(here.script(),)))


def made(here: RunsHere) -> tuple[int, int]:
    """When the agent's file of the one trial was written, and its verdict."""
    folder = here.store("mini").directory
    return (folder / "agent.json").stat().st_mtime_ns, (folder / "verdict.json").stat().st_mtime_ns


def state(here: RunsHere, scaffold: str, attempt: int) -> State:
    """What another start would find."""
    catalog = here.catalog
    trial = Trial(catalog.task(TASK), catalog.scaffold(scaffold), "", attempt)
    return state_of(trial, here.store(scaffold, attempt), "fake", f"digest of {TASK}")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (RUBRIC, "task:", "# a comment\ntask:"),
        (RUBRIC, "Adds negative numbers.", "Adds numbers below zero."),
        (f"tasks/{TASK}/withheld.patch", "diff --git", "a remark\ndiff --git"),
        (REPO, "test_seconds: 60", "test_seconds: 61"),
        (REPO, "report: junit", "report: tap"),
    ],
)
def test_what_the_agent_cannot_see_has_its_work_judged_again_and_not_done_again(here, file, old, new):
    mini(here)
    before = made(here)
    here.edit(file, old, new)
    assert mini(here) == [EMPTY]
    after = made(here)
    assert after[0] == before[0], "the agent was paid again"
    assert after[1] != before[1], "the old verdict was kept"


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (PROMPT, "I need tests", "I need good tests"),
        (REPO, "memory_mb: 256", "memory_mb: 512"),
        (REPO, "- tests/**", "- test/**"),
    ],
)
def test_what_the_agent_can_see_has_it_work_again_and_its_old_work_stays_beside(here, file, old, new):
    mini(here)
    here.edit(file, old, new)
    mini(here)
    assert here.store("mini").directory.with_name("1.other-1").is_dir()


def test_nothing_is_done_again_where_nothing_has_changed(here):
    mini(here)
    before = made(here)
    mini(here)
    assert made(here) == before


@pytest.mark.parametrize("text", [None, "", "{", '{"schema_version": 1}'])
@pytest.mark.parametrize("name", ["trial.json", "agent.json"])
def test_a_damaged_record_of_finished_work_does_not_pay_the_agent_again(here, paid, name, text):
    here.run("paid")
    path = here.store("paid").directory / name
    path.write_text(text) if text is not None else path.unlink()
    assert codes(here.run("paid")) == [EMPTY]
    assert len(paid) == 1
    assert here.store("paid").usage().total.cost_usd == pytest.approx(0.01)


@pytest.mark.parametrize("name", ["patch.diff", "manifest.yaml"])
def test_a_lost_submission_costs_its_trial_and_says_what_to_do(here, paid, name):
    here.run("paid", attempts=3)
    folder = here.store("paid", 2).directory
    (folder / "submission" / name).unlink()
    for attempt in (1, 2, 3):
        (here.store("paid", attempt).directory / "verdict.json").unlink()
    run = here.run("paid", attempts=3)
    assert codes(run) == [EMPTY, ERROR, EMPTY]
    words = run.outcomes[1].reasons[0].words
    assert words.startswith(f"{folder / 'submission' / name}: it is gone; put it back from a copy")
    assert len(paid) == 3


def test_a_bad_line_in_a_trajectory_costs_no_other_trial_and_no_money(here, paid):
    here.run("paid", attempts=2)
    folder = here.store("paid", 1).directory
    (folder / "agent.json").unlink()
    lines = (folder / "trajectory.jsonl").read_text().splitlines()
    (folder / "trajectory.jsonl").write_text("\n".join([lines[0], "{ torn", *lines[1:]]) + "\n")
    assert codes(here.run("paid", attempts=2)) == [EMPTY, EMPTY]
    assert len(paid) == 2
    assert spent_in(here.output).cost_usd == pytest.approx(0.02)


def test_paid_work_that_cannot_be_read_costs_that_trial_and_a_later_start_reads_it(here):
    tree, works = here.engine.tree, []

    async def has_its_tree_taken_away(context: AgentContext, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        works.append(1)
        await sandbox.run("echo '# more' >> tests/test_tiny.py", 60)
        await context.allowance.spending.charge(CENT)
        if len(works) == 1:
            tree.rename(tree.with_name("away"))
        else:
            tree.with_name("away").rename(tree)
        return Finish(Ending.STEP_LIMIT)

    here.agent("takes", has_its_tree_taken_away)
    first, second = here.run("takes", attempts=2).outcomes
    assert [reason.code for reason in first.reasons] == ERROR
    assert "the agent's work is kept, but can't be read" in first.reasons[0].words
    assert second.verdict == "failed"
    assert not (here.store("takes", 1).directory / "submission").exists()
    assert [state(here, "takes", attempt) for attempt in (1, 2)] == [State.JUDGE, State.DONE]

    again = here.run("takes", attempts=2).outcomes
    assert len(works) == 2, "the agent was paid again"
    assert [item.ending for item in again] == [Ending.STEP_LIMIT] * 2
    assert again[0].reasons == second.reasons
    [one, two] = (here.store("takes", attempt) for attempt in (1, 2))
    assert one.submission() == two.submission()
    assert b"+# more" in one.submission().patch
    assert one.usage().agent == CENT
    assert not (one.directory / "unread").exists()


def test_money_of_attempts_that_were_set_aside_stays_in_every_total(here, paid, capsys):
    for word in ("other", "again", "more"):
        here.run("paid")
        here.edit(f"tasks/{TASK}/prompt.md", "I need", f"{word}: I need")
    run = here.run("paid")
    assert len(paid) == 4
    assert run.outcomes[0].usage is not None
    assert run.outcomes[0].usage.total.cost_usd == pytest.approx(0.04)
    assert spent_in(here.output).cost_usd == pytest.approx(0.04)
    report_run(run, as_json=False)
    show_run(here.output, None, as_json=False)
    told = capsys.readouterr().out
    assert told.count("cost $0.0400") == 2


def test_a_damaged_usage_file_is_told_alike_by_run_and_show(here, paid, capsys):
    here.run("paid")
    (here.store("paid").directory / "usage.json").write_text("{")
    report_run(here.run("paid"), as_json=True)
    [run] = json.loads(capsys.readouterr().out)["trials"]
    show_run(here.output, "tiny-add", as_json=True)
    [shown] = json.loads(capsys.readouterr().out)
    assert run["usage"] == shown["usage"]
    assert run["usage"]["agent"]["cost_usd"] == pytest.approx(0.01)


def test_a_run_that_began_before_an_outage_counts_what_its_directory_has_cost(here, paid):
    here.run("paid")
    here.edit(f"tasks/{TASK}/prompt.md", "I need", "Now I need")
    [[code]] = codes(here.run("mini", models=(here.script(),), max_cost_usd=0.01))
    assert code is ReasonCode.BUDGET_EXHAUSTED
    assert [row.verdict for row in load_rows(here.output).trials if row.scaffold == "mini"] == ["unscored"]


@pytest.mark.parametrize(("old", "new"), [("memory_mb: 256", "memory_mb: 512"), ("- tests/**", "- test/**")])
async def test_what_arms_showed_counts_only_for_the_same_configuration_of_the_repository(here, old, new):
    async def conditions() -> Conditions:
        task = here.catalog.task(TASK)
        async with engine_session("here", "a-run") as session:
            context = session.arm_context(task, await session.engine.image(task))
            return Conditions.of(task, context, Submission(b"patch", b"manifest"))

    before = await conditions()
    assert await conditions() == before
    here.edit(REPO, old, new)
    assert await conditions() != before


def test_a_full_disk_is_told_with_the_files_name():
    with pytest.raises(OSError, match="No space left on device") as caught:
        append_line(Path("/dev/full"), "a line")
    assert caught.value.filename == "/dev/full"


def test_what_arms_print_is_dropped_beyond_the_runs_quota_and_the_log_says_so_once(here):
    printed = JobResult(0, False, False, b"x" * 400_000, {"1.xml": b"y" * 100_000}, True, 0.1)
    mini(here)
    store, quota = here.store("mini"), ArmQuota(here.output, 1_200_000)
    for variant in ("baseline", "removal", "placebo", "probe-1.1"):
        store.keep_arm(listed_arm(variant), printed, quota)
    outputs = sorted((store.directory / "arms").glob("*/output.txt"))
    assert len(outputs) == 2
    assert len(list((store.directory / "arms").glob("*/arm.json"))) == 4
    assert (store.directory / "log.txt").read_text().count("quota of arms' output") == 1
    verified = ArmQuota(here.output, 1_200_000, "**/arms/*/*")
    assert not verified.take(500_000), "verify keeps its cases at any depth"
    next_start = ArmQuota(here.output, 1_200_000)
    assert not next_start.take(500_000), "what an earlier start has kept counts"


def test_an_arm_that_is_run_again_has_nothing_left_of_the_run_before(here):
    mini(here)
    store, quota = here.store("mini"), ArmQuota(here.output, 1_000)
    first = JobResult(1, False, False, b"x" * 500, {"1.xml": b"y" * 100, "2.xml": b"y" * 100}, True, 0.1)
    for printed in (first, replace(first, log=b"z" * 600, outputs={"1.xml": b"z"}), replace(first, log=b"w" * 2_000)):
        store.keep_arm(listed_arm("baseline"), printed, quota)
        place = next((store.directory / "arms").iterdir())
        kept = {path.name: path.read_bytes()[:1] for path in place.iterdir() if path.name != "arm.json"}
        expected = {"output.txt": printed.log[:1]} | {name: data[:1] for name, data in printed.outputs.items()}
        assert kept == (expected if len(printed.log) < 1_000 else {})
    store.keep_arm(listed_arm("removal"), replace(first, outputs={}), quota)
    store.drop_arms([listed_arm("baseline")], quota)
    assert quota.take(900), "what is gone doesn't count"
