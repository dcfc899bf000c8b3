"""A native agent's work: how it ends, what is recorded of it, and what it can't get at."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from harness.agents.trajectory import AgentOutputRecord, Ending, EndRecord
from harness.models.gateway.records import GatewayRecord
from harness.models.replay import MessageRecord
from harness.plugins.scripted_provider.scenario import Reply
from harness.plugins.scripted_provider.server import Received
from harness.sandbox.protocol import Engine
from harness.sandbox.toolboxes.recipe import TOOLBOX
from harness.specs.catalog import Catalog
from harness.specs.errors import ProviderError, ProviderFault
from harness.tracks.registry import choose_engine
from tests.support.native_scripts import (
    MARK,
    REFERENCE,
    SAMPLE,
    calling,
    does_the_task,
    own_command,
    says_nothing_useful,
    work,
)
from tests.support.provider import ErrorKind, Failure, failing

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]
COMMAND = Catalog().scaffold("command")
ITS_OWN = "are you there"
"""Of what the gateway asks by itself."""


@pytest_asyncio.fixture
async def engine() -> AsyncIterator[Engine]:
    engine = await asyncio.to_thread(choose_engine, "docker")
    yield engine
    await engine.close()


async def test_its_work_is_handed_in_and_recorded_as_a_common_agents_is(engine: Engine) -> None:
    worked = await work(engine, COMMAND, does_the_task)
    assert worked.result.ending is Ending.SUBMITTED
    assert worked.submission.manifest == (REFERENCE / "manifest.yaml").read_bytes()
    assert b"test_proxyprotocol.py" in worked.submission.patch
    assert worked.result.usage.calls == worked.result.steps == 2
    assert worked.result.usage.cost_usd == pytest.approx(2 * (1000 * 3 + 100 * 15) / 1e6)
    said = [record.message.role for record in worked.records if isinstance(record, MessageRecord)]
    assert said == ["user", "assistant", "tool", "assistant"]
    [output] = [record for record in worked.records if isinstance(record, AgentOutputRecord)]
    assert output.exit_status == 0
    assert output.stdout_bytes == len(worked.printed) > 0
    [gateway] = [record for record in worked.records if isinstance(record, GatewayRecord)]
    assert gateway.dialects == {"chat": 2}
    assert isinstance(worked.records[-1], EndRecord)


@pytest.mark.long
async def test_one_that_goes_on_for_too_long_is_ended_by_its_time(engine: Engine) -> None:
    sleeps = own_command("python3", "-c", "print('begins', flush=True); import time; time.sleep(600)")
    worked = await work(engine, sleeps, says_nothing_useful, wall_seconds=4)
    assert worked.result.ending is Ending.WALL_LIMIT
    assert worked.printed == b"begins\n"


@pytest.mark.long
async def test_one_that_crashes_says_how(engine: Engine) -> None:
    crashes = own_command("python3", "-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(3)")
    worked = await work(engine, crashes, says_nothing_useful)
    assert worked.result.ending is Ending.CRASHED
    assert worked.result.message == "exit status 3: no such thing"


@pytest.mark.long
async def test_its_budget_ends_it_at_the_gateway(engine: Engine) -> None:
    worked = await work(engine, COMMAND, lambda received: calling(received, "true"), cost_usd=0.01)
    assert worked.result.ending is Ending.COST_LIMIT
    assert worked.result.steps == 3  # of 0.0045 USD each: two are below the limit, the third reaches it


@pytest.mark.long
async def test_its_steps_end_it_at_the_gateway(engine: Engine) -> None:
    worked = await work(engine, COMMAND, lambda received: calling(received, "true"), steps=2)
    assert worked.result.ending is Ending.STEP_LIMIT
    assert worked.result.steps == 2


@pytest.mark.long
async def test_a_provider_that_fails_in_mid_run_leaves_its_trial_without_a_verdict(engine: Engine) -> None:
    with pytest.raises(ProviderError) as error:
        await work(engine, COMMAND, gives_up_after(1, "unauthorized"))
    assert error.value.fault is ProviderFault.AUTH


@pytest.mark.long
async def test_a_refusal_that_only_the_agents_own_requests_get_is_its_own_end(engine: Engine) -> None:
    def refuses(received: Received) -> Reply:
        if ITS_OWN in received.text:
            return Reply(text="yes")
        return failing("unauthorized") if '"role": "tool"' in json.dumps(received.body) else calling(received, "true")

    worked = await work(engine, COMMAND, refuses)
    assert worked.result.ending is Ending.GAVE_UP
    assert worked.result.failed_requests == 1


LEAVES = """
import json, os, urllib.request

def ask(**options):
    heads = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, body, heads), **options).read()

