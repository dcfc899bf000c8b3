"""Tests that take longer than a task allows, or end their whole process."""

import asyncio
from pathlib import Path

import pytest

from harness.judging.verify.arms import ArmContext, arm_slots
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.sandbox.options import arm_options
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode, Verdict
from harness.tracks.registry import choose_engine, track_of
from tests.support.few_arms import few_arms
from tests.support.heard_arms import HeardArms
from tests.support.light_task import TASK, light_catalog
from tests.support.patches import new_test_file

pytestmark = pytest.mark.docker

HANGS = """
import time
from aiosmtpd.proxy_protocol import ProxyTLV


def test_record():
    assert ProxyTLV.from_raw(b"\\x02\\x00\\x01a")["AUTHORITY"] == b"a"


def test_hangs():
    time.sleep(600)
"""
WHEN_BROKEN = """
    try:
        ProxyTLV.from_raw(b"")
    except SystemError:
        time.sleep(600)
"""
HANGS_WHEN_BROKEN = HANGS.replace("\n    time.sleep(600)\n", WHEN_BROKEN)


CRASHES_WHEN_BROKEN = HANGS_WHEN_BROKEN.replace("time.sleep(600)", "os.abort()").replace("import time", "import os")
NEVER_GREEN = "\n\ndef test_red():\n    assert not True\n"


def judged(place: Path, text: str, *more: str) -> tuple[VerdictRecord, list[str]]:
    """The verdict, and the names of the arms that ran, of a light task."""
    heard = HeardArms()

    async def judge() -> VerdictRecord:
        task, engine = Catalog(light_catalog(place)).task(TASK), choose_engine("docker")
        limits = task.file.limits.model_copy(update={"arm_seconds": 4, "verification_seconds": 600})
        short = task.file.model_copy(update={"limits": limits})
        submission = new_test_file("aiosmtpd/tests/test_slow.py", text, "test_record", "test_hangs", *more)
        try:
            image = await engine.image(task)
            labels = {"testwright.run": "test-without-end"}
            arm_context = ArmContext(
                engine,
                image,
                labels,
                slots=arm_slots(engine),
                toolchain=track_of(task).toolchain(task),
                options=arm_options(task.repo),
                observer=heard,
            )
            return (await Judging(task.model_copy(update={"file": short}), arm_context).run(submission)).record
        finally:
            await engine.close()

    return asyncio.run(judge()), list(heard.results)


@pytest.mark.long
def test_tests_that_do_not_end_fail_by_name(tmp_path, monkeypatch):
    few_arms(monkeypatch, 0)
    record, _ = judged(tmp_path, HANGS)
    assert record.verdict is Verdict.FAILED
    assert ReasonCode.ARM_TIMEOUT in {reason.code for reason in record.reasons}


@pytest.mark.long
def test_a_hang_without_the_behaviour_is_a_kill_and_hides_no_other_test(tmp_path, monkeypatch):
    few_arms(monkeypatch, 0)
    record, _ = judged(tmp_path, HANGS_WHEN_BROKEN)
    arms = {test.test.partition("::")[2]: test.arms for test in record.stages.mutation.tests}
    assert arms["test_hangs"]["removal-1"] == "failed: timeout"
    assert arms["test_record"]["removal-1"] == "failed: raised"
    assert ReasonCode.ARM_TIMEOUT not in {reason.code for reason in record.reasons}


@pytest.mark.long
def test_a_crash_without_the_behaviour_is_a_kill_and_hides_no_other_test(tmp_path):
    record, ran = judged(tmp_path, CRASHES_WHEN_BROKEN + NEVER_GREEN, "test_red")
    arms = {test.test.partition("::")[2]: test.arms for test in record.stages.mutation.tests}
    assert arms["test_hangs"]["removal-2"] == "failed: crash"
    assert arms["test_record"]["removal-2"] == "failed: raised"
    assert ReasonCode.FORGED_REPORT not in {reason.code for reason in record.reasons}
    assert {name for name in ran if name.startswith("removal-1,test-")} >= {"removal-1,test-1", "removal-1,test-2"}
