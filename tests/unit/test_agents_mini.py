"""The loop: a scripted model works in a real shell."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.agents.mini import SUBMIT_COMMAND
from harness.agents.trajectory import Ending, EndRecord, FaultRecord, HeaderRecord, ObservationRecord, read_trajectory
from harness.agents.trajectory import paid as paid_for
from harness.models.protocol import Completion, Message, MessageRole, StopReason, Tool, ToolCall
from harness.models.replay import MessageRecord, ScriptedModel, say
from harness.specs.errors import ProviderError, ProviderFault, SandboxLost
from harness.specs.usage import Usage
from tests.support.clocks import ManualClock
from tests.support.mini_bench import SUBMIT, Bench


class Slow(ScriptedModel):
    """A scripted model whose answers take `seconds` of the clock."""

    def __init__(self, clock: ManualClock, seconds: float, *completions: Completion) -> None:
        super().__init__(completions, "slow")
        self.clock, self.seconds = clock, seconds

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        self.clock.seconds += self.seconds
        return await super().complete(messages, tools)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def malformed() -> Completion:
    calls = (
        ToolCall(id="c1", name="bash", arguments="{"),
        ToolCall(id="c2", name="bash", arguments='{"command":"ls"}'),
    )
    message = Message(role=MessageRole.ASSISTANT, tool_calls=calls)
    return Completion(message=message, usage=Usage(calls=1), stop=StopReason.LENGTH)


async def test_commands_run_in_the_tree_until_the_submission(bench: Bench) -> None:
    result = await bench.work(say("I write.", "mkdir tests; echo 1 > tests/x"), say("I look.", "cat tests/x"), SUBMIT)
    assert (result.ending, result.steps, result.usage) == (Ending.SUBMITTED, 3, Usage(calls=3))
    assert (bench.sandbox.tree / "tests/x").read_text() == "1\n"
    assert bench.replies(MessageRole.TOOL)[1] == "Exit status: 0 (98 answers, 3600 seconds, $5.00 left)\nOutput:\n1\n"
    assert bench.commands == ["mkdir tests; echo 1 > tests/x", "cat tests/x"]


async def test_the_trajectory_tells_who_worked_and_how_it_ended(bench: Bench) -> None:
    usage = Usage(calls=1, input=100, output=20, reasoning=5, cache_read=60, cache_write=10, cost_usd=0.5)
    await bench.work(say("", "false", usage=usage), SUBMIT)
    header, *middle, end = read_trajectory(bench.path)
    assert isinstance(header, HeaderRecord)
    assert (header.scaffold, header.model, header.task) == ("mini", "scripted", "sums-add")
    assert isinstance(end, EndRecord)
    assert (end.ending, end.steps, end.counted_usd) == (Ending.SUBMITTED, 2, 0.5)
    assert end.usage == usage + Usage(calls=1)
    answers = [record for record in middle if isinstance(record, MessageRecord) and record.usage]
    assert [(record.step, record.usage) for record in answers] == [(1, usage), (2, Usage(calls=1))]
    assert [record.exit_status for record in middle if isinstance(record, ObservationRecord)] == [1]


async def test_the_prompt_has_the_request_and_everything_that_a_submission_needs(bench: Bench) -> None:
    await bench.work(SUBMIT)
    system, task = bench.messages[:2]
    assert (system.role, task.role) == (MessageRole.SYSTEM, MessageRole.USER)
    for needed in ("I need tests for add().", "tests/**", "run_tests FILE::ID", "manifest.yaml", SUBMIT_COMMAND):
        assert needed in task.content


async def test_agents_are_told_that_every_listed_test_must_fail_without_the_behaviour(bench: Bench) -> None:
    await bench.work(SUBMIT)
    told = " ".join(bench.messages[1].content.split())
    assert "Every test that you list must fail when the behaviour that the request is about is gone." in told
    assert "It is gone where the code raises an error instead, or gives something plausible and wrong." in told
    assert "A test that several classes inherit from a mixin is one of each class: list it for each." in told
    assert "A test of what stays true without that behaviour doesn't belong in the manifest" in told


async def test_a_model_without_tools_is_answered_as_a_user_does(bench: Bench) -> None:
    result = await bench.work(say("```bash\necho seen\n```"), say(f"```bash\n{SUBMIT_COMMAND}\n```"))
    assert result.ending is Ending.SUBMITTED
    assert [reply.splitlines()[1:] for reply in bench.replies(MessageRole.USER)] == [["Output:", "seen"]]


async def test_several_tool_calls_run_in_order_and_each_is_answered(bench: Bench) -> None:
    await bench.work(say("", "echo a > f", "cat f", "rm f; ls"), SUBMIT)
    answered = [message for message in bench.messages if message.role is MessageRole.TOOL]
    assert [message.tool_call_id for message in answered] == ["call-1", "call-2", "call-3"]
    assert "a" in answered[1].content
    assert answered[2].content.endswith("No output.")


async def test_a_malformed_message_runs_nothing_and_every_call_is_told_why(bench: Bench) -> None:
    await bench.work(malformed(), SUBMIT)
    assert bench.commands == []
    first, second = bench.replies(MessageRole.TOOL)
    assert "the arguments of the tool are not as they must be" in first
    assert "cut off because it was too long" in first
    assert second.startswith("This command was not run either, since another call of your answer can't be read.")


async def test_format_errors_in_a_row_end_the_trial_and_a_good_message_starts_anew(bench: Bench) -> None:
    bench.limits = {"format_errors": 2}
    result = await bench.work(say("hm"), say("", "true"), say("hm"), malformed(), SUBMIT)
    assert (result.ending, result.steps) == (Ending.FORMAT_ERRORS, 4)
    assert result.message.startswith("2 in a row; the last: malformed-arguments: ")
    assert len(bench.replies(MessageRole.USER)) == 2
    assert result.format_errors == 3


async def test_format_errors_are_counted_where_a_limit_ends_the_work_and_where_there_are_none(bench: Bench) -> None:
    bench.task_limits = {"steps": 2}
    result = await bench.work(say("hm"), say("", "true"), SUBMIT)
    assert (result.ending, result.format_errors) == (Ending.STEP_LIMIT, 1)
    end = read_trajectory(bench.path)[-1]
    assert isinstance(end, EndRecord)
    assert end.format_errors == 1


async def test_the_step_limit_ends_the_trial(bench: Bench) -> None:
    bench.task_limits = {"steps": 2}
    result = await bench.work(*[say("", "true")] * 3)
    assert (result.ending, result.steps, result.message) == (Ending.STEP_LIMIT, 2, "its limit of 2 steps")


async def test_the_cost_limit_ends_the_trial_once_it_is_reached(bench: Bench) -> None:
    bench.task_limits = {"cost_usd": 1.0}
    result = await bench.work(*[say("", "true", usage=Usage(calls=1, cost_usd=0.5))] * 3)
    assert (result.ending, result.steps, result.usage.cost_usd) == (Ending.COST_LIMIT, 2, 1.0)


async def test_an_unknown_cost_is_stated_and_does_not_count(bench: Bench) -> None:
    unknown, known = Usage(calls=1, cost_usd=None), Usage(calls=1, cost_usd=0.25)
    result = await bench.work(say("", "true", usage=unknown), say("", "true", usage=known), SUBMIT)
    assert (result.ending, result.usage.cost_usd) == (Ending.SUBMITTED, None)
    end = read_trajectory(bench.path)[-1]
    assert isinstance(end, EndRecord)
    assert end.counted_usd == 0.25


class Listener:
    """A scripted model that remembers what it was told, and fails where a completion is an error."""

    name = "listener"

    def __init__(self, *completions: Completion | ProviderError) -> None:
        self.completions = iter(completions)
        self.heard: list[list[Message]] = []

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        self.heard.append(list(messages))
        found = next(self.completions)
        if isinstance(found, ProviderError):
            raise found
        return found


async def test_the_conversation_is_cached_up_to_its_end_and_found_again_a_step_later(bench: Bench) -> None:
    model = Listener(say("", "true"), say("", "true", "false"), SUBMIT)
    await bench.work_with(model)
    marked = [[index for index, message in enumerate(heard) if message.cache] for heard in model.heard]
    assert marked == [[1], [1, 3], [1, 3, 6]]
    assert [message.cache for message in bench.messages] == [False, True, *[False] * (len(bench.messages) - 2)]


async def test_a_conversation_that_has_grown_too_long_ends_the_trial_as_its_own_doing(bench: Bench) -> None:
    paid = Usage(calls=1, input=7, cost_usd=0.25)
    overflow = ProviderError("too long", ProviderFault.CONTEXT, paid)
    result = await bench.work_with(Listener(say("", "echo kept > f", usage=paid), overflow))
    assert (result.ending, result.steps, result.usage) == (Ending.CONTEXT_LIMIT, 1, paid + paid)
    assert (bench.sandbox.tree / "f").exists()


async def test_what_a_failing_call_has_cost_is_in_the_trajectory(bench: Bench) -> None:
    paid = Usage(calls=1, input=7, cost_usd=0.25)
    with pytest.raises(ProviderError):
        await bench.work_with(Listener(say("", "true", usage=paid), ProviderError("x", ProviderFault.AUTH, paid)))
    fault = read_trajectory(bench.path)[-1]
    assert isinstance(fault, FaultRecord)
    assert (fault.fault, fault.message, fault.usage) == (ProviderFault.AUTH, "x", paid)
    assert paid_for(bench.path) == paid + paid


async def test_the_wall_limit_ends_the_trial_between_two_commands(bench: Bench) -> None:
    bench.task_limits = {"wall_seconds": 10}
    bench.sandbox.seconds = 10
    result = await bench.work(say("", "echo first", "echo second"))
    assert (result.ending, bench.commands) == (Ending.WALL_LIMIT, ["echo first"])


async def test_an_answer_past_the_wall_limit_is_kept_and_none_of_it_is_run(bench: Bench) -> None:
    bench.task_limits = {"wall_seconds": 10}
    late = say("", "echo late", usage=Usage(calls=1, cost_usd=0.5))
    result = await bench.work_with(Slow(bench.clock, 10.5, late))
    assert (result.ending, result.steps, result.usage.cost_usd) == (Ending.WALL_LIMIT, 1, 0.5)
    assert bench.messages[-1] == late.message
    assert bench.commands == []


async def test_a_command_past_its_deadline_is_shown_with_what_it_had_printed(bench: Bench) -> None:
    bench.task_limits = {"wall_seconds": 10}
    await bench.work_with(Slow(bench.clock, 9.7, say("", "echo early; exec tail -f /dev/null"), SUBMIT))
    text = bench.replies(MessageRole.TOOL)[0]
    assert text.startswith("The command was ended after 0.3 seconds")
    assert text.endswith("Output until then:\nearly\n")


async def test_the_command_limit_holds_before_the_wall_limit(bench: Bench) -> None:
    bench.limits = {"command_seconds": 1}
    await bench.work(say("", "exec tail -f /dev/null"), SUBMIT)
    assert "ended after 1 seconds" in bench.replies(MessageRole.TOOL)[0]


async def test_hostile_output_reaches_the_model_cut_and_readable(bench: Bench) -> None:
    bench.limits = {"observation_chars": 200}
    await bench.work(say("", r"printf 'a\0b\377c\033[31m'"), say("", "head -c 3000000 /dev/zero"), SUBMIT)
    small, large = bench.replies(MessageRole.TOOL)
    assert small.endswith("a\ufffdb\ufffdc\x1b[31m")
    assert "999800 characters left out, and 2000000 bytes that were not kept" in large
    assert len(large) < 500


async def test_a_lost_sandbox_is_no_observation(bench: Bench) -> None:
    await bench.sandbox.kill()
    with pytest.raises(SandboxLost):
        await bench.work(say("", "true"))
    assert [message.role for message in bench.messages] == [
        MessageRole.SYSTEM,
        MessageRole.USER,
        MessageRole.ASSISTANT,
    ]


async def test_a_provider_that_fails_ends_the_trial_without_an_end_record(bench: Bench) -> None:
    with pytest.raises(ProviderError, match="the script ends here"):
        await bench.work(say("", "true"))
    assert not any(isinstance(record, EndRecord) for record in read_trajectory(bench.path))
