"""`task check --judge`: a model compares each statement with the check that decides it, over real HTTP."""

import asyncio
import json

import pytest

from harness.authoring.task_check.check import check_tasks
from harness.authoring.task_check.context import CheckOrder
from harness.plugins.scripted_provider.scenario import Reply, ReplyRule, Scenario
from harness.plugins.scripted_provider.server import serve
from harness.runs.judges import judge_for
from harness.specs.catalog import Catalog
from harness.specs.task_facts import Level, StepId
from tests.support.command import typed_beside
from tests.support.sound_catalog import TASK, sound_catalog

QUICK = "retries: {attempts: 1, first_wait: 0.001, longest_wait: 0.002}\nrequest_seconds: 60\n"
ALL_ASKED = Reply(text=json.dumps({"missing": []}))
ASKED = ReplyRule(when="You review a request", replies=(ALL_ASKED,), repeat=True)
SAME = Reply(text=json.dumps({"answer": "same", "example": "", "why": "both ask for the sum"}))


@pytest.fixture
def catalog(tmp_path, monkeypatch) -> Catalog:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-tests")
    return sound_catalog(tmp_path / "catalog")


async def reviewed(catalog, tmp_path, *rules: ReplyRule):
    async with serve(Scenario(rules=(*rules, ASKED, ReplyRule(replies=(SAME,), repeat=True)))) as provider:
        file = tmp_path / "judge.yaml"
        file.write_text(f"model: openai/judge\napi_base: {provider.url}/v1\n{QUICK}")
        judge = judge_for(catalog, str(file), cached=False)
        quiet = (lambda _task, _part: None, lambda _done: None)
        [done] = await asyncio.to_thread(check_tasks, catalog, {TASK: Level.QUICK}, 1, *quiet, CheckOrder(judge))
        [step] = [step for step in done.steps if step.id is StepId.STATEMENTS]
        return step, [request.text for request in provider.requests]


async def test_a_statement_that_its_check_does_not_say_is_a_warning_at_its_line(catalog, tmp_path):
    answer = {"answer": "differ", "example": "a suite that imports the module alone", "why": "a name may be unused"}
    step, asked = await reviewed(
        catalog,
        tmp_path,
        ReplyRule(when="Imports the function that adds up", replies=(Reply(text=json.dumps(answer)),)),
    )
    [problem] = step.problems
    assert (problem.where, problem.severity) == (f"rubrics/{TASK}.yaml:33", "warning")
    assert problem.message == (
        "criterion 1.6: statement and check differ by the judge: a name may be unused, "
        "as for this suite: a suite that imports the module alone"
    )
    assert set(step.remarks) == {
        "openai/judge: the prompt asks for 6 must-haves of 6",
        "openai/judge: 9 of 10 statements say what their checks do",
    }
    assert len(asked) == 11
    assert any("+        result = number" in text for text in asked), "a probe's patch is shown"
    assert any("uses or imports the name total_of" in text for text in asked), "a static check is said in words"


async def test_an_answer_that_cannot_be_read_is_asked_for_once_more_and_then_told(catalog, tmp_path):
    prose = ReplyRule(
        when="The statement: Tests that a start", replies=(Reply(text="They are the same."),), repeat=True
    )
    step, asked = await reviewed(catalog, tmp_path, prose)
    [problem] = step.problems
    assert problem.message == "criterion 1.3: the judge gave no answer: it is not one JSON object and nothing else"
    assert len(asked) == 12


async def test_a_must_have_that_the_prompt_does_not_ask_for_is_a_warning(catalog, tmp_path):
    answer = {"missing": [{"id": "1.3", "why": "it says nothing of a start"}, {"id": "9.9", "why": "there is none"}]}
    told = ReplyRule(when="You review a request", replies=(Reply(text=json.dumps(answer)),))
    step, asked = await reviewed(catalog, tmp_path, told)
    [problem] = step.problems
    assert (problem.where, problem.severity) == (f"tasks/{TASK}/prompt.md", "warning")
    assert problem.message == "doesn't ask for criterion 1.3, by the judge: it says nothing of a start"
    assert "openai/judge: the prompt asks for 5 must-haves of 6" in step.remarks
    [text] = [text for text in asked if "You review a request" in text]
    assert "We add up long lists of numbers" in text
    assert "1.3: Tests that a start that is given is part of the total." in text


async def test_a_judge_that_cannot_be_reached_costs_no_part_of_the_check(catalog, tmp_path):
    step, _ = await reviewed(catalog, tmp_path, ReplyRule(replies=(Reply(fault="drop"),), repeat=True))
    assert len(step.problems) == 11
    assert all("the judge gave no answer: " in problem.message for problem in step.problems)


@pytest.mark.long
async def test_the_command_shows_what_the_judge_has_said(catalog, tmp_path):
    answer = {"answer": "differ", "example": "", "why": "a name may be unused"}
    doubting = ReplyRule(when="Imports the function that adds up", replies=(Reply(text=json.dumps(answer)),))
    async with serve(Scenario(rules=(doubting, ASKED, ReplyRule(replies=(SAME,), repeat=True)))) as provider:
        (tmp_path / "judge.yaml").write_text(f"model: openai/judge\napi_base: {provider.url}/v1\n{QUICK}")
        command = ("--catalog", catalog.directory, "task", "check", TASK, "--quick", "--judge", "judge.yaml")
        done = await typed_beside(*command, "--json", cwd=tmp_path)
    assert done.status == 0, done.complaint
    [task] = json.loads(done.output)["tasks"]
    assert [problem["message"] for problem in task["problems"]] == [
        "criterion 1.6: statement and check differ by the judge: a name may be unused"
    ]
