"""`task lint --consistency`: judges grade suites of which it is known what they are worth, over real HTTP."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.plugins.scripted_provider.scenario import Reply
from harness.plugins.scripted_provider.server import Received, serve
from tests.support.command import typed_beside
from tests.support.judges import Heard, added_line, hear, known_reply, reply
from tests.support.sound_catalog import MUST, REFERENCE, TASK, added, sound_catalog

QUICK = "retries: {attempts: 1, first_wait: 0.001, longest_wait: 0.002}\nrequest_seconds: 60\n"
ADDED, BEHIND, START = (MUST[name][0] for name in ("1.1", "1.2", "1.3"))
Rule = Callable[[str, str, str], str]
"""From judge, suite and statement to an answer."""


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Suites 0 and 1 are good enough, 2 and 3 leave 1.1 open; each patch has its suite's name in it."""
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-tests")
    directory = sound_catalog(tmp_path / "catalog").directory
    for suite in (directory / "tests" / "honest" / TASK).iterdir():
        (suite / "patch.diff").write_text(added("tests/test_total.py", f"# of {suite.name}\n{REFERENCE}"))
    return directory


def fair(_judge: str, suite: str, statement: str) -> str:
    return "unmet" if statement == ADDED and suite in ("suite-2", "suite-3") else "met"


def _suite(heard: Heard) -> str:
    found = [line.removeprefix("+# of ") for line in heard.patch.split("\n") if line.startswith("+# of ")]
    return found[0] if found else "reference"


async def linted(catalog: Path, rule: Rule, *options: str, judges: int = 1, fooled: bool = False):
    def answer(request: Received) -> Reply:
        heard = hear(request.text)
        if heard.known and not fooled:
            return Reply(text=known_reply(heard))
        said = rule(request.body["model"], _suite(heard), heard.statement)
        return Reply(text=reply(said, added_line(heard) if said == "met" else ""))

    async with serve(answer) as provider:
        files = []
        for number in range(judges):
            file = catalog / f"judge-{number}.yaml"
            file.write_text(f"model: openai/judge-{number}\napi_base: {provider.url}/v1\n{QUICK}")
            files += ["--judge", str(file)]
        async with asyncio.timeout(100):
            command = ("--catalog", catalog, "task", "lint", TASK, "--consistency", *files, *options, "--json")
            done = await typed_beside(*command, cwd=catalog.parent)
        return done, json.loads(done.output) if done.output else {}


@pytest.mark.dear("asks judges about every statement and suite, over HTTP")
async def test_judges_who_see_what_the_probes_see_leave_nothing_to_reword(catalog):
    done, found = await linted(catalog, fair, "--votes", "2")
    assert (done.status, found["findings"], found["faults"]) == (0, [], [])
    assert found["suites"] == ["reference", "suite-0", "suite-1", "suite-2", "suite-3"]
    assert found["calls"] == 5 * (10 * 2 + 2)


@pytest.mark.dear("asks judges about every statement and suite, over HTTP")
async def test_what_judges_disagree_on_what_prescribes_and_what_lets_lazy_work_through_is_told(catalog):
    def rule(judge: str, suite: str, statement: str) -> str:
        if statement == BEHIND and suite == "reference" and judge == "judge-1":
            return "unmet"
        if statement == START and suite == "suite-1":
            return "unmet"
        if statement == ADDED and suite == "suite-3":
            return "met"
        if statement == START and suite == "suite-2":
            return "unmet"  # what its expect.yaml doesn't name, nobody knows
        if statement.startswith("No test reads a file") and suite == "suite-0":
            return "cannot tell"
        return fair(judge, suite, statement)

    done, found = await linted(catalog, rule, "--votes", "1", judges=2)
    assert done.status == 1
    told = {(each["criterion"], each["suite"]): (each["flaw"], each["words"]) for each in found["findings"]}
    assert told == {
        ("1.1", "suite-3"): ("accepts less than the probes", "unmet by the probes; the judges say 2 met"),
        ("1.2", "reference"): (
            "judges disagree", "1 met, 1 unmet (openai/judge-0: 1 met; openai/judge-1: 1 unmet)"
        ),
        ("1.3", "suite-1"): ("prescribes one way", "met by the probes or the static check; the judges say 2 unmet"),
        ("4.1", "suite-0"): ("can't be told", "2 cannot tell"),
    }  # fmt: skip
    assert {each["where"] for each in found["findings"] if each["criterion"] == "1.1"} == {f"rubrics/{TASK}.yaml:7"}


@pytest.mark.dear("asks judges about every statement and suite, over HTTP")
async def test_a_judge_that_is_wrong_about_what_is_known_counts_for_nothing(catalog):
    done, found = await linted(catalog, lambda *_: "unmet", fooled=True)
    assert (done.status, found["findings"], found["ballots"]) == (1, [], [])
    assert len(found["faults"]) == 5
    assert found["faults"][0].startswith("openai/judge-0 on reference: the judge gets a question wrong")


@pytest.mark.long
async def test_answers_are_kept_so_that_a_second_look_asks_nobody(catalog):
    await linted(catalog, fair, "--votes", "2")
    _, again = await linted(catalog, fair, "--votes", "2")
    assert again["calls"] == 0
    _, anew = await linted(catalog, fair, "--votes", "2", "--no-cache")
    assert anew["calls"] == 110


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--consistency"], "--consistency asks judges; name one or several"),
        (["--consistency", "--judge", "openai/one", "--votes", "1"], "one vote of one judge can't disagree"),
        (["--consistency", "--judge", "openai/one", "--judge", "openai/one"], "--judge openai/one: is named twice"),
        (["--judge", "openai/one", "--judge", "openai/two"], "several go with --consistency"),
        (["--consistency", "--judge", "no-such"], "no-such"),
    ],
)
async def test_what_cannot_be_meant_is_refused(catalog, options, words):
    done = await typed_beside("--catalog", catalog, "task", "lint", TASK, *options, cwd=catalog.parent)
    assert (done.status, done.output) == (2, "")
    assert words in done.complaint


async def test_without_two_lazy_suites_nobody_is_asked(catalog):
    expect = catalog / "tests" / "honest" / TASK / "suite-2" / "expect.yaml"
    expect.write_text(f"task: {TASK}\nverdict: resolved\n")
    done, _ = await linted(catalog, fair)
    assert (done.status, done.output) == (2, "")
    assert "1 honest suites that aren't good enough, and 2 are needed; testwright task edit" in done.complaint


@pytest.mark.long
async def test_the_wording_alone_is_linted_without_a_judge(catalog):
    rubric = catalog / "rubrics" / f"{TASK}.yaml"
    done = await typed_beside("--catalog", catalog, "task", "lint", TASK, cwd=catalog.parent)
    assert done.status == 0, done.complaint
    rubric.write_text(rubric.read_text().replace(START, "Tests that it works properly."))
    done = await typed_beside("--catalog", catalog, "task", "lint", TASK, "--json", cwd=catalog.parent)
    assert done.status == 1
    [task] = json.loads(done.output)["tasks"]
    assert [step["id"] for step in task["steps"]] == ["rubric", "prompt"]
