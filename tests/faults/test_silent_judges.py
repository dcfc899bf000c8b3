"""A resolved run is judged again by a judge that is down or answers garbage: the verdict stays, and it is said."""

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml

from harness.plugins.scripted_provider.scenario import ScriptedFault
from harness.specs.reasons import Verdict
from tests.support.command import Done, typed_beside
from tests.support.provider import Reply, failing, playing
from tests.support.scenes import Scene, scenes
from tests.support.sound_catalog import NICE, TASK

REPLIES = {
    "garbage": Reply(text="Lorem ipsum, dolor sit amet."),
    "JSON of something else": Reply(text='{"verdict": "resolved"}'),
    "no JSON from its server": Reply(text="met", fault=ScriptedFault.NOT_JSON),
    "an error of its server": failing("server-error"),
    "a refused key": failing("unauthorized"),
}
FAILURES = {
    "down": "openai/judge: connection: ",
    "no JSON from its server": "openai/judge: malformed: ",
    "an error of its server": "openai/judge: server: ",
    "a refused key": "openai/judge: auth: ",
}
"""Kinds of judges of which no answer comes, and how the line begins that says why."""


@pytest.fixture
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A resolved run without a judge; probes decide every must-have."""
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    with scenes(tmp_path, {}) as make:
        scene = make()
        [outcome] = scene.run().outcomes
        assert outcome.verdict is Verdict.RESOLVED
        yield scene


def has_a_criterion_for_judges(scene: Scene) -> None:
    path = scene.catalog.directory / "rubrics" / f"{TASK}.yaml"
    rubric = yaml.safe_load(path.read_text())
    [asked] = [each for each in rubric["criteria"] if each["id"] == next(iter(NICE))]
    del asked["static"]
    asked["graded_by"] = ["judge"]
    path.write_text(yaml.safe_dump(rubric, sort_keys=False))


@asynccontextmanager
async def judge_at(place: Path, reply: Reply | None) -> AsyncIterator[Path]:
    """The file of a model that a real server answers for, always alike; without a reply nobody listens there."""
    facts = {"model": "openai/judge", "retries": {"attempts": 2, "first_wait": 0, "longest_wait": 0}}
    path = place / "judge.yaml"
    if reply is None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # and it doesn't listen
            path.write_text(yaml.safe_dump({**facts, "api_base": f"http://127.0.0.1:{taken.getsockname()[1]}/v1"}))
            yield path
        return
    async with playing(reply) as provider:
        path.write_text(yaml.safe_dump({**facts, "api_base": f"{provider.url}/v1"}))
        yield path
        assert provider.requests, "the judge was asked"


async def testwright_of(scene: Scene, place: Path, *words: str | Path) -> Done:
    return await typed_beside("--catalog", scene.catalog.directory, *words, cwd=place)


testwright_of.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.fault(
    "regrade --judge with a judge that is down, or that answers garbage",
    "the old verdict stays; the counts are said, status 1; show and report go on with it",
)
@pytest.mark.parametrize("kind", ["down", *REPLIES])
async def test_a_judge_that_tells_nothing_leaves_the_verdict(finished: Scene, tmp_path: Path, kind: str) -> None:
    has_a_criterion_for_judges(finished)
    [path] = finished.output.rglob("verdict.json")
    before = path.read_bytes()
    async with judge_at(tmp_path, REPLIES.get(kind)) as judge:
        done = await testwright_of(finished, tmp_path, "regrade", finished.output, "--judge", judge)
    assert done.status == 1, done
    assert "Traceback" not in done.complaint
    last = done.output.strip().splitlines()[-1]
    assert last.startswith(
        "1 trials, 0 verdicts changed, 1 keep their old verdict since the judge couldn't be had; judge's cost"
    )
    told = " ".join(done.output.split())
    assert f"the old verdict stays, since the judge couldn't be had: {FAILURES.get(kind, 'the judge leaves')}" in told
    assert path.read_bytes() == before
    assert not list(path.parent.glob("verdict.*.json")), "nothing was set aside"
    shown = await testwright_of(finished, tmp_path, "show", finished.output, "--json")
    [trial] = json.loads(shown.output)
    assert (shown.status, trial["verdict"]) == (0, "resolved"), shown
    reported = await testwright_of(finished, tmp_path, "report", finished.output, "--json")
    assert reported.status == 0, reported
    assert _resolved(json.loads(reported.output)), reported.output


@pytest.mark.fault(
    "a judged run starts again with a judge of which no answer comes",
    "the trial is unscored in this start, the line says why, and its verdict stays in place",
)
@pytest.mark.parametrize("kind", FAILURES)
async def test_a_start_whose_judge_is_silent_leaves_the_verdict(finished: Scene, tmp_path: Path, kind: str) -> None:
    [path] = finished.output.rglob("verdict.json")
    before = path.read_bytes()
    words = ("run", "-o", finished.output, "-t", TASK, "-s", "oracle", "--sandbox", finished.name, "--extend")
    finished.sandboxes.clear()
    async with judge_at(tmp_path, REPLIES.get(kind)) as judge:
        done = await testwright_of(finished, tmp_path, *words, "--judge", judge, "--json")
    assert done.status == 1, done
    assert "Traceback" not in done.complaint
    [trial] = json.loads(done.output)["trials"]
    [reason] = trial["reasons"]
    assert (trial["verdict"], reason["code"]) == ("unscored", "judge-unavailable")
    assert reason["words"].startswith(f"the old verdict stays, since the judge couldn't be had: {FAILURES[kind]}")
    assert path.read_bytes() == before
    assert not list(path.parent.glob("verdict.*.json")), "nothing was set aside"
    assert not finished.sandboxes, "the agent was asked again"
    shown = await testwright_of(finished, tmp_path, "show", finished.output, "--json")
    assert [each["verdict"] for each in json.loads(shown.output)] == ["resolved"]


@pytest.mark.fault(
    "a rubric is edited, and its run starts again with a judge that is down",
    "the verdict by the old rubric is set aside: the trial is unscored until a judge answers",
)
async def test_a_verdict_by_another_rubric_is_out_of_date(finished: Scene, tmp_path: Path) -> None:
    has_a_criterion_for_judges(finished)
    words = ("run", "-o", finished.output, "-t", TASK, "-s", "oracle", "--sandbox", finished.name, "--extend")
    async with judge_at(tmp_path, REPLIES["a refused key"]) as judge:
        done = await testwright_of(finished, tmp_path, *words, "--judge", judge)
    assert done.status == 1, done
    shown = await testwright_of(finished, tmp_path, "show", finished.output, "--json")
    assert [each["verdict"] for each in json.loads(shown.output)] == ["unscored"]
    assert [path.name for path in finished.output.rglob("verdict.*.json")] == ["verdict.1.json"]


def _resolved(report: object) -> bool:
    """Tell if the report has counted one resolved trial."""
    text = json.dumps(report)
    return '"resolved": 1' in text and '"unscored": 0' in text
