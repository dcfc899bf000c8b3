"""`run --dry-run`: a bound of the cost that one can recompute, and every refusal of a run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.judging.submission.extraction import Submission
from harness.results.report.dry_run_report import report_dry_run
from harness.runs.additions import AskedRun
from harness.runs.dry_run import DryRun, dry_run
from harness.runs.plan import RunConfig, plan_trials
from harness.runs.store import RunStore
from harness.runs.trial import describe
from harness.runs.trial_store import AgentFile
from harness.specs.catalog import Catalog
from harness.specs.usage import Usage
from tests.support.command import Done, typed

TASK = "aiosmtpd-proxy-tlv"
LIMIT = Catalog().task(TASK).file.limits.cost_usd
PRICED = "model: openai/shelf\nprices: {input: 1, output: 2}\n"
UNPRICED = "model: openai/drawer\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-tests")
    (tmp_path / "priced.yaml").write_text(PRICED)
    (tmp_path / "unpriced.yaml").write_text(UNPRICED)
    (tmp_path / "keyed.yaml").write_text(f"{PRICED}api_key_env: NO_SUCH_KEY\n")
    (tmp_path / "said.yaml").write_text("messages:\n  - text: I am done.\n    commands: ['echo TESTWRIGHT_SUBMIT']\n")
    return tmp_path


def run(place: Path, *options: str) -> Done:
    return typed("run", "--sandbox", "local", *options, cwd=place)


def dry(place: Path, **options: Any) -> DryRun:
    before = set(place.rglob("*"))
    config = RunConfig(tasks=(TASK,), sandbox="local", **options)
    planned = dry_run(Catalog(), config, place / "out", lambda _: None)
    assert set(place.rglob("*")) == before
    return planned


def test_the_bound_is_the_trials_limits_and_what_the_infrastructure_may_have_repeated(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = (str(place / "priced.yaml"), f"scripted:{place}/said.yaml")
    planned = dry(place, scaffolds=("mini", "oracle"), models=models, attempts=2)
    assert [(item.trial.scaffold.name, item.trial.model, item.agent_usd) for item in planned.trials] == [
        ("mini", models[0], LIMIT),
        ("mini", models[0], LIMIT),
        ("mini", models[1], 0),
        ("mini", models[1], 0),
        ("oracle", "", 0),
        ("oracle", "", 0),
    ]
    assert (planned.agents_usd, planned.tries_usd, planned.judge_usd) == (2 * LIMIT, 3 * 2 * LIMIT, 0)
    assert planned.bound_usd == 3 * 2 * LIMIT
    assert report_dry_run(planned, as_json=False) == 0
    assert f"in all: at most ${6 * LIMIT:.2f} (the last call before a limit may pass it)" in capsys.readouterr().out
    assert report_dry_run(planned, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["at_most_usd"] == {
        "agents": 2 * LIMIT,
        "agents_with_all_tries": 6 * LIMIT,
        "judge": 0,
        "in_all": 6 * LIMIT,
    }
    assert {trial["state"] for trial in told["trials"]} == {"run"}


def test_what_is_unknown_is_said_to_be_unknown(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge = str(place / "priced.yaml")
    planned = dry(place, scaffolds=("mini", "oracle"), models=(str(place / "unpriced.yaml"),), judge=judge)
    assert [item.agent_usd for item in planned.trials] == [None, 0]
    assert (planned.agents_usd, planned.tries_usd, planned.judge_usd, planned.bound_usd) == (None, None, None, None)
    report_dry_run(planned, as_json=False)
    assert f"agents: unknown\njudge: {judge}, unknown\nin all: unknown. Nothing was made" in capsys.readouterr().out


def test_the_runs_cap_bounds_agents_and_judge_together_less_what_earlier_starts_have_spent(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(place / "priced.yaml")
    config = RunConfig(tasks=(TASK,), scaffolds=("mini",), models=(model,), judge=model)
    [trial] = plan_trials(Catalog(), config)
    isolation = dry(place, scaffolds=("nop",)).isolation
    store = RunStore(place / "out")
    store.describe(AskedRun(config, [trial], isolation))
    store.trial(trial).begin(describe(trial, "an image", "none"))
    paid = AgentFile(ending="submitted", steps=1, usage=Usage(calls=1, cost_usd=1.25), seconds=1)
    store.trial(trial).keep_submission(Submission(b"", b""), paid)
    store.close()
    planned = dry(place, scaffolds=("mini",), models=(model,), judge=model, max_cost_usd=3)
    assert (planned.spent_usd, planned.bound_usd) == (1.25, 1.75)
    report_dry_run(dry(place, scaffolds=("mini",), models=(model,), judge=model, max_cost_usd=1), as_json=False)
    assert "run: --max-cost $1.00, $1.25 of them are spent, $0.00 left" in capsys.readouterr().out


@pytest.fixture
def busy(place: Path) -> Iterator[Path]:
    store = RunStore(place / "busy")
    yield place
    store.close()


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        ("-t", "nothing", "-s", "nop"),
        ("-t", TASK, "-s", "mini"),
        ("-t", TASK, "-s", "mini", "-m", "keyed.yaml"),
        ("-t", TASK, "-s", "nop", "--judge", "nobody"),
        ("-t", TASK, "-s", "nop", "--sandbox", "docker"),
        ("-t", TASK, "-s", "nop", "-o", "busy"),
    ],
)
def test_what_a_run_refuses_is_refused_in_the_same_words(
    busy: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{busy}/none.sock")
    really, drily = run(busy, *options), run(busy, *options, "--dry-run")
    assert (drily.status, drily.output) == (2, "")
    assert drily.complaint.splitlines()[-1] == really.complaint.splitlines()[-1]


@pytest.mark.long
def test_a_directory_that_cannot_be_one_is_refused(place: Path) -> None:
    done = run(place, "-t", TASK, "-s", "nop", "--dry-run", "-o", "said.yaml/out")
    assert done.status == 2
    assert done.complaint.splitlines()[-1] == "testwright: said.yaml/out: can't be written; choose another with -o"
