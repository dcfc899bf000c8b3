"""Paths of a run that the disk refuses while the run is at work, or when it is read: one trial, one line."""

import json
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from harness.agents.protocol import AgentContext, Finish
from harness.agents.trajectory import Ending, ObservationRecord, Trajectory
from harness.sandbox.protocol import CommandResult, Sandbox
from tests.support.command import Done, typed
from tests.support.runs_here import TASK, RunsHere, runs_here

GOES_ON = "one trial is unscored in one line; the others go on"
NOBODY = 65534
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it starts a run as somebody else")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunsHere]:
    with TemporaryDirectory() as folder, runs_here(Path(folder)) as runs:  # pytest's own are for its user alone
        monkeypatch.setenv("TESTWRIGHT_CACHE", f"{folder}/cache")
        yield runs


def start(here: RunsHere, scaffold: str = "nop", attempts: int = 2) -> Done:
    """`testwright run` in a directory that may have a run already."""
    options = ("--sandbox", "here", "--extend", "--tries", "1", "--json")
    words = ("run", "-t", TASK, "-s", scaffold, "-k", str(attempts), "-o", "run", *options)
    return typed("--catalog", "catalog", *words, cwd=here.directory)


def lines_of(done: Done) -> list[tuple[str, str]]:
    """Return each trial's verdict, and why."""
    assert "Traceback" not in done.complaint
    trials = json.loads(done.output)["trials"]
    return [(trial["verdict"], *(reason["words"] for reason in trial["reasons"])) for trial in trials]


EMPTY = ("failed", "the patch is empty")


@pytest.mark.fault("-o is removed while the run is at work", "the run ends with one line, without a traceback")
def test_a_run_whose_directory_is_removed_ends_with_one_line(here: RunsHere) -> None:
    async def removes(_context: AgentContext, _sandbox: Sandbox, _trajectory: Trajectory) -> Finish:
        shutil.rmtree(here.output)
        return Finish(Ending.SUBMITTED)

    here.agent("removes", removes)
    done = start(here, "removes")
    assert done.status == 2
    assert "Traceback" not in done.complaint
    told = done.complaint.strip().splitlines()[-1]
    assert told.startswith(f"testwright: {here.output}")
    assert "No such file or directory" in told


@pytest.mark.fault("a file of a trial reaches the limit of a file's size (EFBIG)", GOES_ON)
def test_a_limit_of_file_sizes_costs_the_trial_that_reaches_it(here: RunsHere) -> None:
    works: list[int] = []

    async def says_much(_context: AgentContext, _sandbox: Sandbox, trajectory: Trajectory) -> Finish:
        works.append(1)
        record = ObservationRecord.of(1, "x" * 100_000, CommandResult(0, b"", 0, False, 0.0))
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        if len(works) == 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
        try:
            trajectory.add(record)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        return Finish(Ending.SUBMITTED)

    here.agent("talks", says_much)
    done = start(here, "talks")
    first, second = lines_of(done)
    trajectory = here.store("talks", 1).trajectory
    assert first[0] == "unscored"
    assert first[1].startswith(f"{trajectory}: File too large; mend that and start again")
    assert second == EMPTY
    assert done.status == 1
    assert lines_of(start(here, "talks")) == [EMPTY, EMPTY]
    assert len(works) == 3, "only what was cut short is done again"


@pytest.mark.fault(
    "a record of a trial gives an error when it is read (EIO)", "the verdict is the same, no agent works again"
)
@pytest.mark.parametrize("name", ["trial.json", "agent.json", "verdict.json", "usage.json"])
def test_a_record_that_the_disk_does_not_read_changes_nothing(here: RunsHere, name: str) -> None:
    assert lines_of(start(here)) == [EMPTY, EMPTY]
    file = here.store().directory / name
    file.unlink()
    cannot_be_read(file)
    assert lines_of(start(here)) == [EMPTY, EMPTY]
    assert works_of(here) == 1
    assert typed("show", "run", cwd=here.directory).status == 0


@pytest.mark.fault("a patch gives an error when it is read (EIO)", GOES_ON)
def test_a_patch_that_the_disk_does_not_read_costs_its_trial(here: RunsHere) -> None:
    patch = judged_no_more(here)
    kept = patch.rename(here.directory / "kept")
    cannot_be_read(patch)
    assert_unreadable(start(here), f"{patch}: Input/output error")
    patch.unlink()
    kept.rename(patch)
    assert lines_of(start(here)) == [EMPTY, EMPTY]
    assert works_of(here) == 1


@AS_ROOT
@pytest.mark.fault("a patch has mode 000", f"{GOES_ON}; the line says to make it readable")
def test_a_patch_that_may_not_be_read_is_to_be_made_readable(here: RunsHere) -> None:
    patch = judged_no_more(here)
    patch.chmod(0)
    with as_somebody_else(here.directory):
        refused = start(here)
    assert_unreadable(refused, f"{patch}: Permission denied")
    patch.chmod(0o644)
    assert lines_of(start(here)) == [EMPTY, EMPTY]
    assert works_of(here) == 1


@AS_ROOT
@pytest.mark.fault("a trial's directory has mode 000 when its run starts again", GOES_ON)
def test_a_trial_that_may_not_be_read_costs_that_trial_and_the_run_goes_on(here: RunsHere) -> None:
    start(here)
    trial = here.store().directory
    verdict = (trial / "verdict.json").read_bytes()
    trial.chmod(0)
    with as_somebody_else(here.directory):
        refused = start(here, attempts=3)
    trial.chmod(0o755)
    why = f"{trial / 'trial.json'}: Permission denied; mend that and start again"
    assert (refused.status, lines_of(refused)) == (1, [("unscored", why), EMPTY, EMPTY])
    assert lines_of(start(here, attempts=3)) == [EMPTY] * 3
    assert (trial / "verdict.json").read_bytes() == verdict
    assert works_of(here) == 1


def judged_no_more(here: RunsHere) -> Path:
    """The patch of the first of two trials, which has lost its verdict."""
    start(here)
    folder = here.store().directory
    (folder / "verdict.json").unlink()
    return folder / "submission" / "patch.diff"


def cannot_be_read(path: Path) -> None:
    path.symlink_to("/proc/self/mem")  # no process has anything at its first byte
    with pytest.raises(OSError, match="Input/output error"):
        path.read_bytes()


def works_of(here: RunsHere) -> int:
    """Return how often the agent of the first trial has worked."""
    return (here.store().directory / "log.txt").read_text().count("agent begins")


def assert_unreadable(done: Done, why: str) -> None:
    (verdict, words), second = lines_of(done)
    assert (done.status, verdict, second) == (1, "unscored", EMPTY)
    assert words.startswith(f"{why}; make it readable, and start again; the agent's work isn't lost")


@contextmanager
def as_somebody_else(directory: Path) -> Iterator[None]:
    """As a user to whom everything in `directory` belongs, and whom modes bind."""
    for path in (directory, *directory.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
