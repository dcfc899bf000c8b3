"""Runs a Python program whose servers answer only those that know a word, or one that becomes a program of Node.

    STAGE_WORD=HEX python3 guarded.py PROGRAM [ARGUMENT...]

The tests' container shares the loopback network, so that its tests could look for the application's own port and go
past the proxy. Each connection that a server of the program accepts must begin with the word, which is passed on to
nobody. One that doesn't is closed, and the program never has it. A program of Node that this one becomes, by
`os.execv`, gets the same guard (guarded.cjs).
"""

import hmac
import os
import runpy
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

SECONDS = 20
"""How long a connection may take to say the word; the proxy says it at once."""
WAITING = 128
"""Connections that may wait to be accepted. Beyond Python's 5 one is dropped, and tried again a second later."""


def guard(word: bytes) -> None:
    """Have each server of this process accept only connections that begin with the word.

    The others wait while one says it, so more of them may wait than the program provides for.
    """
    accept, listen = socket.socket.accept, socket.socket.listen

    def guarded(self: socket.socket) -> "tuple[socket.socket, Any]":
        connection, address = accept(self)
        if not says(connection, word):
            connection.close()
            # Servers know this one: it is what accept() raises for a connection that is gone again.
            raise ConnectionAbortedError(f"{address} doesn't know the word")
        return connection, address

    def roomy(self: socket.socket, backlog: int = WAITING) -> None:
        listen(self, max(backlog, WAITING))

    socket.socket.accept = guarded  # type: ignore[method-assign]
    socket.socket.listen = roomy  # type: ignore[method-assign]
    os.execv = lambda path, words: become(path, words, word)  # type: ignore[assignment]


def become(path: str, words: Sequence[str], word: bytes) -> NoReturn:
    """Become a program of Node. No other program that this one starts is told the word, or needs it."""
    options = f"--require {Path(__file__).with_name('guarded.cjs')}"
    os.execve(path, words, {**os.environ, "STAGE_WORD": word.hex(), "NODE_OPTIONS": options})


def says(connection: socket.socket, word: bytes) -> bool:
    """Return whether a connection begins with the word; no more than that is read."""
    usual, said = connection.gettimeout(), b""
    connection.settimeout(SECONDS)
    try:
        while len(said) < len(word) and (part := connection.recv(len(word) - len(said))):
            said += part
    except OSError:
        return False
    connection.settimeout(usual)
    return hmac.compare_digest(said, word)


if __name__ == "__main__":
    guard(bytes.fromhex(os.environ.pop("STAGE_WORD")))
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
