"""The control round on real containers: a suite of which arms that run at once vote on a must-have is found out.

What is voted on dies with the arms that hold it. A count that only grows says what right arms have said in the round
as well (docs/validity.md): the round doesn't find `votes-by-packets` out, a mark does.
"""

import asyncio
from pathlib import Path

import pytest

from harness.judging.verify import variants
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.runs.engine_session import EngineSession
from harness.sandbox.protocol import Job
from harness.specs.catalog import Catalog
from harness.specs.grading import ControlRound
from harness.specs.reasons import NoteCode, ReasonCode, Verdict
from harness.specs.task import Task
from harness.tracks.registry import choose_engine
from tests.support.few_arms import few_arms
from tests.support.light_task import TASK, light_catalog
from tests.support.patches import new_test_file

# Of all sockets of the machine none may be another test's.
pytestmark = [pytest.mark.docker, pytest.mark.long, pytest.mark.alone, pytest.mark.timeout(1800)]

ARMS_AT_ONCE = 12
"""More than there are: an arm for which no other one is left would vote alone."""
REWRITTEN = 3
"""With the baseline, a twin and the placebo six arms are right, and of those that vote two are not."""
VOTED = "probe-1.2"
SUITE = '''
import socket
import time
import zlib

from aiosmtpd.proxy_protocol import ProxyTLV

ANSWERS, SOCKETS, ENOUGH = 4, 200, 5
PATIENCE, STAYS = 25, 4


def sockets():
    """How many the whole machine has."""
    with open("/proc/net/sockstat") as file:
        [words] = [line.split() for line in file if line.startswith("TCP:")]
    return int(words[words.index("alloc") + 1])


def until(moment):
    time.sleep(max(0, moment - time.time()))


def counted(mine):
    """How many have each answer. Each answer has a second in which those who have it hold sockets."""
    start = (time.time() // ANSWERS + 1) * ANSWERS
    seen, is_late = [], False
    for answer in range(ANSWERS):
        until(start + answer + 0.2)
        held = [socket.socket() for _ in range(SOCKETS if answer == mine else 0)]
        until(start + answer + 0.5)
        seen.append(sockets())
        is_late |= time.time() > start + answer + 0.75
        until(start + answer + 0.8)
        for each in held:
            each.close()
    return [0 if is_late else round((count - min(seen)) / SOCKETS) for count in seen]


def is_odd(answer):
    """Whether most who ask at the same time have another answer. Says nothing of what is right."""
    mine = zlib.crc32(answer.encode()) % ANSWERS
    began, found = time.time(), []
    while time.time() < began + PATIENCE and sum(found) < ENOUGH:
        found = counted(mine)
    if sum(found) >= ENOUGH:
        for _ in range(STAYS):
            counted(mine)
    return max(found) > found[mine]


def test_several():
    assert ProxyTLV.parse(b"\\x01\\x00\\x02h2\\x02\\x00\\x01a")[0] == {"ALPN": b"h2", "AUTHORITY": b"a"}


def test_long():
    assert not is_odd(repr(ProxyTLV.parse(b"\\x02\\x01\\x2c" + 300 * b"x")[0]))
'''
"""Honest but for one must-have, of which it knows nothing."""


def judged(task: Task, control: ControlRound) -> VerdictRecord:
    async def judge() -> VerdictRecord:
        engine = choose_engine("docker")
        try:
            image = await engine.image(task)
            session = EngineSession(engine, {"testwright.run": "test-votes"}, asyncio.Semaphore(ARMS_AT_ONCE))
            context = session.arm_context(task, image)
            # Each user that arms have at once has an image, which takes longer to make than the first arms wait.
            jobs = (
                engine.run_job(image, Job(("true",)), context.options, session.labels) for _ in range(ARMS_AT_ONCE)
            )
            await asyncio.gather(*jobs)
            submission = new_test_file("aiosmtpd/tests/test_proxy_long.py", SUITE, "test_several", "test_long")
            return (await Judging(task, context, control=control).run(submission)).record
        finally:
            await engine.close()

    return asyncio.run(judge())


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """Its own command would run the suite alone, and find that it passes on a mutant."""
    few_arms(monkeypatch, own_runs=False)
    monkeypatch.setattr(variants, "FEWEST_REWRITTEN", REWRITTEN)
    return Catalog(light_catalog(tmp_path / "catalog")).task(TASK)


def test_votes_are_as_good_as_knowledge_among_all_arms(task: Task) -> None:
    record = judged(task, ControlRound.NONE)
    assert record.verdict is Verdict.UNSCORED
    assert [reason.code for reason in record.reasons] == [ReasonCode.NEEDS_REVIEW], "nothing but its text tells"
    assert NoteCode.INSPECTS_CODE in {note.code for note in record.notes}


def test_votes_among_its_like_are_no_knowledge(task: Task) -> None:
    record = judged(task, ControlRound.ALL)
    assert (record.verdict, record.control) == (Verdict.FAILED, ControlRound.ALL)
    found = {(reason.code, reason.subject) for reason in record.reasons}
    assert (ReasonCode.KILL_NOT_REPEATED, VOTED) in found
    assert {code for code, _ in found} == {ReasonCode.KILL_NOT_REPEATED}
