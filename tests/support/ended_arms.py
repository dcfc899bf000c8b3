"""The arms of judgings that are under way, as a run's directory has them."""

from pathlib import Path

from harness.runs.evidence_file import EndedArm
from harness.runs.records import read_lines


def times_of_ended_arms(run: Path) -> dict[Path, int]:
    """When the arms were written that judgings which are under way have kept: path -> nanoseconds."""
    known = [(path, line) for path in run.rglob("arms.jsonl") for line in read_lines(path, EndedArm)]
    facts = [path.parent / "arms" / str(line.key) / "arm.json" for path, line in known]
    return {path: path.stat().st_mtime_ns for path in facts if path.exists()}
