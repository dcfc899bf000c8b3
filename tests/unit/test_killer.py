"""What `make killer` counts as wrong."""

import json
import sys
from pathlib import Path

import pytest

from harness.specs.reasons import ReasonCode
from scripts import killer
from scripts.killer import Killer, Run, changed, verdicts
from tests.support.run_folder import begun, judged, run_folder, worked


def test_another_verdict_a_lost_one_and_an_agent_that_worked_again_are_seen(tmp_path: Path) -> None:
    runs = [Run(tmp_path / name, ["a", "b"], 1) for name in ("undisturbed", "struck")]
    for run in runs:
        run_folder(run.directory)
        for task in ("a", "b"):
            judged(worked(begun(run.directory, task, "oracle")))
    undisturbed, struck = runs
    known = undisturbed.contents("verdict.json")
    assert sorted(known) == ["trials/a/oracle/none/1", "trials/b/oracle/none/1"]
    assert not changed(known, struck.contents("verdict.json"))
    killer = Killer(struck, seed=1, longest=1)
    killer.look()

    trial = begun(struck.directory, "a", "oracle")
    judged(worked(trial, ending="step-limit"), ReasonCode.SURVIVED_REMOVAL)
    (struck.directory / "trials/b/oracle/none/1/verdict.json").unlink()
    assert changed(known, struck.contents("verdict.json")) == set(known)
    killer.look()
    assert killer.paid_again == {"trials/a/oracle/none/1"}


def test_what_a_draw_or_the_machines_speed_changes_is_no_other_verdict_and_all_else_is(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", ["a"], 1)
    run_folder(run.directory)
    judged(worked(begun(run.directory, "a", "oracle")))

    def kept(arm: str, cell: str, note: str) -> dict[str, str]:
        text = json.dumps({"notes": [{"code": note}], "arms": {arm: cell}})
        (run.directory / "trials/a/oracle/none/1/verdict.json").write_text(text)
        return verdicts(run)

    known = kept("garbage-1", "failed: raised", "slow-tests")
    assert not changed(known, kept("garbage-1", "failed: assertion", "slow-tests"))
    assert changed(known, kept("garbage-1", "passed", "slow-tests"))
    assert changed(known, kept("garbage-1", "failed: raised", "production-edit"))
    assert changed(
        kept("removal-1", "failed: raised", "slow-tests"), kept("removal-1", "failed: assertion", "slow-tests")
    )
    quick = {
        place: text.replace('{"code": "production-edit"}', "")
        for place, text in kept("a", "b", "production-edit").items()
    }
    assert not changed(quick, kept("a", "b", "slow-tests"))


def test_a_task_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["killer.py", "no-such-task"])
    with pytest.raises(SystemExit) as ended:
        killer.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1] == "killer.py: error: no such task: no-such-task"
