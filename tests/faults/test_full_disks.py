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
CONCLUDED = """
records = Trajectory(store.trajectory)
records.add(MessageRecord(step=1, message=Message(role=MessageRole.ASSISTANT, content="ls")))
with (disk / "filling").open("ab", buffering=0) as filling:
    until_full(lambda: filling.write(b"x" * 512))
records.conclude(MessageRecord(step=2, message=Message(role=MessageRole.ASSISTANT, content="ls " * 4000)))
records.keep_beside("agent-stdout.txt", b"said")
records.close()
print(Path(records.cut.filename).name, store.verdict() is not None and store.agent() is not None)
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
from harness.runs.finished_work import AgentFile
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

WHOLE_RUN = """
import json, os, subprocess, sys
from pathlib import Path
disk, beside = map(Path, sys.argv[1:])
catalog = beside / "catalog"
os.environ["TESTWRIGHT_CACHE"] = str(beside / "cache")
os.environ |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(catalog / "repos" / "tiny" / "release")}
import yaml
from harness.agents.protocol import Finish
from harness.agents.registry import AGENTS
from harness.agents.trajectory import Ending, ObservationRecord
from harness.runs.store import find_trials
from harness.specs.usage import Usage
from tests.support.command import typed
from tests.support.tiny_catalog import tiny_catalog
PAGE, works = os.sysconf("SC_PAGESIZE"), []

class FillsTheDisk:
    needs_model = False

    def __init__(self, context):
        self.allowance = context.allowance

    async def work(self, sandbox, trajectory):
        works.append(1)
        await self.allowance.spending.charge(Usage(calls=1, cost_usd=0.01))
        result = await sandbox.run("echo '# more' >> tests/test_tiny.py; echo '[]' > /logs/agent/manifest.yaml", 60)
        record = ObservationRecord.of(1, "", result)
        length = trajectory.path.stat().st_size + len(record.model_dump_json()) + 1
        trajectory.add(record.model_copy(update={"command": "x" * (-length % PAGE)}))  # the next needs another page
        with (disk / "filling").open("ab", buffering=0) as filling:
            try:
                while filling.write(b"x" * PAGE):
                    pass
            except OSError:
                return Finish(Ending.SUBMITTED)

tiny_catalog(catalog, nonce="")
(catalog / "tasks" / "tiny-add" / "removal.patch").write_text("")  # nobody comes as far as to apply it
AGENTS.register("fills", FillsTheDisk)
scaffold = catalog / "scaffolds" / "fills" / "scaffold.yaml"
scaffold.parent.mkdir()
scaffold.write_text(yaml.safe_dump({"name": "fills", "kind": "control", "title": "Fills", "version": "1.0"}))

def start(least="0"):
    what = ("--catalog", catalog, "run", "-t", "tiny-add", "-s", "fills", "-o", disk / "run")
    options = ("--sandbox", "local", "--min-free-disk", least, "--tries", "1", "--json")
    done = typed(*what, *options, cwd=beside)
    assert done.output, done.complaint
    [trial] = json.loads(done.output)["trials"]
    return done.status, len(works), trial["verdict"], trial["reasons"][0]["words"].partition("; ")[0]

print(start("0.02"))
print(start())
subprocess.run(["mount", "-o", "remount,size=70m", str(disk)], check=True)
print(start())
(disk / "filling").unlink()
print(start())
[store] = find_trials(disk / "run")
print(b"+# more" in store.submission().patch, store.usage().total.cost_usd, store.agent().message)
"""


@pytest.mark.long
@pytest.mark.fault(
    "the disk of a run is full when its agent begins, or when the patch is written",
    "no agent works in vain, and finished work is judged, not paid again",
)
def test_work_that_ends_on_a_full_disk_is_never_paid_twice(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    watched, refused, *judged, kept = run_on_small_disk(place, 30, WHOLE_RUN, place, tmp_path).splitlines()
    no_room = "No space left on device: no room for a submission of up to 63 MB"
    assert (
        watched == f"(1, 0, 'unscored', '{place}/run: 0.0 GB are free, and a trial needs 0.02 GB (--min-free-disk)')"
    )
    assert refused.startswith("(1, 0, 'unscored', "), refused
    assert no_room in refused
    assert judged == ["(0, 1, 'failed', 'the manifest lists no test')"] * 2
    assert kept == "True 0.01 trajectory.jsonl lacks its end: No space left on device"


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
    ("program", "name"),
    [
        (EVENTS, "events.jsonl"),
        (TRAJECTORY, "trajectory.jsonl"),
        (CONCLUDED, "trajectory.jsonl"),
        (VERDICT, "verdict.json"),
    ],
)
def test_a_full_disk_is_told_by_the_files_name_and_what_was_there_stays(
    tmp_path: Path, program: str, name: str
) -> None:
    place = tmp_path / "disk"
    assert run_on_small_disk(place, 512, HEAD + program, place) == f"{name} True"
