"""The disk of a run is full while a file of it is written: the error names it, and what was there is whole."""

from pathlib import Path

import pytest

from tests.support.small_disk import run_on_small_disk

HEAD = """
import sys
from pathlib import Path
from harness.agents.trajectory import ObservationRecord, Trajectory, last_record
from harness.models.protocol import Message, MessageRole
from harness.models.replay import MessageRecord
from harness.runs.store import RunStore, find_trials
from harness.runs.trial_store import TrialStore
from tests.support.run_folder import begun, judged, run_folder, worked
disk = Path(sys.argv[1])
run = run_folder(disk / "run")
store = judged(worked(begun(run, "task", "mini")))
def until_full(write):
    while True:
        try:
            write()
        except OSError as error:
            return error
"""
EVENTS = """
import json
runs = RunStore(run)
error = until_full(lambda: runs.event("started", trial="t" * 200))
lines = (run / "events.jsonl").read_text().split("\\n")
kinds = {json.loads(line)["event"] for line in lines[:-1]}
print(Path(error.filename).name, len(lines) > 100 and kinds == {"started"})
"""
TRAJECTORY = """
records = Trajectory(store.trajectory)
records.__enter__()
step = MessageRecord(step=1, message=Message(role=MessageRole.ASSISTANT, content="ls " * 100))
error = until_full(lambda: records.add(step))
print(Path(error.filename).name, store.verdict() is not None and store.agent() is not None)
"""
VERDICT = """
from harness.runs.records import write_whole
before = (store.directory / "verdict.json").read_bytes()
(disk / "filling").write_bytes(b"x")
with (disk / "filling").open("ab", buffering=0) as filling:
    until_full(lambda: filling.write(b"x" * 512))
error = until_full(lambda: write_whole(store.directory / "verdict.json", before * 50))
is_whole = (store.directory / "verdict.json").read_bytes() == before
(disk / "filling").unlink()
write_whole(store.directory / "verdict.json", before)
print(Path(error.filename).name, is_whole and store.verdict() is not None)
"""
READ_ONLY = """
import asyncio, os, subprocess, sys
os.environ["TESTWRIGHT_CACHE"] = sys.argv[1]
subprocess.run(["mount", "-o", "remount,ro", sys.argv[1]], check=True)
from harness.authoring.doctor import _cache
from harness.runs.tries import _is_retryable
from harness.sandbox.host import locked
from harness.specs.errors import ToolFailed
async def wants_lock():
    async with locked("a"):
        pass
try:
    asyncio.run(wants_lock())
except ToolFailed as error:
    print("TESTWRIGHT_CACHE" in str(error) and not _is_retryable(error), end=" ")
[finding] = _cache()
print(finding.health == "missing" and "set TESTWRIGHT_CACHE" in finding.words)
"""
RESERVED = """
from harness.runs.records import AgentFile
from harness.specs.errors import ToolFailed
from harness.specs.usage import NO_USAGE
from harness.judging.submission.extraction import Submission
trial = begun(run, "task", "mini", attempt=2)
trial.reserve(60_000, 4_000)
filling = (disk / "filling").open("ab", buffering=0)
full = until_full(lambda: filling.write(b"x" * 512))
agent = AgentFile(ending="submitted", steps=3, usage=NO_USAGE, seconds=9.0)
trial.keep_submission(Submission(b"d" * 60_000, b"- a test", ""), agent)
kept = len(trial.submission().patch) == 60_000 and trial.agent().ending == "submitted"
until_full(lambda: filling.write(b"x" * 512))
try:
    begun_late = TrialStore(run / "trials/task/mini/none/3")
    begun_late.reserve(60_000, 4_000)
except ToolFailed as error:
    told = "No space left on device: no room for a submission of up to" in str(error)
print(Path(full.filename or "filling").name, kept and told and not list(begun_late.directory.rglob(".*partial")))
"""


@pytest.mark.fault(
    "the disk of a run fills up while an agent works", "its submission has its room; the next agent isn't begun"
)
def test_a_submission_has_its_room_on_a_disk_that_fills_up(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    assert run_on_small_disk(place, 512, HEAD + RESERVED, place) == "filling True"


@pytest.mark.fault("the cache is read-only", "no wait and no further try; the line says what to set")
def test_a_read_only_cache_is_told_with_what_to_set(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    assert run_on_small_disk(place, 512, READ_ONLY, place) == "True True"


@pytest.mark.fault(
    "the disk is full while a file of a run is written", "the file is named; what was written stays whole"
)
@pytest.mark.parametrize(
    ("program", "name"), [(EVENTS, "events.jsonl"), (TRAJECTORY, "trajectory.jsonl"), (VERDICT, "verdict.json")]
)
def test_a_full_disk_is_told_by_the_files_name_and_what_was_there_stays(
    tmp_path: Path, program: str, name: str
) -> None:
    place = tmp_path / "disk"
    assert run_on_small_disk(place, 512, HEAD + program, place) == f"{name} True"
