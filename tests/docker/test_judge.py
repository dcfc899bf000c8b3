"""A judge over real HTTP: a run judged by it, calibrated, and regraded by another one and by another rubric."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from harness.plugins.scripted_provider.failures import ErrorKind
from harness.plugins.scripted_provider.scenario import Failure, Reply
from harness.plugins.scripted_provider.server import Received, serve
from harness.runs.regrade import Regraded, regrade
from harness.specs.catalog import Catalog
from tests.support.command import typed_beside
from tests.support.few_arms import few_arms
from tests.support.judges import Heard, added_line, hear, known_reply, reply
from tests.support.light_task import KEPT, TASK, light_catalog

pytestmark = [pytest.mark.docker, pytest.mark.long]

TRIAL = f"{TASK}/oracle/none/1"
DOUBTED = "longer than 255 bytes"
"""Of the statement of 1.2: the judge says that it is unmet, the probe that it is met."""


def says(rule: Callable[[Heard], str]) -> Callable[[Received], Reply]:
    def answer(request: Received) -> Reply:
        heard = hear(request.text)
        return Reply(text=known_reply(heard) if heard.known else rule(heard))

    return answer


def met(heard: Heard) -> str:
    return reply("met", added_line(heard))


def doubting(heard: Heard) -> str:
    return reply("unmet") if DOUBTED in heard.statement else met(heard)


def down(request: Received) -> Reply:
    return Reply(error=Failure(kind=ErrorKind.UNAUTHORIZED))


def judge_file(place: Path, url: str, name: str = "judge") -> Path:
    file = place / f"{name}.yaml"
    file.write_text(f"model: anthropic/{name}\napi_base: {url}\nprices: {{input: 1, output: 2}}\n")
    return file


@pytest.fixture
def catalog(tmp_path) -> Path:
    """A copy of the shipped catalog with a light task, to be changed."""
    return light_catalog(tmp_path / "catalog")


def stored(run: Path, name: str) -> Path:
    return run / "trials" / TRIAL / name


def codes(regraded: Regraded) -> set[str]:
    return {reason.code.value for reason in regraded.new.reasons}


def arms_of(run: Path) -> dict[str, int]:
    """When each file of an arm was written, but for what tells which tests there are: that is part of reading."""
    files = (path for path in stored(run, "arms").rglob("*") if path.is_file() and ",seen" not in path.parent.name)
    return {str(path): path.stat().st_mtime_ns for path in files}


async def test_a_run_is_judged_calibrated_and_regraded_without_its_agent(tmp_path, catalog, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-for-tests")
    few_arms(monkeypatch, 0)
    run = tmp_path / "run"
    env = {"TESTWRIGHT_CACHE": ""}  # the user's own, for its images
    command = ("--catalog", catalog, "run", "-t", TASK, "-s", "oracle", "-o", run)

    async def again(judge: Path | None, stage: str = "rubric") -> Regraded:
        [regraded] = await asyncio.to_thread(
            regrade, Catalog(catalog), run, stage, str(judge) if judge else None, False, print
        )
        return regraded

    # Judged: the probe decides, the difference is noted, the judge's money is apart from the agent's.
    async with serve(says(doubting)) as provider:
        judge = judge_file(tmp_path, provider.url)
        done = await typed_beside(*command, "--judge", judge, "--no-cache", "--json", cwd=tmp_path, **env)
        assert done.status == 0, done.complaint
        [trial] = json.loads(done.output)["trials"]
        asked = len(provider.requests)
        repeated = await typed_beside(*command, "--judge", judge, "--no-cache", "--json", cwd=tmp_path, **env)
        assert len(provider.requests) == asked, "a verdict by this judge is there already"
        assert json.loads(repeated.output)["trials"][0]["verdict"] == "resolved"
    assert trial["verdict"] == "resolved"
    record = json.loads(stored(run, "verdict.json").read_text())
    assert [(note["code"], note["subject"]) for note in record["notes"]] == [("judge-probe-disagree", "1.2")]
    votes = [json.loads(line) for line in stored(run, "judge.jsonl").read_text().splitlines()]
    assert len(votes) == asked == 2 + 3 + len(KEPT) + 2
    assert trial["usage"]["judge"]["calls"] == asked
    assert trial["usage"]["judge"]["cost_usd"] == pytest.approx(asked * (100 * 1 + 20 * 2) / 1_000_000)
    assert trial["usage"]["agent"]["calls"] == 0

    # Calibrated: the one that a probe decides is the one that the judge doubts.
    (tmp_path / "gold.yaml").write_text(f"labels:\n  {TRIAL}: {{'1.2': unmet, '5.1': unmet}}\n")
    done = await typed_beside("judge", "calibrate", run, "--gold", "gold.yaml", "--json", cwd=tmp_path)
    facts = json.loads(done.output)
    whole = {row["against"]: (row["pairs"], row["raw"]) for row in facts["agreement"] if row["axis"] is None}
    assert whole == {"probe": (1, 0.0), "static": (2, 1.0), "gold": (2, 0.5)}
    assert {(row["criterion"], row["against"]) for row in facts["worst"]} == {("1.2", "probe"), ("5.1", "gold")}

    # Another judge, which is down: the verdict stays as it is and where it is, and nothing of the arms is run.
    arms = arms_of(run)
    async with serve(down) as provider:
        judge = judge_file(tmp_path, provider.url, "other")
        command = ("--catalog", catalog, "regrade", run, "--judge", judge, "--no-cache", "--json")
        done = await typed_beside(*command, cwd=tmp_path, **env)
        assert len(provider.requests) == 1
    assert done.status == 1, done.complaint
    [row] = json.loads(done.output)
    assert (row["old"], row["new"], row["changed"]) == ("resolved", None, False)
    assert not stored(run, "verdict.1.json").exists()
    assert json.loads(stored(run, "verdict.json").read_text()) == record
    assert stored(run, "judge.jsonl").read_text().count("\n") == asked

    # Another rubric: a must-have that only a judge decides.
    rubric = catalog / "rubrics" / f"{TASK}.yaml"
    statement = "Tests that nothing is left open."
    more = {"id": "1.12", "axis": 1, "importance": "must", "statement": statement, "graded_by": ["judge"]}
    written = yaml.safe_load(rubric.read_text())
    rubric.write_text(yaml.safe_dump({**written, "criteria": [*written["criteria"], more]}))

    def strict(heard: Heard) -> str:
        return reply("unmet") if "left open" in heard.statement else met(heard)

    async with serve(says(strict)) as provider:
        found = await again(judge_file(tmp_path, provider.url))
    assert (found.old.verdict, found.new.verdict, found.changed_criteria) == ("resolved", "failed", ("1.12",))
    assert [(reason.code, reason.subject) for reason in found.new.reasons] == [("criterion-unmet", "1.12")]

    # A judge that nobody can read, and one that takes a test for a helper.
    async with serve(lambda request: Reply(text="I would rather not say.")) as provider:
        found = await again(judge_file(tmp_path, provider.url))
    assert found.new is None
    assert found.is_without_judge, found.complaint
    assert found.old
    assert found.old.verdict == "failed"

    def setup(heard: Heard) -> str:
        line = next(line for line in heard.patch.split("\n") if "def test_" in line and line.startswith("+"))
        return reply("unmet", line) if "listed tests" in heard.statement else met(heard)

    async with serve(says(setup)) as provider:
        found = await again(judge_file(tmp_path, provider.url), "manifest")
    assert codes(found) == {"manifest-not-a-test"}
    assert arms_of(run) == arms, "no arm has run again"

    # Another probe: what the arms showed says nothing any more, and nobody pretends that it does.
    probe = next((catalog / "tasks" / TASK / "probes").glob("*.patch"))
    probe.write_bytes(probe.read_bytes() + b"\n")
    found = await again(None)
    assert found.new is None
    assert "task" in found.complaint
    assert "--stage mutation" in found.complaint
    assert arms_of(run) == arms

    # They run again, every one of them, where that is asked for.
    async with serve(says(met)) as provider:
        found = await again(judge_file(tmp_path, provider.url), "mutation")
    assert found.new.verdict == "resolved"
    assert not set(arms.items()) & set(arms_of(run).items())
