"""Scenario files: which reply a request gets, what a mistake in one is called, and the command that serves them."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from harness.plugins.scripted_provider.scenario import Reply, ReplyRule, Scenario, Script, ScriptEnded
from harness.plugins.scripted_provider.server import Provider, Received, serve
from harness.specs.errors import UserError
from harness.specs.yaml_files import load_yaml
from tests.support.provider import SCENARIOS

pytestmark = pytest.mark.usefixtures("few_roots")

RULES = """\
schema_version: 1
rules:
  - when: "(?i)unit TESTS"
    replies: [{text: one}, {text: two}]
  - when: unit
    repeat: true
    replies: [{text: three}, {text: four}]
"""


def load(directory: Path, text: str) -> Scenario:
    path = directory / "scenario.yaml"
    path.write_text(text)
    return load_yaml(path, Scenario)


async def ask(provider: Provider, text: str) -> str | None:
    import openai

    async with openai.AsyncOpenAI(api_key="k", base_url=f"{provider.url}/v1", max_retries=0) as client:
        done = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    return done.choices[0].message.content


def test_replies_come_in_order_from_the_first_rule_that_has_one_left(tmp_path: Path) -> None:
    script = Script(load(tmp_path, RULES), "here")
    asked = ["unit tests", "a unit", "Unit Tests", "unit tests", "unit tests"]
    assert [script.reply_to(text).text for text in asked] == ["one", "three", "two", "four", "four"]


def test_a_rule_without_when_is_for_everybody() -> None:
    script = Script(Scenario(rules=(ReplyRule(replies=(Reply(text="hi"),)),)), "here")
    assert script.reply_to("").text == "hi"
    with pytest.raises(ScriptEnded, match=r"scenario here has no reply .* used up"):
        script.reply_to("")


async def test_a_scenario_that_runs_dry_says_its_name_and_why(tmp_path: Path) -> None:
    import openai

    async with serve(load(tmp_path, RULES), name="dry.yaml") as provider:
        with pytest.raises(openai.BadRequestError, match=r"scenario dry.yaml has no reply .*: no rule matches"):
            await ask(provider, "something else")


async def test_a_function_can_answer_in_place_of_a_scenario() -> None:
    def echo(received: Received) -> Reply:
        return Reply(text=f"{received.body['model']}: {received.text.upper()}")

    async with serve(echo) as provider:
        assert await ask(provider, "hello") == "m: HELLO"


async def test_tool_calls_and_results_belong_to_the_text_that_rules_are_matched_with(tmp_path: Path) -> None:
    import openai

    async with serve(lambda _: Reply(text="hi")) as provider:
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{provider.url}/v1", max_retries=0) as client:
            function = {"name": "bash", "arguments": '{"command": "ls"}'}
            await client.chat.completions.create(
                model="m",
                messages=[
                    {"role": "system", "content": "be brief"},
                    {"role": "user", "content": [{"type": "text", "text": "hello"}]},
                    {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": function}]},  # type: ignore[list-item,typeddict-item]
                    {"role": "tool", "tool_call_id": "a", "content": "no such file"},
                ],
            )
        assert provider.requests[0].text.splitlines() == ["be brief", "hello", '{"command": "ls"}', "no such file"]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("{text: one}", "{txt: one}", 4, "unknown key 'txt'; did you mean 'text'?"),
        ("{text: one}", "{error: {kind: busy}}", 4, "rules.0.replies.0.error.kind: Input should be 'bad-request'"),
        ("{text: one}", "{text: a, error: {kind: timeout}}", 4, "write only one of them"),
        ("{text: one}", "{usage: {input: 1, cache_read: 2}}", 4, "cached tokens are part of input"),
        ("{text: one}", "{commands: [ls], stop: refusal}", 4, "who refuses calls no tool"),
        ("(?i)unit TESTS", "unit (tests", 3, "not a regular expression"),
        ("[{text: three}, {text: four}]", "[]", 7, "at least 1 item"),
    ],
)
def test_a_mistake_in_a_scenario_is_named_by_file_and_line(
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, RULES.replace(old, new))
    assert str(caught.value).startswith(f"{tmp_path / 'scenario.yaml'}:{line}: ")
    assert words in str(caught.value)


async def test_a_port_that_is_taken_is_a_persons_mistake() -> None:
    async with serve(lambda _: Reply()) as provider:
        port = int(provider.url.rpartition(":")[2])
        with pytest.raises(UserError, match=f"^port {port}: "):
            async with serve(lambda _: Reply(), port):
                pass


async def test_the_command_serves_a_scenario_until_it_is_interrupted() -> None:
    import openai

    path = SCENARIOS / "every-kind.yaml"
    command = [sys.executable, "-m", "harness.cli", "dev", "provider", str(path)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env={**os.environ})
    assert process.stdout
    first = (await process.stdout.readline()).decode()
    assert first.startswith(f"{path} is played at http://127.0.0.1:")
    url = first.split(" at ")[1].partition(";")[0]
    assert await ask(Provider(url), "kind: cut") == "A sentence that ends in the mid"
    with pytest.raises(openai.BadRequestError):
        await ask(Provider(url), "nothing of the kind")
    process.send_signal(signal.SIGINT)
    rest = (await process.stdout.read()).decode()
    assert await process.wait() == 0
    assert "POST /v1/chat/completions -> length, text of 31 characters" in rest
    assert f"-> 400 scenario {path} has no reply for this request: no rule matches" in rest


async def test_the_command_names_a_mistake_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text("rules: []\n")
    command = [sys.executable, "-m", "harness.cli", "dev", "provider", str(path)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert errors.decode().startswith(f"testwright: {path}:1: rules: ")
