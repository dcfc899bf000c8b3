"""What a check of a task finds with containers: in what an agent sees, under the probes, in the honest suites."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import docker
import pytest
import yaml

from harness.authoring.task_check.agent_view import view_problems
from harness.authoring.task_check.context import arm_context_of, memory_of, run_parts
from harness.authoring.task_check.controls import nop_problems, reference_problems
from harness.authoring.task_check.fuzzing import fuzz_problems
from harness.authoring.task_check.honest_corpus import honest_problems
from harness.authoring.task_check.own_parts import DYNAMIC
from harness.authoring.task_check.subject import Subject
from harness.authoring.task_check.upstream_tests import upstream_problems
from harness.runs.engine_session import engine_session
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.problem import Severity
from harness.specs.task_facts import CheckedStep, Level, StepId, StepOutcome
from tests.docker.test_task_image_check import derive
from tests.support.few_arms import few_arms
from tests.support.sound_catalog import added, changed

pytestmark = [pytest.mark.docker, pytest.mark.long]
TASK = "aiosmtpd-proxy-tlv"
PRODUCT = "aiosmtpd/proxy_protocol.py"
SIGNATURE = 'V2_SIGNATURE = b"\\r\\n\\r\\n\\x00\\r\\nQUIT\\n"\n'
NEW_FILE = "aiosmtpd/tests/test_proxy_records.py"
REFERENCE = """\
from aiosmtpd.proxy_protocol import ProxyTLV


def test_two_records_in_a_row_are_both_decoded():
    records, _ = ProxyTLV.parse(b"\\x01\\x00\\x01a\\x02\\x00\\x01b")
    assert sorted(records.values()) == [b"a", b"b"]
"""
"""In a file of its own: no test of upstream's has to be run beside it."""


@pytest.fixture
async def subject(tmp_path: Path) -> AsyncIterator[Subject]:
    """A copy of a shipped task with two probes left: one that changes nothing, one that upstream's tests notice."""
    built_in, copy = default_directory(), tmp_path / "catalog"
    for name in ("repos/aiosmtpd", f"tasks/{TASK}", "scaffolds"):
        shutil.copytree(built_in / name, copy / name)
    (copy / "rubrics").mkdir()
    rubric = yaml.safe_load((built_in / "rubrics" / f"{TASK}.yaml").read_text())
    rubric["criteria"] = [item for item in rubric["criteria"] if item["id"] in ("1.1", "1.2")]
    (copy / "rubrics" / f"{TASK}.yaml").write_text(yaml.safe_dump(rubric))
    for probe in (copy / "tasks" / TASK / "probes").iterdir():
        probe.unlink()
    reference = copy / "tasks" / TASK / "reference"
    (reference / "tests.patch").write_text(added(NEW_FILE, REFERENCE))
    test = "test_two_records_in_a_row_are_both_decoded"
    (reference / "manifest.yaml").write_text(f"- file: {NEW_FILE}\n  tests: [{test}]\n")
    (reference / "covers.yaml").write_text(f'{NEW_FILE}: {{{test}: ["1.1", "1.2"]}}\n')
    async with engine_session("docker", f"test-task-check-{uuid4().hex}") as session:
        arm_context = await arm_context_of(session, Catalog(built_in).task(TASK))
        text = (await GitTree(arm_context.image.tree).read(PRODUCT)).decode()
        mutants = {
            "1.1": changed(PRODUCT, text, SIGNATURE, SIGNATURE.replace("QUIT", "EXIT")),
            "1.2": changed(PRODUCT, text, "            i = 0\n", "            i = 1 - 1\n"),
        }
        shutil.rmtree(copy / "tasks" / TASK / "probes-on-placebo")  # or chance runs the task's own mutants
        for name, patch in mutants.items():
            (copy / "tasks" / TASK / "probes" / f"{name}.patch").write_text(patch)
        catalog = Catalog(copy)
        yield Subject(catalog, catalog.task(TASK), arm_context=arm_context)


