"""A provider of models for hidden tests: OpenAI's chat completions, answered as a test says."""

import json
import os
import threading
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.plugins.scripted_provider.dialect import Turn
from harness.plugins.scripted_provider.failures import ErrorAnswer, ErrorKind, RequestRefused
from harness.plugins.scripted_provider.openai_chat import ServedOpenAIChat
from harness.plugins.scripted_provider.scenario import Call, Failure, Reply, ScriptedFault, Tokens

__all__ = ["Call", "ErrorKind", "Failure", "Provider", "Reply", "ScriptedFault", "Tokens"]
GATE_SECONDS = 60.0
CHAT = ServedOpenAIChat()


class Provider:
    """A provider of models that remembers its requests, and answers by a list of replies or by a function."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._replies: deque[Reply] = deque()
        self._answers: Callable[[dict[str, Any]], Reply] | None = None
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._number = 0

    def will(self, *replies: Reply) -> None:
        self._replies.extend(replies)

    def answers(self, does: "Callable[[dict[str, Any]], Reply]") -> None:
        self._answers = does

    def begin(self) -> None:
        """Forget what was asked and what was left to answer, and leave those who still wait."""
        self._over.set()
        with self._lock:
            self._over = threading.Event()
            self.requests, self._answers = [], None
            self._replies.clear()

    def serve(self, port: int) -> None:
        server = ThreadingHTTPServer(("127.0.0.1", port), type("Front", (_Front,), {"provider": self}))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def turn(self, body: "dict[str, Any]") -> Turn:
        with self._lock:
            self.requests.append(body)
            self._number += 1
            number, answers = self._number, self._answers
            reply = self._replies.popleft() if self._replies else None
        if reply is None:
            if answers is None:
                raise RequestRefused("no answer is left for this request")
            reply = answers(body)
        return Turn(reply, body, number)

    @property
    def over(self) -> threading.Event:
        return self._over


class _Front(BaseHTTPRequestHandler):
    provider: Provider
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        self.close_connection = True
        try:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._answer(self._turn(text))
        except RequestRefused as refusal:
            self._refuse(CHAT.error(refusal.kind, refusal.message, refusal.param, refusal.code))
        except OSError:
            pass  # whoever asked has left

    def _turn(self, text: bytes) -> Turn:
        if self.path != CHAT.path:
            raise RequestRefused(f"Invalid URL (POST {self.path})", kind=ErrorKind.NOT_FOUND)
        if self.headers.get("Authorization") != f"Bearer {os.environ['PROVIDER_KEY']}":
            raise RequestRefused("Incorrect API key provided.", kind=ErrorKind.UNAUTHORIZED)
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise RequestRefused("We could not parse the JSON body of your request.")
        CHAT.read(body)
        return self.provider.turn(body)

    def _refuse(self, answer: ErrorAnswer, headers: "dict[str, str] | None" = None) -> None:
        self._begin(answer.status, "application/json", headers or {})
        self._end([json.dumps(answer.body).encode()])

    def _begin(self, status: int, kind: str, headers: "dict[str, str]") -> None:
        self.send_response(status)
        whole = {"Content-Type": kind, "Transfer-Encoding": "chunked", "Connection": "close", **headers}
        for name, value in whole.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, chunks: "list[bytes]") -> None:
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))

    def _end(self, chunks: "list[bytes]") -> None:
        self._send(chunks)
        self.wfile.write(b"0\r\n\r\n")

    def _answer(self, turn: Turn) -> None:
        reply, over = turn.reply, self.provider.over
        if reply.arrived:
            reply.arrived.set()
        if reply.fault is ScriptedFault.HANG:
            over.wait(GATE_SECONDS)
            return
        if reply.error:
            after = reply.error.retry_after
            told = {} if after is None else {"Retry-After": f"{after:g}"}
            self._refuse(CHAT.error(reply.error.kind, reply.error.message), told)
            return
        streams = bool(turn.request.get("stream"))
        whole = CHAT.events(turn) if streams else [json.dumps(CHAT.answer(turn)).encode()]
        if reply.body is not None:
            whole = [reply.body.encode()]
        self._begin(200, "text/event-stream" if streams else "application/json", {})
        first, rest = whole[: len(whole) // 2], whole[len(whole) // 2 :]
        self._send(first)
        if reply.gate:
            reply.gate.wait(GATE_SECONDS)
        if reply.fault is ScriptedFault.STALL:
            over.wait(GATE_SECONDS)
        elif reply.fault is ScriptedFault.TRUNCATED:
            self._end([rest[0][: len(rest[0]) // 2]])
        elif reply.fault is not ScriptedFault.DROP_MIDWAY:
            self._end(rest)
