"""The listed tests of a package in one process, on a mutant: what is asked for, and what comes of it."""

import asyncio
import gzip
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.languages.go.toolchain import package_command
from harness.judging.languages.registry import LANGUAGES
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.evidence import Draw, Evidence
from harness.judging.verify.gathering import ArmPlan, gather_evidence
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.mutation import judge_mutation
from harness.judging.verify.own_runs.package_run import package_run
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.reasons import ReasonCode
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import Role
from tests.support.fake_engine import FakeEngine, Run, Script
from tests.support.scripted_language import ScriptedToolchain
from tests.support.scripted_plan import KINDS, sources
from tests.support.small_task import small_task

TEST = TestId("tests/test_new.py", "test_a")
PACKAGES = replace(LANGUAGES.get("python"), packages=lambda tests: ("bash", *map(str, tests)))


@pytest.fixture
def task(tmp_path: Path) -> Task:
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "sums-add.yaml").write_text("")
    probes = tmp_path / "tasks" / "sums-add" / "probes"
    probes.mkdir(parents=True)
    (probes / "1.1.patch").write_text("")
    return small_task(probes.parent)


def honest(run: Run, _test: TestId) -> str:
    return "passes" if KINDS[run.variant].behaves_like_baseline else "fails"


def only_in_arms(run: Run, test: TestId) -> str:
    return "passes" if run.variant == "probe-1.1" and run.number > 1 else honest(run, test)


def judged(task: Task, script: Script) -> Evidence:
    engine = FakeEngine(script)
    context = ArmContext(
        engine, Image("fake", "0", "/app", task.directory), {},
        slots=asyncio.Semaphore(1), toolchain=ScriptedToolchain(), options=SandboxOptions(),
    )  # fmt: skip
    baseline, *others = sources()
    mutants = [replace(other, code={"sums.py": b"a mutant"} if other.name == "probe-1.1" else {}) for other in others]
    plan = ArmPlan([baseline, *mutants], Suite((TEST,), {TEST.file: b""}), ManifestCheck((TEST,)), Draw(0, 0))

    async def both() -> Evidence:
        evidence = await gather_evidence(context, task, plan)
        evidence = await package_run(context, task, plan, evidence, PACKAGES)
        assert await package_run(context, task, plan, evidence, PACKAGES) == evidence, "it is held once"
        return evidence

    return asyncio.run(both())


def runs_of(evidence: Evidence) -> list[tuple[str, int]]:
    return [(str(key), arm.exit_status) for key, arm in evidence.arms.items() if key.role is Role.WHOLE_MUTANT]


def test_tests_that_fail_on_a_mutant_in_one_process_are_run_once(task: Task) -> None:
    evidence = judged(task, honest)
    assert runs_of(evidence) == [("probe-1.1,whole-mutant", 1)]
    assert judge_mutation(evidence) == ()


def test_tests_that_pass_there_twice_are_a_reason(task: Task) -> None:
    evidence = judged(task, only_in_arms)
    assert runs_of(evidence) == [("probe-1.1,whole-mutant", 0), ("probe-1.1,whole-mutant,run-2", 0)]
    assert [reason.code for reason in judge_mutation(evidence)] == [ReasonCode.KILL_NOT_REPEATED]


@pytest.mark.parametrize(("failing", "status"), [((), 0), (("a",), 1), (("a/b",), 1), (("a", "a/b"), 1)])
def test_each_package_runs_once_in_its_folder_with_its_tests_and_the_time_of_go_test(
    tmp_path: Path, failing: tuple[str, ...], status: int
) -> None:
    said = tmp_path / "said"
    for folder in ("a", "a/b"):
        (tmp_path / folder).mkdir()
        binary = tmp_path / "binaries" / f"{folder}.test.gz"
        binary.parent.mkdir(parents=True, exist_ok=True)
        says = f'[[ $PATH == "$GOROOT/bin:"* ]] && echo "go ${{PWD##{tmp_path}/}} $*" >> {said}'
        script = f"#!/bin/bash\n{says}\nexit {int(folder in failing)}\n"
        binary.write_bytes(gzip.compress(script.encode()))
    tests = [TestId("a/x_test.go", "TestA"), TestId("a/b/z_test.go", "TestC"), TestId("a/y_test.go", "TestB")]
    env = {**os.environ, "TESTWRIGHT_TEST_BINARIES": str(tmp_path / "binaries"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(package_command(tests), cwd=tmp_path, env=env, check=False)
    assert done.returncode == status
    # The go command sets GOROOT, and its folder comes first in PATH.
    options = "-test.paniconexit0 -test.timeout=10m0s -test.run="
    assert said.read_text().splitlines() == [f"go a {options}^(TestA|TestB)$", f"go a/b {options}^(TestC)$"]