ask()
ask(timeout=2)
"""


@pytest.mark.long
async def test_an_agent_that_leaves_while_the_gateway_asks_by_itself_is_waited_for(engine: Engine) -> None:
    asked: list[Received] = []

    def refuses(received: Received) -> Reply:
        asked.append(received)
        if ITS_OWN in received.text:
            return Reply(error=Failure(kind=ErrorKind.FORBIDDEN), delay_seconds=6)
        return Reply(text="hi") if len(asked) == 1 else failing("forbidden")

    with pytest.raises(ProviderError) as error:
        await work(engine, own_command("python3", "-c", LEAVES), refuses)
    assert error.value.fault is ProviderFault.PERMISSION


def gives_up_after(answers: int, kind: str) -> Callable[[Received], Reply]:
    """A provider that fails once it has given so many answers."""
    given: list[Received] = []

    def reply(received: Received) -> Reply:
        given.append(received)
        return calling(received, "echo left > left.txt") if len(given) <= answers else failing(kind)

    return reply


async def test_once_it_has_had_an_answer_a_fault_that_is_no_outage_is_its_own_end(engine: Engine) -> None:
    """Whoever could provoke one would get another try, in a new container."""
    worked = await work(engine, COMMAND, gives_up_after(1, "rate-limit"))
    assert worked.result.ending is Ending.GAVE_UP
    assert "rate-limit" in worked.result.message
    assert worked.result.failed_requests == 1
    assert b"left.txt" in worked.submission.patch


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bad-request", "server-error", "malformed"])
async def test_no_other_fault_after_an_answer_is_another_try_either(engine: Engine, kind: str) -> None:
    worked = await work(engine, COMMAND, gives_up_after(1, kind))
    assert worked.result.ending is Ending.GAVE_UP


@pytest.mark.long
async def test_a_fault_before_any_answer_is_the_providers(engine: Engine) -> None:
    with pytest.raises(ProviderError) as error:
        await work(engine, COMMAND, gives_up_after(0, "rate-limit"))
    assert error.value.fault is ProviderFault.RATE_LIMIT


@pytest.mark.long
@pytest.mark.parametrize("makes", ["ln -s /dev/null", "mkfifo", "install -m 0 /dev/null"])
async def test_a_manifest_that_is_no_file_is_its_own_end(engine: Engine, makes: str) -> None:
    command = own_command("/bin/sh", "-c", f"mkdir -p /logs/agent && {makes} /logs/agent/manifest.yaml")
    worked = await work(engine, command, says_nothing_useful)
    assert (worked.result.ending, worked.submission.manifest) == (Ending.SUBMITTED, b"")


@pytest.mark.long
async def test_one_whose_model_does_nothing_hands_in_nothing(engine: Engine) -> None:
    worked = await work(engine, COMMAND, says_nothing_useful)
    assert (worked.result.ending, worked.submission.patch, worked.submission.manifest) == (Ending.SUBMITTED, b"", b"")


@pytest.mark.long
async def test_it_finds_no_key_and_nobodys_settings(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-of-the-host")
    looks = own_command("/bin/bash", "-c", "env; find $HOME -type f; ls -R /run/testwright; cat /proc/net/route")
    worked = await work(engine, looks, says_nothing_useful)
    assert worked.result.ending is Ending.SUBMITTED
    told = worked.printed.decode()
    assert "k-of-the-host" not in told
    assert "k-scripted" not in told
    assert "HOME=/tmp/testwright/home\n" in told
    assert [line for line in told.splitlines() if line.startswith("/tmp/testwright/home/")] == [
        "/tmp/testwright/home/agent.py"
    ]
    assert told.rstrip().splitlines()[-1].startswith("Iface")  # no route at all


SETTINGS = (".gemini/settings.json", ".qwen/settings.json")
"""Those of a work tree win over a user's, not over the system's: with these, a file of the work tree is read."""
PLANTED = "PLANTED.md"
FILES = (
    PLANTED,
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    "QWEN.md",
    "CONTEXT.md",
)
ALWAYS_READ = {"gemini-cli": {"GEMINI.md"}}
"""It has no setting against that but one that takes its shell away."""
CLIENTS = ("claude-code", "codex", "gemini-cli", "opencode", "qwen-code")


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in CLIENTS if name in SAMPLE])
async def test_memory_files_of_a_work_tree_reach_no_model(engine: Engine, name: str) -> None:
    scaffold, asked = Catalog().scaffold(name), []
    assert scaffold.native
    program, *words = scaffold.native.command
    plant = f"for file in {' '.join(FILES)}; do echo pineapple-of-$file > $file; done; mkdir -p .claude && "
    plant += "cp CLAUDE.md .claude/CLAUDE.md; mkdir -p .gemini .qwen; "
    plant += f"""echo '{{"context": {{"fileName": "{PLANTED}"}}}}' | tee {" ".join(SETTINGS)} >/dev/null; """
    plant += 'exec "$0" "$@"'
    command = ("/bin/bash", "-c", plant, f"{TOOLBOX}/bin/{program}", *words)
    planted = scaffold.model_copy(update={"native": scaffold.native.model_copy(update={"command": command})})

    def listens(received: Received) -> Reply:
        asked.append(received.text)
        return says_nothing_useful(received)

    worked = await work(engine, planted, listens)
    assert worked.result.ending is Ending.SUBMITTED
    assert MARK in asked[-1]
    read = {found for text in asked for found in re.findall(r"pineapple-of-(\S+)", text)}
    assert read == ALWAYS_READ.get(name, set())
