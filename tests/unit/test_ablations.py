"""`--set KEY=VALUE`: a scaffold with other limits or templates is another one, told apart wherever it is named."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.agents.mini import MiniTexts
from harness.agents.trajectory import HeaderRecord, read_trajectory
from harness.models.allowance import Allowance
from harness.runs.ablation import chosen_scaffolds, limited, named_scaffold
from harness.runs.plan import RunConfig, plan_trials
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.reasons import ReasonCode
from tests.support.command import Done, typed
from tests.support.runs_here import RunsHere, codes, runs_here

TLV = "aiosmtpd-proxy-tlv"
SCRIPT = "messages:\n  - text: I am done.\n    commands: ['echo TESTWRIGHT_SUBMIT']\n"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[RunsHere]:
    with runs_here(tmp_path) as runs:
        yield runs


def names(*overrides: str, scaffolds: tuple[str, ...] = ("mini",)) -> list[str]:
    return [scaffold.name for scaffold in chosen_scaffolds(Catalog(), scaffolds, overrides)]


def test_each_ablation_has_a_name_of_its_own_whatever_the_order() -> None:
    assert names() == ["mini"]
    assert names("scaffold.limits.steps=50") == names("limits.steps=050") == ["mini+limits.steps=50"]
    both = ["mini+limits.cost_usd=0.5+limits.steps=50"]
    assert names("limits.steps=50", "limits.cost_usd=0.50") == names("limits.cost_usd=.5", "limits.steps=50") == both


def test_a_template_is_named_by_its_file_and_text(tmp_path: Path) -> None:
    file = tmp_path / "terse words.j2"
    file.write_text("Do it: {{ task_prompt }}")
    [first] = names(f"templates.task={file}")
    assert first.startswith("mini+templates.task=terse_words-")
    file.write_text("Please do it: {{ task_prompt }}")
    assert names(f"templates.task={file}") != [first]
    with pytest.raises(UserError, match="a template that --set names has changed"):
        named_scaffold(Catalog(), first, ("mini",), (f"templates.task={file}",))


def test_a_name_stays_short_enough_for_a_directory() -> None:
    every = [
        f"limits.{name}=1000" for name in ("steps", "wall_seconds", "cost_usd", "command_seconds", "answer_chars")
    ]
    [name] = names(*every, "limits.observation_chars=300")
    assert name.startswith("mini+6-settings-")
    assert names(*every, "limits.observation_chars=301") != [name]


def test_what_is_set_reaches_the_scaffold_the_task_and_the_model(tmp_path: Path) -> None:
    (tmp_path / "t.j2").write_text("{{ steps }} steps. {{ task_prompt }}{% include 'request.j2' %}")
    (tmp_path / "r.j2").write_text("Shared: {{ cost_usd }}")
    overrides = ("limits.steps=7", "limits.command_seconds=9", "limits.cost_usd=0.25")
    texts = (f"templates.task={tmp_path}/t.j2", f"templates.request={tmp_path}/r.j2")
    [scaffold] = chosen_scaffolds(Catalog(), ("mini",), (*overrides, *texts))
    before = Catalog().task("aiosmtpd-proxy-tlv")
    digest = before.work_digest
    task = limited(before, scaffold)
    assert (task.file.limits.steps, task.file.limits.cost_usd, before.file.limits.steps) == (7, 0.25, 100)
    assert (scaffold.limits.command_seconds, scaffold.agent_name, scaffold.catalog_name) == (9, "mini", "mini")
    assert task.work_digest != digest == before.work_digest
    system, told = MiniTexts(task, scaffold, Allowance(task.file.limits)).prompts()
    assert "ended after 9 seconds" in system.content
    assert told.content.startswith("7 steps. When a load balancer")
    assert told.content.endswith("Shared: 0.25")


def test_each_ablation_is_another_identity(tmp_path: Path) -> None:
    (tmp_path / "t.j2").write_text("{{ task_prompt }}")
    wishes: list[tuple[str, ...]] = [(), ("limits.steps=50",), ("limits.format_errors=4",), ("limits.steps=100",)]
    found = [
        trial.identity("image", "docker")
        for overrides in (*wishes, (f"templates.system={tmp_path}/t.j2",))
        for trial in plan_trials(
            Catalog(), RunConfig(tasks=(TLV,), scaffolds=("mini",), models=("anthropic/x",), overrides=overrides)
        )
    ]
    assert len(set(found)) == 5
    assert isinstance(found[0], str)


def test_a_setting_goes_to_all_scaffolds_that_have_the_key_or_to_the_one_that_is_named(tmp_path: Path) -> None:
    assert names("limits.steps=50", scaffolds=("mini", "oracle")) == ["mini+limits.steps=50", "oracle"]
    assert names("mini.limits.steps=50", scaffolds=("oracle", "mini")) == ["oracle", "mini+limits.steps=50"]


@pytest.mark.parametrize(
    ("override", "scaffold", "says"),
    [
        ("limits.stps=5", "mini", "mini: unknown key 'limits.stps'; did you mean 'limits.steps'?"),
        ("mini.templates.tsk=x", "mini", "unknown key 'templates.tsk'; did you mean 'templates.task'?"),
        ("colour=red", "mini", "unknown key 'colour'; known: limits.steps, limits.wall_seconds, limits.cost_usd, "),
        ("limits.arm_seconds=5", "mini", "unknown key 'limits.arm_seconds'; did you mean"),
        ("limits.steps=5", "nop", "nop: nothing can be set of a scaffold without a model"),
        ("limits.steps=many", "mini", "Input should be a valid integer"),
        ("limits.steps=0", "mini", "greater than or equal to 1"),
        ("limits.cost_usd=inf", "mini", "finite"),
        ("limits.answer_chars=1", "mini", "greater than or equal to 200"),
        ("limits.steps", "mini", "expected KEY=VALUE, such as limits.steps=50"),
        ("limits.steps=", "mini", "expected KEY=VALUE"),
        ("templates.task=none.j2", "mini", "none.j2: No such file or directory"),
    ],
)
def test_a_setting_that_does_not_fit_is_one_line_that_says_what_does(override: str, scaffold: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        names(override, scaffolds=(scaffold,))
    assert str(caught.value).startswith(f"--set {override}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_key_that_is_given_twice_is_refused() -> None:
    with pytest.raises(UserError, match=r"--set scaffold\.limits\.steps=6: this key is given twice"):
        names("limits.steps=5", "scaffold.limits.steps=6")


def test_runs_with_and_without_a_setting_lie_side_by_side_in_one_directory(here: RunsHere) -> None:
    model = here.script()
    plain = here.run("mini", models=(model,))
    changed = here.run("mini", models=(model,), overrides=("limits.steps=1",))
    assert codes(plain) == codes(changed) == [[ReasonCode.EMPTY_SUBMISSION]]
    ends = [here.store(name).agent() for name in ("mini", "mini+limits.steps=1")]
    assert [end and end.steps for end in ends] == [2, 1]
    [header] = [
        item for item in read_trajectory(here.store("mini+limits.steps=1").trajectory) if item.kind == "header"
    ]
    assert isinstance(header, HeaderRecord)
    assert header.limits
    assert (header.scaffold, header.limits.steps) == ("mini+limits.steps=1", 1)
    file = yaml.safe_load((here.output / "run.yaml").read_text())
    assert file["ablations"] == {"mini+limits.steps=1": {"limits.steps": "1"}}
    assert sorted(file["scaffolds"]) == ["mini", "mini+limits.steps=1"]
    assert len(set(file["scaffolds"].values())) == 2


def test_a_finished_ablation_is_not_done_again_and_its_template_is_recorded(here: RunsHere) -> None:
    file = here.directory / "task.j2"
    file.write_text("Only this: {{ task_prompt }}")
    wish = {"models": (here.script(),), "overrides": (f"templates.task={file}",)}
    [name] = [item.trial.scaffold.name for item in here.run("mini", **wish).outcomes]
    written = (here.store(name).directory / "agent.json").stat().st_mtime_ns
    here.run("mini", **wish)
    assert (here.store(name).directory / "agent.json").stat().st_mtime_ns == written
    [recorded] = yaml.safe_load((here.output / "run.yaml").read_text())["ablations"][name].values()
    assert recorded.startswith(f"{file} (sha256 ")


def command(place: Path, *options: str) -> Done:
    return typed("run", "--sandbox", "local", "-t", TLV, "-o", "out", *options, cwd=place)


def planned(done: Done) -> Any:
    assert done.status == 0, done.complaint
    return json.loads(done.output)["trials"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "said.yaml").write_text(SCRIPT)
    return tmp_path


def test_the_command_plans_an_ablation_by_its_name(place: Path) -> None:
    (place / "mine.j2").write_text("{{ task_prompt }}")
    (place / "run.yaml").write_text("overrides: [limits.steps=9]\n")
    chosen = ["-s", "mini", "-s", "nop", "-m", "scripted:said.yaml", "--dry-run", "--json"]
    found = planned(command(place, *chosen, "--set", "limits.steps=50", "--set", "templates.system=mine.j2"))
    assert [item["scaffold"].partition("-")[0] for item in found] == [
        "mini+limits.steps=50+templates.system=mine",
        "nop",
    ]
    by_file = planned(command(place, *chosen, "-c", "run.yaml"))
    assert [item["scaffold"] for item in by_file] == ["mini+limits.steps=9", "nop"]
    assert not (place / "out").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("first\n{{ task_promt }}", "mine.j2:2: unknown variable 'task_promt'; did you mean 'task_prompt'?"),
        ("first\n\n{% if %}", "mine.j2:3: "),
        (None, "mine.j2: No such file or directory"),
    ],
)
@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_a_template_that_can_not_work_is_named_with_its_line_before_anything_is_made(
    place: Path, text: str | None, says: str, dry: list[str]
) -> None:
    if text is not None:
        (place / "mine.j2").write_text(text)
    done = command(place, "-s", "mini", "-m", "scripted:said.yaml", "--set", "templates.task=mine.j2", *dry)
    assert (done.status, done.output) == (2, "")
    [line] = done.complaint.splitlines()
    assert line.startswith("testwright: ")
    assert says in line
    assert not (place / "out").exists()
