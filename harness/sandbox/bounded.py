"""Output of any length in bounded memory."""

from harness.sandbox.protocol import MAX_OUTPUT_BYTES


class BoundedOutput:
    """Keeps the first `head` and the last `tail` bytes of what is added."""

    def __init__(self, head: int = MAX_OUTPUT_BYTES // 2, tail: int = MAX_OUTPUT_BYTES // 2) -> None:
        self._head_limit = head
        self._tail_limit = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, data: bytes | bytearray | memoryview) -> None:
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # Cut only now and then: each cut moves what is kept.
        if len(self._tail) > 2 * self._tail_limit:
            self._cut()

    @property
    def value(self) -> bytes:
        """Everything, or the head directly followed by the tail."""
        self._cut()
        return bytes(self._head + self._tail)

    @property
    def truncated(self) -> int:
        """How many bytes are missing between head and tail."""
        self._cut()
        return self._dropped

    def _cut(self) -> None:
        surplus = len(self._tail) - self._tail_limit
        if surplus > 0:
            del self._tail[:surplus]
            self._dropped += surplus
