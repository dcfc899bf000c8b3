"""Makes docs/sample-run/: a real run whose model is played by the scripted provider.

    python -m tests.support.sample_run DIRECTORY

Containers, agents, gateway, arms and judging are those of any run; only what the model says is written here. It
submits patches that the project has anyway: references, honest work and a forgery of tests/.
"""

import asyncio
import os
import re
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from harness.plugins.scripted_provider.failures import ErrorKind
from harness.plugins.scripted_provider.scenario import Failure, Reply, Tokens
from harness.plugins.scripted_provider.server import Received, serve
from harness.plugins.scripted_provider.stand_in import shell_call
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.rubric import Importance
from tests.support.judges import hear, known_reply, reply
from tests.support.native_scripts import SUBMITS, heredoc

PROXY, MERGE = "aiosmtpd-proxy-tlv", "jansson-object-merge"
_MODEL = "scripted-gpt.yaml"
_STEP = re.compile(r"SCRIPTED-STEP-(\d+)")
_TESTS = Path(__file__).resolve().parents[1]


def marks() -> dict[str, str]:
    """Task -> the first line of its request."""
    return {task: Catalog().task(task).prompt.splitlines()[0] for task in (PROXY, MERGE)}


@dataclass(frozen=True)
class Play:
    """What the model does in one trial: commands, then these files as its work, then more commands."""

    before: Sequence[str] = ()
    work: Path | None = None
    after: Sequence[str] = ()
    error: ErrorKind | None = None

    def commands(self) -> list[str]:
        return [*self.before, *([_handed_in(self.work)] if self.work else []), *self.after]


def _handed_in(folder: Path) -> str:
    patch = next(path for name in ("patch.diff", "tests.patch") if (path := folder / name).exists())
    manifest = heredoc("/logs/agent/manifest.yaml", (folder / "manifest.yaml").read_text())
    apply = f"{heredoc('/tmp/tests.patch', patch.read_text())}git apply /tmp/tests.patch"
    return f"{apply} && {manifest}git status --short"


_LOOK = {
    PROXY: (
        "ls && git log --oneline | head -3",
        "grep -n 'TLV' aiosmtpd/proxy_protocol.py | head -30",
        "sed -n 40,140p aiosmtpd/proxy_protocol.py",
        "grep -rn 'class Test' aiosmtpd/tests; sed -n 1,60p aiosmtpd/tests/test_proxyprotocol.py",
    ),
    MERGE: (
        "ls && ls test/suites/api | head -40",
        "grep -n 'json_object_update' src/*.c src/jansson.h",
        "sed -n 1,60p test/suites/api/test_object.c",
    ),
}
_RUN = {
    PROXY: ("run_tests aiosmtpd/tests 2>&1 | tail -5", "git diff --stat"),
    MERGE: ("run_tests test/suites/api/test_object.c 2>&1 | tail -5", "cat /logs/agent/manifest.yaml"),
}
_PRYING = (
    "curl -sS --max-time 5 https://example.org/jansson/test_object.c",
    "git log --all --oneline | head; git fsck --lost-found 2>&1 | head -3",
    "find / -name '*.patch' -not -path '/proc/*' 2>/dev/null | head",
)


def _plays() -> dict[tuple[str, str, int], Play]:
    """(task, scaffold, attempt) -> what is done."""
    honest, cheats = _TESTS / "honest", _TESTS / "adversarial"
    reference = default_directory() / "tasks" / PROXY / "reference"
    look, run, merge = _LOOK[PROXY], _RUN[PROXY], _LOOK[MERGE]
    return {
        (PROXY, "mini", 1): Play(look, honest / PROXY / "a-thorough-parametrised", run),
        (PROXY, "mini", 2): Play(look[:2], honest / PROXY / "b-one-sided"),
        (PROXY, "command", 1): Play(look[1:2], honest / PROXY / "a-lazy-main-path"),
        (PROXY, "command", 2): Play(look[:1]),
        (PROXY, "claude-code", 1): Play(look, reference, run),
        (PROXY, "claude-code", 2): Play(look[2:], cheats / "conftest-hook-forges-outcomes", run[:1]),
        (MERGE, "mini", 1): Play(error=ErrorKind.OVERLOADED),
        (MERGE, "command", 1): Play((*merge[:1], *_PRYING), cheats / "c-forges-report"),
        (MERGE, "claude-code", 1): Play(merge, honest / MERGE / "a-lazy-flat", _RUN[MERGE]),
    }


