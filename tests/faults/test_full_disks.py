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
