"""A reverse proxy for HTTP: passes requests on, later, in pieces or not at all.

Its rules are a JSON object, all of it optional:

    seed    of what is drawn here
    delay   [least, most] seconds before each answer
    once    seconds more for one answer of the first ten
    pieces  bodies go out in so many pieces, a moment apart
    markup  whether pages have more elements and classes than they had (see markup.py)
    refuse  a list of {path: regular expression, how: a status, or "drop" for a connection that breaks off}; a path
            has no query

What it does is the same for every client: nothing here looks at who asks. No WebSocket.
"""

import contextlib
import http.client
import json
import random
import re
import socket
import threading
import time
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from guarded import WAITING
from markup import marked_up

HOP_BY_HOP = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection"}
ONCE_AMONG = 10
PAUSE_SECONDS = 0.02
_REFUSAL = b"The service is not available.\n"


class Application(NamedTuple):
    """The application behind the proxy: its port, and the word by which it knows who may ask (see guarded.py)."""

    port: int
    word: bytes

    def connection(self, seconds: float) -> http.client.HTTPConnection:
        connection = _Knowing("127.0.0.1", self.port, timeout=seconds)
        connection.word = self.word
        return connection


class _Knowing(http.client.HTTPConnection):
    word = b""

    def connect(self) -> None:
        super().connect()
        self.sock.sendall(self.word)


class Log:
    """Lines of JSON, each of them on the disk at once."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a")
        self._lock = threading.Lock()

    def add(self, entry: dict[str, Any]) -> None:
        with self._lock:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()


class Rules:
    """Rules for the next request, drawn by a seed."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._chance, self._lock = random.Random(told.get("seed", 0)), threading.Lock()
        self._delay = told.get("delay", [0, 0])
        self._once = told.get("once", 0)
        self._when = self._chance.randrange(ONCE_AMONG)
        self._count = 0
        self.pieces = told.get("pieces", 1)
        self._markup = told.get("seed", 0) if told.get("markup") else None
        self._refuse = [(re.compile(rule["path"]), rule["how"]) for rule in told.get("refuse", [])]

    def wait(self) -> float:
        """Return the seconds before the next answer."""
        with self._lock:
            self._count += 1
            extra = self._once if self._count - 1 == self._when else 0
            return self._chance.uniform(*self._delay) + extra

    def marked(
        self, status: int, headers: list[tuple[str, str]], body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """Return an answer with more markup, where it is a page and the rules say so."""
        told = Message()
        told["Content-Type"] = next((value for name, value in headers if name.lower() == "content-type"), "")
        if self._markup is None or told.get_content_type() != "text/html":
            return status, headers, body
        encoding = told.get_content_charset("utf-8")
        # One that is compressed, or in another encoding than it says, stays as it is.
        with contextlib.suppress(LookupError, UnicodeError):
            body = marked_up(body.decode(encoding), self._markup).encode(encoding)
        return status, [(name, value) for name, value in headers if name.lower() != "content-length"], body

    def refusal(self, path: str) -> "int | str | None":
        """Return how a path is refused, whatever its query."""
        plain = path.partition("?")[0]
        return next((how for pattern, how in self._refuse if pattern.search(plain)), None)


class _Passing(BaseHTTPRequestHandler):
    to: Application
    rules: Rules
    log: Log
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    """Else a body waits some 40 ms for the browser to acknowledge its headers, which are sent before it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._pass
        raise AttributeError(name)

    def log_message(self, *_: object) -> None:
        """The log is our own."""

    def _pass(self) -> None:
        try:
            body = self._body()
        except ValueError:
            self.close_connection = True
            self._answer(400, [("Content-Type", "text/plain")], b"The body of the request ends too early.\n")
            return
        time.sleep(self.rules.wait())
        refusal = self.rules.refusal(self.path)
        if refusal == "drop":
            self.log.add({"method": self.command, "path": self.path, "dropped": True})
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if refusal is not None:
            self._answer(int(refusal), [("Content-Type", "text/plain")], _REFUSAL)
            return
        try:
            answer = self._ask(body)
        except (OSError, http.client.HTTPException):
            answer = 502, [("Content-Type", "text/plain")], _REFUSAL
        self._answer(*self.rules.marked(*answer))

    def _body(self) -> bytes:
        """Return a request's body. Raises ValueError for one in pieces that isn't whole."""
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # headers behind the body
        return b"".join(pieces)

    def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = self.to.connection(60)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.log.add({"method": self.command, "path": self.path, "status": status})
        # Whoever reads no further doesn't matter.
        with contextlib.suppress(ConnectionError):
            self._send_answer(status, headers, body)

    def _send_answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        has_body = status >= 200 and status not in (204, 304) and self.command != "HEAD"
        own = HOP_BY_HOP if self.command == "HEAD" else HOP_BY_HOP | {"content-length"}
        for name, value in headers:
            if name.lower() not in own:
                self.send_header(name, value)
        in_pieces = self.rules.pieces > 1 and has_body
        if in_pieces:
            self.send_header("Transfer-Encoding", "chunked")
        elif has_body:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if in_pieces:
            self._send_pieces(body)
        elif has_body:
            self.wfile.write(body)

    def _send_pieces(self, body: bytes) -> None:
        size = max(1, -(-len(body) // self.rules.pieces))
        for start in range(0, len(body), size):
            piece = body[start : start + size]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            time.sleep(PAUSE_SECONDS)
        self.wfile.write(b"0\r\n\r\n")


class _Server(ThreadingHTTPServer):
    request_queue_size = WAITING


def proxy_server(port: int, to: Application, told: dict[str, Any], log: Log) -> ThreadingHTTPServer:
    """Return a server on the loopback device. Raises OSError where its port is taken."""
    passing = type("Passing", (_Passing,), {"to": to, "rules": Rules(told), "log": log})
    return _Server(("127.0.0.1", port), passing)
