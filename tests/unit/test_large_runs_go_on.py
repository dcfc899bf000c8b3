"""`run` on a large run that is finished: told from its index, and never where a trial's files say otherwise."""

import gc
import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from harness import PROTOCOL_VERSION
from harness.results.report.run_report import report_run
from harness.runs.additions import AskedRun
from harness.runs.command import FinishedRun, configure, execute
from harness.runs.plan import RunConfig
from harness.runs.trial_index import Sorted, sort_out
from harness.sandbox.registry import SANDBOXES
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from tests.support.cpu_seconds import slowness
from tests.support.fake_engine import FakeEngine
from tests.support.finished_run import IMAGE, config, finished_run

CONFIG = config(models=21)
COUNT = 2_100


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, AskedRun]]:
    """A run of 2,100 finished trials, and what was asked of it."""
    place = tmp_path_factory.mktemp("large")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TESTWRIGHT_CACHE", str(place / "cache"))
        asked = finished_run(place, CONFIG)
        assert asked.images == {"tiny-add": IMAGE}
        yield place / "run", asked


def found(run: Path, asked: AskedRun) -> Sorted:
    return sort_out(run, asked, None)


def test_nothing_is_left_to_do_of_a_finished_run_with_and_without_an_index(made):
    run, asked = made
    (run / ".index").unlink(missing_ok=True)
    for _ in range(2):
        rest, finished = found(run, asked)
        assert not rest
        assert len(finished) == COUNT
        assert (run / ".index").exists()


@pytest.mark.parametrize("at_work", [True, False])
def test_the_garbage_collector_is_left_as_it_was(made, at_work):
    run, asked = made
    before = gc.isenabled()
    try:
        (gc.enable if at_work else gc.disable)()
        assert not found(run, asked).rest
        assert gc.isenabled() is at_work
    finally:
        (gc.enable if before else gc.disable)()


def test_an_identity_by_number_is_the_trials_own(made):
    _, asked = made
    trial = asked.trials[41]
    head, tail = trial.identity_text(IMAGE, "docker")
    text = f"{head}{trial.attempt}{tail}"
    told = json.loads(text)
    assert told["attempt"] == trial.attempt
    assert text == json.dumps(told, sort_keys=True)
    assert trial.identity(IMAGE, "docker") == hashlib.sha256(text.encode()).hexdigest()


