"""What the loop says to a model that does nearly the right thing, and what it says with every observation."""

import re
from pathlib import Path

import pytest

from harness.agents.mini import SUBMIT_COMMAND
from harness.agents.trajectory import Ending
from harness.models.protocol import Completion, Message, MessageRole, StopReason, ToolCall
from harness.models.replay import say
from harness.specs.usage import Usage
from tests.support.mini_bench import SUBMIT, Bench

HINT = "Nothing was submitted, for this command is not the whole of `echo TESTWRIGHT_SUBMIT`."


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def paid(usd: float | None) -> Completion:
    return say("", "true", usage=Usage(calls=1, cost_usd=usd))


def calling(*calls: tuple[str, str]) -> Completion:
    """A message with these tool calls: name and arguments."""
    made = tuple(ToolCall(id=f"c{number}", name=name, arguments=given) for number, (name, given) in enumerate(calls))
    return Completion(
        message=Message(role=MessageRole.ASSISTANT, tool_calls=made), usage=Usage(calls=1), stop=StopReason.END
    )


@pytest.mark.parametrize(
    "command",
    [
        'echo "TESTWRIGHT_SUBMIT"',
        f"true && {SUBMIT_COMMAND}",
        f"true; {SUBMIT_COMMAND}",
        f"# all is done\n{SUBMIT_COMMAND}",
        f"{SUBMIT_COMMAND} now",
        "printf TESTWRIGHT_SUBMIT",
    ],
)
async def test_a_command_that_only_prints_the_word_is_told_that_nothing_was_submitted(
    bench: Bench, command: str
) -> None:
    result = await bench.work(say("", command), SUBMIT)
    assert (result.ending, result.steps, bench.commands) == (Ending.SUBMITTED, 2, [command])
    [told] = bench.replies(MessageRole.TOOL)
    assert "TESTWRIGHT_SUBMIT" in told.split(HINT)[0]
    assert f"{HINT} When all is done, run just that" in told


async def test_a_command_without_the_word_gets_no_such_hint(bench: Bench) -> None:
    (bench.directory / "sandbox/app").mkdir(parents=True)
    (bench.directory / "sandbox/app/notes").write_text("TESTWRIGHT_SUBMIT")
    await bench.work(say("", "cat notes"), SUBMIT)
    assert bench.replies(MessageRole.TOOL)[0].endswith("TESTWRIGHT_SUBMIT")


async def test_a_block_that_holds_a_fence_is_not_cut_and_run(bench: Bench) -> None:
    inner = "cat > notes.md <<'E'\n```\nx\n```\nE\n"
    await bench.work(say(f"```bash\n{inner}```"), say(f"````sh\n{inner}````"), SUBMIT)
    refused, _ = bench.replies(MessageRole.USER)
    assert bench.commands == [inner]
    assert refused.startswith("Nothing was run: it isn't clear where your block ends")
    assert "such as `````bash and `````" in refused
    assert (bench.sandbox.tree / "notes.md").read_text() == "```\nx\n```\n"


async def test_the_last_format_error_before_the_end_warns(bench: Bench) -> None:
    result = await bench.work(say("hm"), say("hm"), say("hm"))
    assert result.ending is Ending.FORMAT_ERRORS
    warned = [
        "if your next answer can't be read either, your work ends" in told for told in bench.replies(MessageRole.USER)
    ]
    assert warned == [False, True, False]


async def test_each_bad_call_is_told_what_is_wrong_with_itself(bench: Bench) -> None:
    await bench.work(calling(("edit", "{}"), ("bash", "{}"), ("bash", '{"command": "ls"}')), SUBMIT)
    edit, empty, good = bench.replies(MessageRole.TOOL)
    assert edit.startswith("Nothing was run: there is no tool edit")
    assert empty.startswith("Nothing was run: the arguments of the tool are not as they must be (command: Field requ")
    assert good.startswith("This command was not run either")
    assert bench.commands == []


async def test_each_answer_to_the_model_says_what_is_left(bench: Bench) -> None:
    bench.task_limits = {"steps": 4, "wall_seconds": 60, "cost_usd": 2}
    bench.sandbox.seconds = 7.5
    await bench.work(paid(0.25), say("hm"), paid(0.5), SUBMIT)
    told = "\n".join(message.content for message in bench.messages[2:])
    assert re.findall(r"\((.* left)\)", told) == [
        "3 answers, 52 seconds, $1.75 left",
        "2 answers, 52 seconds, $1.75 left",
        "1 answer, 45 seconds, $1.25 left",
    ]


