"""`calls.jsonl`: a line for each call, up to a bound."""

from pathlib import Path

from harness.gateway.records import CallRecord

_MOST_BYTES = 16 * 1024**2


class CallLog:
    """Appends to a file while it is below its bound; what comes after is only counted in the trajectory."""

    def __init__(self, path: Path | None, most_bytes: int = _MOST_BYTES) -> None:
        self._file = path.open("ab") if path else None
        self._left = most_bytes

    def add(self, record: CallRecord) -> None:
        line = record.model_dump_json().encode() + b"\n"
        self._left -= len(line)
        if self._file and self._left >= 0:
            self._file.write(line)
            self._file.flush()

    def close(self) -> None:
        if self._file:
            self._file.close()
