"""Keeps the output and reports of arms for people to read, within a run's quota."""

import json
from pathlib import Path

from harness.runs.records import naming, write_whole
from harness.sandbox.protocol import JobResult
from harness.specs.variants import ArmKey


class ArmQuota:
    """Bytes of arms' output that a run may keep; what an earlier start has kept counts. `limit` None: no limit.

    `pattern` finds the kept files below `directory`.
    """

    def __init__(self, directory: Path, limit: int | None, pattern: str = "trials/*/*/*/*/arms/*/*") -> None:
        self._directory = directory
        self._limit = limit
        self._pattern = pattern
        self._used: int | None = None

    def take(self, size: int) -> bool:
        """Whether so many bytes more may be kept; they count from now on if so."""
        if self._limit is None:
            return True
        if self._used is None:
            kept = self._directory.glob(self._pattern)
            self._used = sum(path.stat().st_size for path in kept if path.is_file())
        if self._used + size > self._limit:
            return False
        self._used += size
        return True


def keep_arm(folder: Path, key: ArmKey, result: JobResult, quota: ArmQuota | None = None) -> bool:
    """Keep all that one arm printed and reported; False where the quota left no room and only its facts are kept."""
    place = folder / str(key)
    place.mkdir(parents=True, exist_ok=True)
    files = {path: data for path, data in result.outputs.items() if "/" not in path and not path.startswith(".")}
    files["output.txt"] = result.log
    is_kept = quota is None or quota.take(sum(map(len, files.values())))
    for path, data in files.items() if is_kept else ():
        with naming(place / path):
            (place / path).write_bytes(data)
    facts: dict[str, object] = {
        "exit_status": result.exit_status,
        "timed_out": result.timed_out,
        "seconds": round(result.seconds, 3),
        "out_of_memory": result.out_of_memory,
    }
    write_whole(
        place / "arm.json", json.dumps(facts if is_kept else {**facts, "output": "over quota"}, indent=2) + "\n"
    )
    return is_kept