def _edited(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(place: Path) -> None:
        text = (place / name).read_text()
        assert old in text
        (place / name).unlink()
        (place / name).write_text(text.replace(old, new))

    return edit


def _in_place(name: str, old: str, new: str) -> Callable[[Path], None]:
    """As somebody's editor does it: the directory doesn't change."""

    def edit(place: Path) -> None:
        text = (place / name).read_text()
        assert old in text
        (place / name).write_text(text.replace(old, new))

    return edit


CHANGES: dict[str, Callable[[Path], None]] = {
    "a verdict of another image": _edited("verdict.json", IMAGE, "sha256:other"),
    "a verdict of another protocol": _edited(
        "verdict.json", f'"protocol_version": {PROTOCOL_VERSION}', '"protocol_version": 1'
    ),
    "a torn verdict": _edited("verdict.json", "}", ""),
    "no verdict": lambda place: (place / "verdict.json").unlink(),
    "another identity": _in_place("trial.json", '"identity": "', '"identity": "f'),
    "a torn trial.json": _in_place("trial.json", "}", ""),
    "a torn agent.json": _in_place("agent.json", "}", ""),
    "a foreign agent.json": _in_place("agent.json", '"identity":"', '"identity":"f'),
    "a trial that is gone": lambda place: shutil.rmtree(place),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_trial_whose_files_say_otherwise_is_looked_at_by_its_start(made, change):
    run, asked = made
    assert not found(run, asked).rest
    trial = asked.trials[7]
    place = run / "trials" / trial.place
    kept = {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    try:
        CHANGES[change](place)
        rest, finished = found(run, asked)
        assert rest == [trial]
        assert len(finished) == COUNT - 1
    finally:
        for name, data in kept.items():
            (place / name).parent.mkdir(exist_ok=True, parents=True)
            (place / name).unlink(missing_ok=True)
            (place / name).write_bytes(data)
    assert not found(run, asked).rest


def test_other_conditions_leave_everything_to_do(made):
    run, asked = made
    both = RunConfig.model_validate({**CONFIG.model_dump(), "protocol": "both"})
    others: list[AskedRun] = [
        AskedRun(CONFIG, asked.trials, "bubblewrap"),
        AskedRun(both, asked.trials, "docker"),
        AskedRun(CONFIG, asked.trials[:100], "docker"),  # few: each is looked at when its turn comes
    ]
    for other in others:
        assert len(sort_out(run, other, None).rest) == len(other.trials)


def test_the_end_of_such_a_start_says_how_many_need_nothing(made, capsys):
    run, asked = made
    rest, finished = found(run, asked)
    assert report_run(FinishedRun(run, "docker", (), 0, finished), as_json=False) == 0
    assert "2,100 trials were finished and need nothing: 2,100 resolved" in capsys.readouterr().out
    assert not rest


def test_the_command_asks_its_engine_for_nothing(made, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-tests")
    run, asked = made
    engine = FakeEngine(lambda _run, _test: "passes", tree=run / "no-tree")
    engine.isolation = "docker"
    SANDBOXES.register("here", lambda _argument, _images: engine)
    try:
        done = again(run)
    finally:
        SANDBOXES.unregister("here")
    assert len(done.finished) == COUNT
    assert done.outcomes == ()
    assert (run / "events.jsonl").read_text() == ""
    report_run(done, as_json=True)
    told = json.loads(capsys.readouterr().out)["trials"]
    assert [item["trial"] for item in told] == [str(trial.place) for trial in asked.trials]


def again(run: Path) -> FinishedRun:
    """What the same command does."""
    options = configure({**CONFIG.model_dump(), "sandbox": "here"}, None)
    silent = lambda _: nullcontext(lambda *_: None)  # noqa: E731
    return execute(Catalog(run.parent / "catalog"), options, run, silent, lambda _: None)


ALONE = """
import sys
from pathlib import Path
from harness.sandbox.registry import SANDBOXES
from tests.support.fake_engine import FakeEngine
from tests.unit.test_large_runs_go_on import COUNT, again
engine = FakeEngine(lambda _run, _test: "passes")
engine.isolation = "docker"
SANDBOXES.register("here", lambda _argument, _images: engine)
assert len(again(Path(sys.argv[1])).finished) == COUNT
sys.exit("litellm" in sys.modules)
"""


def test_a_start_that_finds_nothing_to_do_needs_no_key_and_no_client_of_models(made, monkeypatch):
    run, asked = made
    assert not found(run, asked).rest
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = subprocess.run([sys.executable, "-c", ALONE, run], cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0


def test_models_are_checked_as_soon_as_something_is_left_to_do(made, monkeypatch):
    run, asked = made
    assert not found(run, asked).rest
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    verdict = run / "trials" / asked.trials[7].place / "verdict.json"
    kept = verdict.read_bytes()
    before = {name: (run / name).read_bytes() for name in ("run.yaml", "events.jsonl")}
    engine = FakeEngine(lambda _run, _test: "passes", tree=run / "no-tree")
    engine.isolation = "docker"
    SANDBOXES.register("here", lambda _argument, _images: engine)
    try:
        verdict.unlink()
        with pytest.raises(UserError, match="OPENAI_API_KEY"):
            again(run)
    finally:
        SANDBOXES.unregister("here")
        verdict.write_bytes(kept)
    assert {name: (run / name).read_bytes() for name in before} == before


def test_a_finished_trial_costs_at_most_30_microseconds_of_cpu(made):
    """100,000 in 2 s are 20, planning included; on a machine that is slower just then it may be more."""
    run, asked = made
    found(run, asked)

    def spent() -> float:
        gc.collect()
        began = time.process_time()
        found(run, AskedRun(CONFIG, asked.trials, "docker"))
        return time.process_time() - began

    # Caches that others emptied and collections of what earlier tests left cost CPU too: the cheapest of ten counts.
    assert any(spent() / COUNT < 30e-6 * slowness(1) for _ in range(10))
