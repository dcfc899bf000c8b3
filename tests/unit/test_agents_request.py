"""The request is one text for all scaffolds, and each may have its own in its place."""

import shutil
from pathlib import Path

import pytest

from harness.agents.mini import Mini
from harness.agents.registry import agent_context
from harness.agents.templates import request_text
from harness.models.replay import ScriptedModel
from harness.runs.plan import scaffold_digest
from harness.specs.errors import UserError
from harness.specs.scaffold import Scaffold
from tests.support.small_task import scaffold, small_task

_END = "When all is done, "


@pytest.fixture
def copy(tmp_path: Path) -> Scaffold:
    """`mini` in a catalog that has no request beside its scaffolds."""
    mini = scaffold("mini")
    shutil.copytree(mini.directory, tmp_path / "scaffolds" / "mini")
    return mini.model_copy(update={"directory": tmp_path / "scaffolds" / "mini"})


def test_an_agent_that_stops_is_told_what_the_loop_is_told_but_for_the_end(tmp_path: Path) -> None:
    task = small_task(tmp_path / "task", steps=7, wall_seconds=70, cost_usd=0.7)
    [_, told] = Mini(agent_context(task, scaffold("mini"), ScriptedModel([]))).prompts()
    common, end = request_text(task, scaffold("mini")).split(_END)
    assert told.content.split(_END)[0] == common
    assert end.startswith("stop: what lies in the repository then")
    for needed in ("I need tests for add().", "tests/**", "manifest.yaml", "7 answers", "70 seconds", "$0.7 "):
        assert needed in common


def test_a_catalog_may_have_a_request_of_its_own_and_a_scaffold_too(copy: Scaffold, tmp_path: Path) -> None:
    task = small_task(tmp_path / "task")
    assert "Work in this order" in request_text(task, copy)
    (copy.directory.parent / "request.j2").write_text("the catalog's: {{ task_prompt }}")
    assert request_text(task, copy) == "the catalog's: I need tests for add().\n"
    (copy.directory / "request.j2").write_text("the scaffold's: {{ steps }}")
    assert request_text(task, copy) == "the scaffold's: 100"


def test_a_mistake_in_the_shared_request_is_named_with_its_line(copy: Scaffold, tmp_path: Path) -> None:
    (copy.directory.parent / "request.j2").write_text("a\n{{ task_promt }}")
    with pytest.raises(UserError, match=r"scaffolds/request\.j2:2: unknown variable 'task_promt'; did you mean"):
        request_text(small_task(tmp_path / "task"), copy)
    with pytest.raises(UserError, match=r"scaffolds/request\.j2:2: unknown variable"):
        Mini(agent_context(small_task(tmp_path / "task"), copy, ScriptedModel([])))


def test_a_changed_request_is_another_scaffold_to_those_that_tell_it(copy: Scaffold) -> None:
    before = scaffold_digest(copy)
    (copy.directory.parent / "request.j2").write_text("{{ task_prompt }}")
    assert scaffold_digest(copy) != before