async def test_money_of_unknown_amount_is_not_said_to_be_left(bench: Bench) -> None:
    await bench.work(paid(None), SUBMIT)
    assert "(99 answers, 3600 seconds left)" in bench.replies(MessageRole.TOOL)[0]


async def test_a_first_submit_without_a_manifest_gets_one_reminder(bench: Bench) -> None:
    bench.has_manifest = False
    result = await bench.work(SUBMIT, say("", "true"), SUBMIT)
    assert (result.ending, result.steps, bench.commands) == (Ending.SUBMITTED, 3, ["true"])
    told = bench.replies(MessageRole.TOOL)[0]
    assert told.startswith(
        "Nothing is submitted yet: there is no manifest in `${TESTWRIGHT_AGENT_LOGS:-/logs/agent}`"
    )


@pytest.mark.parametrize(("name", "text"), [("manifest.yaml", ""), ("manifest.yml", " \n"), ("manifest.txt", "\n")])
async def test_an_empty_manifest_is_named_in_the_reminder(bench: Bench, name: str, text: str) -> None:
    bench.has_manifest = False
    bench.sandbox.logs.mkdir(parents=True)
    (bench.sandbox.logs / name).write_text(text)
    result = await bench.work(SUBMIT, SUBMIT)
    assert result.steps == 2
    assert bench.replies(MessageRole.TOOL)[0].startswith(f"Nothing is submitted yet: the manifest `{name}` is empty")


async def test_a_manifest_of_any_accepted_name_is_enough(bench: Bench) -> None:
    bench.has_manifest = False
    result = await bench.work(say("", "echo x > $TESTWRIGHT_AGENT_LOGS/manifest.txt"), SUBMIT)
    assert (result.ending, result.steps) == (Ending.SUBMITTED, 2)


async def test_a_manifest_that_is_no_file_is_handed_in_as_it_is(bench: Bench) -> None:
    """It is for whoever takes it in to refuse: an error here would be nobody's, and the work be done again."""

    async def read(path: str, _: int) -> bytes:
        raise OSError(f"{path}: not a regular file")

    bench.has_manifest = False
    bench.sandbox.read = read  # type: ignore[method-assign]
    result = await bench.work(say("", "true"), SUBMIT)
    assert (result.ending, result.steps) == (Ending.SUBMITTED, 2)


async def test_calls_after_a_submit_that_did_not_count_are_run_and_answered(bench: Bench) -> None:
    bench.has_manifest = False
    await bench.work(say("", SUBMIT_COMMAND, "echo after"), SUBMIT)
    reminder, after = (message for message in bench.messages[2:] if message.role is MessageRole.TOOL)
    assert (reminder.tool_call_id, after.tool_call_id) == ("call-1", "call-2")
    assert after.content.endswith("after\n")


async def test_a_submit_with_the_last_answer_counts_at_once(bench: Bench) -> None:
    bench.has_manifest, bench.task_limits = False, {"steps": 1}
    result = await bench.work(SUBMIT)
    assert (result.ending, result.steps) == (Ending.SUBMITTED, 1)


async def test_a_second_submit_counts_once_the_model_has_read_the_reminder(bench: Bench) -> None:
    bench.has_manifest = False
    result = await bench.work(say("", SUBMIT_COMMAND, SUBMIT_COMMAND), SUBMIT)
    assert (result.ending, result.steps) == (Ending.SUBMITTED, 2)
    assert len(bench.replies(MessageRole.TOOL)) == 2


async def test_the_commands_of_one_answer_share_what_is_shown(bench: Bench) -> None:
    bench.limits = {"observation_chars": 1000, "answer_chars": 1200}
    loud = "head -c 5000 /dev/zero | tr '\\0' Q"
    await bench.work(say("", loud), say("", "echo short", loud, loud), say("", *[loud] * 100), SUBMIT)
    shown = [reply.count("Q") for reply in bench.replies(MessageRole.TOOL)]
    assert shown == [1000, 0, 596, 596, *[20] * 100]
