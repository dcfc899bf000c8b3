"""Runs in which something goes wrong: it costs one trial at most, and what it was is written down and shown."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.agents.protocol import AgentContext, Finish
from harness.agents.trajectory import Ending, Trajectory
from harness.models.protocol import Message, MessageRole
from harness.models.replay import MessageRecord
from harness.results.report.run_report import report_run, show_run
from harness.results.run_rows import load_rows
from harness.runs.attempts import AttemptEnd
from harness.sandbox.protocol import Sandbox
from harness.specs.errors import BudgetExhausted, SandboxLost, UserError
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.usage import Usage
from tests.support.runs_here import RunsHere, codes, runs_here

EMPTY, ERROR = [ReasonCode.EMPTY_SUBMISSION], [ReasonCode.HARNESS_ERROR]
CENT = Usage(calls=1, input=100, output=10, cost_usd=0.01)
DONE = Finish(Ending.SUBMITTED)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[RunsHere]:
    with runs_here(tmp_path) as runs:
        yield runs


class Agent:
    """Ends its work for the n-th time as the n-th entry says: raises it, or submits where it is None."""

    def __init__(self, *ends: Exception | None, finish: Finish = DONE) -> None:
        self.ends = list(ends)
        self.finish = finish
        self.works = 0

    async def __call__(self, context: AgentContext, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        self.works += 1
        message = Message(role=MessageRole.ASSISTANT, content="I work.")
        trajectory.add(MessageRecord(step=1, message=message, usage=CENT))
        await context.allowance.spending.charge(CENT)
        if end := self.ends.pop(0) if self.ends else None:
            raise end
        return self.finish


def test_an_error_that_nobody_foresaw_costs_its_trial_and_the_others_are_judged(here, capsys):
    here.agent("breaks", Agent(None, ZeroDivisionError("nobody foresaw this"), None))
    run = here.run("breaks", attempts=3)
    assert codes(run) == [EMPTY, ERROR, EMPTY]
    assert [item.verdict for item in run.outcomes] == [Verdict.FAILED, Verdict.UNSCORED, Verdict.FAILED]
    assert report_run(run, as_json=False) == 1
    assert "harness-error: ZeroDivisionError: nobody foresaw this" in capsys.readouterr().out
    kept = (here.store("breaks", 2).directory / "error-1.txt").read_text()
    assert "Traceback" in kept
    assert "test_run_faults.py" in kept
    [attempt] = here.store("breaks", 2).attempts.read()
    assert (attempt.end, attempt.traceback, attempt.usage) == (AttemptEnd.HARNESS_ERROR, "error-1.txt", CENT)


def test_the_next_start_does_what_the_error_has_left_undone_and_nothing_else(here):
    agent = Agent(None, RuntimeError("once"))
    here.agent("breaks", agent)
    here.run("breaks", attempts=2)
    again = here.run("breaks", attempts=2)
    assert codes(again) == [EMPTY, EMPTY]
    assert agent.works == 3
    ends = [attempt.end for attempt in here.store("breaks", 2).attempts.read()]
    assert ends == [AttemptEnd.HARNESS_ERROR, AttemptEnd.JUDGED]


def test_after_so_many_harness_errors_no_trial_is_begun(here, capsys):
    agent = Agent(None, RuntimeError("first"), None, RuntimeError("second"))
    here.agent("breaks", agent)
    run = here.run("breaks", attempts=9, fail_on_error=2)
    assert codes(run) == [EMPTY, ERROR, EMPTY, ERROR]
    assert (run.left_out, agent.works) == (5, 4)
    assert report_run(run, as_json=False) == 1
    assert "5 trials were not begun: --fail-on-error was reached" in capsys.readouterr().out
    assert len(here.run("breaks", attempts=9).outcomes) == 9


def test_a_mistake_of_a_person_that_shows_in_one_trial_costs_that_trial(here):
    here.agent("breaks", Agent(UserError("tasks/x/task.yaml:3: no such thing")))
    run = here.run("breaks", attempts=2)
    assert codes(run) == [ERROR, EMPTY]
    assert run.outcomes[0].reasons[0].words == "tasks/x/task.yaml:3: no such thing"
    assert not (here.store("breaks").directory / "error-1.txt").exists()


def test_each_attempt_of_a_trial_is_written_down_with_its_fault_and_its_cost(here, capsys):
    here.agent("unlucky", Agent(SandboxLost("the container is gone"), SandboxLost("gone again"), None))
    run = here.run("unlucky")
    assert codes(run) == [EMPTY]
    attempts = here.store("unlucky").attempts.read()
    assert [(item.number, item.end, item.code, item.message, item.kept) for item in attempts] == [
        (1, AttemptEnd.FAULT, ReasonCode.SANDBOX_LOST, "the container is gone", "1.lost-1"),
        (2, AttemptEnd.FAULT, ReasonCode.SANDBOX_LOST, "gone again", "1.lost-2"),
        (3, AttemptEnd.JUDGED, None, "", ""),
    ]
    assert [item.usage.cost_usd for item in attempts] == pytest.approx([0.01, 0.01, 0.01])
    assert all(item.started <= item.ended for item in attempts)
    assert here.store("unlucky").usage().total.cost_usd == pytest.approx(0.03)
    show_run(here.output, "tiny-add", as_json=False)
    assert "the container is gone" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (BudgetExhausted("$1 of $1 are spent"), "budget-exhausted", "the run's --max-cost: $1 of $1 are spent"),
        (ZeroDivisionError("unforeseen"), "harness-error", "ZeroDivisionError: unforeseen"),
    ],
)
def test_a_trial_that_ended_without_a_verdict_is_shown_with_its_reason(here, capsys, error, code, says):
    here.agent("unlucky", Agent(error))
    here.run("unlucky")
    [row] = load_rows(here.output).trials
    assert (row.verdict, [reason.code for reason in row.reasons]) == (Verdict.UNSCORED, [code])
    show_run(here.output, None, as_json=False)
    show_run(here.output, "tiny-add", as_json=False)
    shown = capsys.readouterr().out
    assert says in shown
    assert "not judged yet" not in shown
    show_run(here.output, "tiny-add", as_json=True)
    [told] = json.loads(capsys.readouterr().out)
    assert told["verdict"]["verdict"] == "unscored"
    assert told["verdict"]["reasons"][0]["code"] == code


def test_a_trial_without_an_image_is_shown_although_it_has_no_directory(here, capsys):
    here.engine.unavailable = "the base image can't be pulled"
    run = here.run()
    assert codes(run) == [[ReasonCode.IMAGE_UNAVAILABLE]]
    show_run(here.output, None, as_json=False)
    assert "image-unavailable" in capsys.readouterr().out
    here.engine.unavailable = ""
    assert codes(here.run()) == [EMPTY]
    assert [row.verdict for row in load_rows(here.output).trials] == [Verdict.FAILED]


def test_how_the_agent_ended_is_shown_beside_an_empty_submission(here, capsys):
    here.agent("talks", Agent(None, finish=Finish(Ending.FORMAT_ERRORS, "3 in a row; the last: no-command")))
    run = here.run("talks")
    assert codes(run) == [EMPTY]
    report_run(run, as_json=False)
    show_run(here.output, None, as_json=False)
    assert capsys.readouterr().out.count("ended by format errors: 3 in a row") == 2
    show_run(here.output, "tiny-add", as_json=False)
    ended = "agent: ended by format errors after 0 steps: 3 in a row; the last: no-command"
    assert ended in capsys.readouterr().out


def test_a_misspelt_executor_is_refused_before_anything_is_made(here):
    with pytest.raises(UserError, match="unknown executor 'asincio'; did you mean 'asyncio'"):
        here.run(executor="asincio")
    assert not here.output.exists()


def test_the_number_of_tries_is_the_users_and_the_wait_between_them_is_told(here, capsys):
    here.agent("unlucky", Agent(*[SandboxLost("the engine is gone")] * 3, None))
    run = here.run("unlucky", tries=2)
    assert codes(run) == [[ReasonCode.SANDBOX_LOST]]
    assert [attempt.is_final for attempt in here.store("unlucky").attempts.read()] == [False, True]
    again = here.run("unlucky", tries=5, retry_seconds=0.01)
    assert codes(again) == [EMPTY]
    assert ("retried", "the engine is gone") in here.steps
    assert report_run(again, as_json=False) == 0
    assert "1 failed; tries repeated: 2; cost" in capsys.readouterr().out


def test_an_agents_own_mistakes_are_never_tried_again(here):
    for ending in (Ending.STEP_LIMIT, Ending.WALL_LIMIT, Ending.COST_LIMIT, Ending.FORMAT_ERRORS, Ending.SUBMITTED):
        agent = Agent(None, finish=Finish(ending))
        here.agent(f"ends-by-{ending}", agent)
        assert codes(here.run(f"ends-by-{ending}")) == [EMPTY]
        assert agent.works == 1