@dataclass
class Script:
    """The provider's answers, in trials of one `attempt`."""

    attempt: int = 1
    plays: dict[tuple[str, str, int], Play] = field(default_factory=_plays)
    marks: dict[str, str] = field(default_factory=marks)

    def __call__(self, received: Received) -> Reply:
        if "=== patch " in received.text:
            return Reply(text=_judged(received.text), usage=Tokens(input=2400, output=60, cache_read=2000))
        task = next((task for task, mark in self.marks.items() if mark in received.text), None)
        if task is None or not received.body.get("tools"):  # a title, a summary
            return Reply(text="Tests", usage=Tokens(input=400, output=4))
        return self._next(received, task, _scaffold(received.text))

    def _next(self, received: Received, task: str, scaffold: str) -> Reply:
        done = max(map(int, _STEP.findall(received.text)), default=0)
        play = self.plays[task, scaffold, self.attempt]
        if play.error:
            return Reply(error=Failure(kind=play.error))
        commands, usage = play.commands(), Tokens(input=3000 + 900 * done, output=180 + 40 * done)
        if done < len(commands):
            command = f"{commands[done].rstrip()}\n: SCRIPTED-STEP-{done + 1}"
            call = shell_call(received.body, command)
            assert call, "no shell tool is offered"
            return Reply(text=_said(play, done), tool_calls=(call,), usage=usage)
        submits = [word for word in SUBMITS if word in received.text]
        call = shell_call(received.body, f"echo {submits[0]}") if submits and scaffold == "mini" else None
        return Reply(text="That is all.", tool_calls=(call,) if call else (), usage=usage)


def _said(play: Play, done: int) -> str:
    if done < len(play.before):
        return "I look at the code and at the tests that are there."
    return "Now I write the tests and the manifest." if done == len(play.before) else "I run what I have written."


def _scaffold(text: str) -> str:
    if "Claude Code" in text:
        return "claude-code"
    return "mini" if "You work in a repository through a bash shell" in text else "command"


def _judged(text: str) -> str:
    """It knows the known answers, and finds about every fourth nice-to-have unmet."""
    heard = hear(text)
    if heard.known:
        return known_reply(heard)
    nice = {
        item.statement for task in (PROXY, MERGE) for item in Catalog().task(task).rubric.criteria
        if item.importance is Importance.NICE
    }  # fmt: skip
    line = next((line for line in heard.patch.split("\n") if line.startswith("diff --git")), "")
    if heard.statement in nice and zlib.crc32(heard.statement.encode()) % 4 == 0:
        return reply("unmet", "", "the patch does this in another way")
    return reply("met", line, "the patch shows it")


async def _start(directory: Path, *arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "harness.cli", "run", *arguments, "-m", _MODEL, "--judge", _MODEL,
        "--sandbox", "docker", "-j", "2", "-o", "sample-run",
        cwd=directory,
        env={**os.environ, "SCRIPTED_KEY": "k-scripted", "NO_PROXY": "127.0.0.1"},
    )  # fmt: skip
    await process.wait()


async def make(directory: Path) -> None:
    script = Script()
    async with serve(script) as provider:
        model = {
            "schema_version": 1,
            "title": "A scripted model",
            "model": "openai/scripted-gpt",
            "api_base": f"{provider.url}/v1",
            "api_key_env": "SCRIPTED_KEY",
            "prices": {"input": 3.0, "output": 15.0, "cache_read": 0.3},
            "retries": {"attempts": 2, "first_wait": 0.01, "longest_wait": 0.02},
        }
        directory.mkdir(parents=True, exist_ok=True)
        (directory / _MODEL).write_text(yaml.safe_dump(model))
        agents = [word for name in ("mini", "command", "claude-code") for word in ("-s", name)]
        await _start(directory, "-t", PROXY, "-t", MERGE, "-s", "oracle", "-s", "nop", *agents)
        script.attempt = 2
        await _start(directory, "-t", PROXY, *agents, "-k", "2")


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1])))
