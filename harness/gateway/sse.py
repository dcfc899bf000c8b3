"""Server-sent events: written, and read from bytes that come in any pieces."""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": working\n\n"
"""A comment, which every reader of events passes over."""
_LONGEST = 64 * 1024**2


def event(data: Json, name: str | None = None) -> bytes:
    return (f"event: {name}\n" if name else "").encode() + f"data: {json.dumps(data)}\n\n".encode()


class EventReader:
    """Cuts a stream at the ends of its events. What it gives back, put together, is the stream as it came."""

    def __init__(self) -> None:
        self._rest = b""
        self._seen = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The events that are whole now, with their ends. Raises ValueError where one is far too long."""
        self._rest += chunk
        while (end := self._end()) is not None:
            whole, self._rest, self._seen = self._rest[:end], self._rest[end:], 0
            yield whole
        self._seen = max(0, len(self._rest) - 3)
        if len(self._rest) > _LONGEST:
            raise ValueError(f"an event of more than {_LONGEST} bytes")

    def rest(self) -> bytes:
        """What came after the last end of an event."""
        return self._rest

    def _end(self) -> int | None:
        ends = [
            at + len(gap) for gap in (b"\n\n", b"\r\n\r\n", b"\r\r") if (at := self._rest.find(gap, self._seen)) >= 0
        ]
        return min(ends, default=None)


def data_of(raw: bytes) -> Json | None:
    """The JSON object in an event; None for a comment, an end mark and anything else."""
    lines = [line for line in raw.decode(errors="replace").splitlines() if line.startswith("data:")]
    try:
        value = json.loads("\n".join(line.removeprefix("data:").removeprefix(" ") for line in lines))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
