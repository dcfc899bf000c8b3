"""A provider on loopback: a real HTTP server that answers in OpenAI's chat format."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    status: int
    body: bytes


@dataclass
class ChatServer:
    """`requests` are the bodies that came in, in order; the last reply is given again to whoever asks for more."""

    replies: Sequence[Reply]
    requests: list[Any] = field(default_factory=list)
    url: str = ""

    def next_reply(self, request: Any) -> Reply:
        self.requests.append(request)
        return self.replies[min(len(self.requests), len(self.replies)) - 1]


def answer(message: dict[str, Any], usage: dict[str, Any] | None = None, finish: str = "stop") -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    counts = usage or {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return Reply(200, json.dumps({**body, "usage": counts}).encode())


def failure(status: int, message: str, code: str | None = None) -> Reply:
    return Reply(status, json.dumps({"error": {"message": message, "type": "t", "code": code}}).encode())


@contextmanager
def serve(*replies: Reply) -> Iterator[ChatServer]:
    chat = ChatServer(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            status, body = chat.next_reply(json.loads(self.rfile.read(length)))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    chat.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