async def test_a_probe_that_nothing_notices_and_a_reference_that_is_not_resolved_are_found(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_arms(monkeypatch, 0)
    found = await reference_problems(subject, times=1)
    told = [(problem.where.rpartition("/")[2], problem.message) for problem in found]
    assert ("1.2.patch", "no test of the reference notices it") in told
    assert any(where == "tests.patch" and "failed: criterion-unmet: 1.2" in words for where, words in told), told
    assert any(where.startswith("covers.yaml") and "notices none of its probes" in words for where, words in told)


async def test_a_removal_that_does_not_compile_is_found(subject: Subject) -> None:
    removal = subject.task.directory / "removal.patch"
    text = (await GitTree(subject.containers.image.tree).read(PRODUCT)).decode()
    removal.write_text(changed(PRODUCT, text, "            i = 0\n", "            i = = 0\n"))
    [step] = await run_parts(subject, {StepId.REFERENCE: reference_problems}, lambda _task, _part: None)
    [broken] = step.problems
    assert step.outcome is StepOutcome.FAILED
    assert broken.message.startswith("a variant of this task does not compile: ")


async def test_upstreams_tests_that_notice_a_probe_are_a_warning_and_the_rest_is_said(subject: Subject) -> None:
    [noticed] = await upstream_problems(subject)
    assert noticed.severity is Severity.WARNING
    assert noticed.where == f"tasks/{TASK}/probes/1.1.patch"
    assert "upstream's remaining tests notice it too: aiosmtpd/tests/" in noticed.message
    [remark] = subject.remarks
    assert "near the code; upstream has" in remark


async def test_an_honest_suite_that_comes_to_something_else_than_it_says_is_found(subject: Subject) -> None:
    suite = subject.catalog.directory / "tests" / "honest" / TASK / "no-manifest"
    suite.mkdir(parents=True)
    shutil.copy(subject.task.directory / "reference" / "tests.patch", suite / "patch.diff")
    (suite / "expect.yaml").write_text(f"task: {TASK}\nverdict: resolved\n")
    [wrong] = await honest_problems(subject)
    assert wrong.where == f"tests/honest/{TASK}/no-manifest"
    assert wrong.message == "failed, which differs from its expect.yaml: not resolved (manifest-missing)"


async def test_whatever_of_a_task_lies_where_an_agent_can_see_it_is_found(
    client: docker.DockerClient, nonce: str, subject: Subject
) -> None:
    assert await view_problems(subject) == []
    task = subject.task
    planted = {
        "app/notes.txt": task.rubric.criteria[0].statement.encode(),
        "home/agent/task.yaml": (task.directory / "task.yaml").read_bytes(),
        "opt/removal.patch": task.patch("removal.patch"),
        "tmp/tests.patch": task.patch("reference/tests.patch"),
        "srv/withheld.patch": task.patch("withheld.patch"),
    }
    arm_context = subject.containers
    hint = f'HINT="{task.rubric.criteria[1].statement}"'
    image = replace(arm_context.image, reference=derive(client, arm_context.image.reference, nonce, planted, hint))
    found = await view_problems(replace(subject, arm_context=replace(arm_context, image=image)))
    head = "shows in what an agent sees:"
    assert {problem.message for problem in found} >= {
        f"the rubric {head} app/notes.txt",
        f"the rubric {head} its environment",
        f"task.yaml {head} home/agent/task.yaml",
        f"removal.patch {head} opt/removal.patch",
        f"reference/tests.patch {head} tmp/tests.patch",
        f"withheld.patch {head} srv/withheld.patch",
    }


def test_a_full_check_has_all_that_a_brief_one_has() -> None:
    brief = {part for name, part in DYNAMIC[Level.BRIEF].items() if "once" not in name}
    assert brief <= set(DYNAMIC[Level.GATE].values())


async def test_a_twin_that_changes_behaviour_is_found_by_drawn_inputs(subject: Subject) -> None:
    twins, shipped = subject.task.directory / "twins", default_directory() / "tasks" / TASK
    for path in twins.iterdir():
        path.unlink()
    shutil.copy(shipped / "twins" / "1.1.patch", twins)
    shutil.copy(shipped / "probes" / "1.2.patch", twins)
    found = await fuzz_problems(subject)
    assert {problem.where.rpartition("/")[2] for problem in found} == {"1.2.patch"}
    assert all(problem.message.startswith("changes behaviour: ") for problem in found)


async def test_a_part_that_passed_is_remembered_until_a_file_changes_that_it_reads(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    part, begun = {StepId.NOP: nop_problems}, list[str]()

    async def outcome() -> CheckedStep:
        [step] = await run_parts(subject, part, lambda _, label: begun.append(label), memory_of(subject, "docker"))
        return step

    first, second = await outcome(), await outcome()
    assert (first.outcome, second.outcome, begun) == (StepOutcome.PASSED, StepOutcome.PASSED, ["nop"])
    assert second.remarks == ("nop: remembered",)
    assert second.seconds == first.seconds  # a check record may hold it

    def changed_by(path: Path) -> set[StepId]:
        before = memory_of(subject, "docker").keys
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("changed")
        after = memory_of(subject, "docker").keys
        return {step for step in before if before[step] != after[step]}

    folder, every = subject.task.directory, set(memory_of(subject, "docker").keys)
    of_other_tracks, in_no_container = (
        {StepId.ALTERNATIVE_FIXES, StepId.WRONG_FIX, StepId.ACCEPTANCE},
        {StepId.CONVENTIONS},
    )
    assert every - of_other_tracks == {*DYNAMIC[Level.BRIEF], *DYNAMIC[Level.FULL]} - in_no_container
    assert changed_by(folder / "prompt.md") == {StepId.AGENT_VIEW}
    assert changed_by(folder / "fuzz" / "test_more.py") == {StepId.AGENT_VIEW, StepId.FUZZ}
    assert changed_by(folder / "reference" / "covers.yaml") == every - {StepId.HONEST_SUITES}
    assert changed_by(subject.catalog.directory / "honest" / TASK / "a" / "patch.diff") == {StepId.HONEST_SUITES}
    assert changed_by(folder / "removal.patch") == every
    assert changed_by(subject.catalog.directory / "scaffolds" / "mini" / "scaffold.yaml") == every
    assert set(memory_of(subject, "none").keys.values()).isdisjoint(memory_of(subject, "docker").keys.values())
    await outcome()
    assert begun == ["nop", "nop"]
