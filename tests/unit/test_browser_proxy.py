"""The program that has an application beside an arm: it serves it through our proxy, by the rules of its settings."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from harness.plugins.browser.application import PROGRAM, data_directory

SERVE = Path(__file__).parents[2] / "harness" / "plugins" / "browser" / "in_container" / "serve.py"
READY = "testwright: ready\n"


@dataclass
class Served:
    """`said` is what the program printed before it was ready, or all of it where it never was."""

    url: str
    log: Path
    process: "subprocess.Popen[str]"
    said: str

    def ask(self, path: str, body: object = None) -> tuple[int, bytes]:
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, data), timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    @property
    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def served(
    place: Path, port: int = 0, program: tuple[str, ...] = PROGRAM, until: str = READY, **proxy: Any
) -> Iterator[Served]:
    port = port or free_port()
    settings = place / "settings.json"
    settings.write_text(json.dumps({"program": program, "health": "/healthz", "port": port, "proxy": proxy}))
    env = {**os.environ, "TESTWRIGHT_REPORT_DIR": str(place / "report"), "TMPDIR": str(place)}
    process = subprocess.Popen(
        [sys.executable, str(SERVE), str(settings)],
        cwd=data_directory() / "deskapp" / "app",
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    with process, process.stdout:
        try:
            said = []
            for line in process.stdout:
                if line == until:
                    break
                said.append(line)
            yield Served(f"http://127.0.0.1:{port}", place / "report" / "stage.jsonl", process, "".join(said))
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_requests_are_passed_on_and_logged(tmp_path: Path) -> None:
    with served(tmp_path) as stage:
        status, body = stage.ask("/api/todos", {"title": "Dust"})
        assert (status, json.loads(body)["title"]) == (201, "Dust")
        assert stage.ask("/api/todos/999")[0] == 404
        assert [(entry["method"], entry["path"], entry["status"]) for entry in stage.logged] == [
            ("POST", "/api/todos", 201),
            ("GET", "/api/todos/999", 404),
        ]


def test_answers_come_late_and_in_pieces_and_are_the_same(tmp_path: Path) -> None:
    with served(tmp_path, delay=[0.2, 0.2], once=0.3, pieces=3) as stage:
        began = time.monotonic()
        answers = [stage.ask("/static/todos.js") for _ in range(3)]
        assert time.monotonic() - began >= 3 * 0.2
        text = (data_directory() / "deskapp" / "app" / "deskapp" / "static" / "todos.js").read_bytes()
        assert answers == [(200, text)] * 3


def test_pages_get_more_markup_and_nothing_else_does(tmp_path: Path) -> None:
    with served(tmp_path, markup=True, seed=1) as stage:
        status, body = stage.ask("/clients")
        assert status == 200
        assert b'<template shadowrootmode="closed">' in body
        assert "Müller GmbH</td>" in body.decode()
        text = (data_directory() / "deskapp" / "app" / "deskapp" / "static" / "todos.js").read_bytes()
        assert stage.ask("/static/todos.js") == (200, text)


def test_what_is_refused_is_refused_and_nothing_else(tmp_path: Path) -> None:
    refuse = [{"path": "^/api/", "how": 503}, {"path": "^/$", "how": "drop"}]
    with served(tmp_path, refuse=refuse) as stage:
        assert stage.ask("/api/todos")[0] == 503
        for path in ("/", "/?from=tests"):
            with pytest.raises((OSError, HTTPException)):
                stage.ask(path)
        assert stage.ask("/reports")[0] == 200


ECHO = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = "<!doctype html><main><p>Müller &amp; é</p></main>"
SENT = {
    "/latin": ("text/html; charset=latin-1", PAGE.encode("latin-1")),
    "/mixed": ("text/html; charset=utf-8", PAGE.encode("latin-1")),
}

class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        kind, body = SENT.get(self.path, ("text/html", PAGE.encode()))
        self.sent(kind, body)

    do_HEAD = do_GET

    def do_POST(self):
        self.sent("text/plain", self.rfile.read(int(self.headers["Content-Length"])))

    def sent(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Echo).serve_forever()
"""
PAGE = "<!doctype html><main><p>Müller &amp; é</p></main>"


@pytest.fixture
def echo(tmp_path: Path) -> tuple[str, ...]:
    """A program that sends back what it got, and pages in several encodings."""
    (tmp_path / "echo.py").write_text(ECHO)
    return (str(tmp_path / "echo.py"), *PROGRAM[1:])


def test_a_body_without_a_length_arrives_whole(tmp_path: Path, echo: tuple[str, ...]) -> None:
    with served(tmp_path, program=echo) as stage:
        connection = HTTPConnection(stage.url.removeprefix("http://"), timeout=20)
        connection.request("POST", "/", iter([b"one ", b"two"]), encode_chunked=True)
        assert connection.getresponse().read() == b"one two"
        connection.request("GET", "/", headers={"Connection": "close"})
        assert connection.getresponse().read().decode() == PAGE


def test_a_body_that_ends_in_the_middle_of_a_piece_is_refused(tmp_path: Path, echo: tuple[str, ...]) -> None:
    with served(tmp_path, program=echo) as stage:
        connection = HTTPConnection(stage.url.removeprefix("http://"), timeout=20)
        connection.request("POST", "/", b"many\r\n", {"Transfer-Encoding": "chunked"})
        assert connection.getresponse().status == 400


def test_the_length_of_what_a_head_does_not_send_is_told(tmp_path: Path, echo: tuple[str, ...]) -> None:
    with served(tmp_path, program=echo) as stage:
        request = urllib.request.Request(stage.url + "/", method="HEAD")
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert int(answer.headers["Content-Length"]) == len(PAGE.encode())


def test_a_page_in_another_encoding_gets_its_markup_and_one_in_none_stays(
    tmp_path: Path, echo: tuple[str, ...]
) -> None:
    with served(tmp_path, program=echo, markup=True, seed=1) as stage:
        for path, encoding in (("/latin", "latin-1"), ("/", "utf-8")):
            text = stage.ask(path)[1].decode(encoding)
            assert "Müller &amp; é</p>" in text
            assert "data-x" in text
        assert stage.ask("/mixed") == (200, PAGE.encode("latin-1"))


def telling(told: Path) -> tuple[str, ...]:
    """Return a program that writes its port, and the word if it has one, to a file and becomes the application."""
    program = told.with_name("tells_its_port.py")
    program.write_text(
        "import os, sys, pathlib; sys.path.insert(0, os.getcwd())\n"
        f"pathlib.Path({str(told)!r}).write_text(sys.argv[2] + ' ' + os.environ.get('STAGE_WORD', ''))\n"
        "from deskapp.__main__ import main\nmain()\n"
    )
    return (str(program), *PROGRAM[1:])


def test_an_application_that_has_begun_a_line_gets_ready(tmp_path: Path) -> None:
    program = tmp_path / "begins_a_line.py"
    program.write_text(
        "import os, sys; sys.path.insert(0, os.getcwd())\n"
        "from deskapp.__main__ import main\n"
        "sys.stdout.write('Listening ...'); sys.stdout.flush()\nmain()\n"
    )
    with served(tmp_path, program=(str(program), *PROGRAM[1:])) as stage:
        # What the program says of an application that takes long may follow on the same line.
        assert "Listening ..." in stage.said
        assert READY.strip() not in stage.said
        assert stage.ask("/healthz")[0] == 200


def test_an_application_answers_nobody_but_the_proxy(tmp_path: Path) -> None:
    with served(tmp_path, program=telling(tmp_path / "told")) as stage:
        port, *word = (tmp_path / "told").read_text().split()
        assert not word
        asks = b"GET /healthz HTTP/1.0\r\n\r\n"
        for first in (b"", asks, bytes(16) + asks):
            with socket.create_connection(("127.0.0.1", int(port)), 20) as past:
                with suppress(OSError):  # it may have been closed by then
                    past.sendall(first)
                    past.shutdown(socket.SHUT_WR)
                assert said_by(past) == b""
        assert stage.ask("/healthz")[0] == 200


def test_connections_wait_while_one_has_not_said_the_word(tmp_path: Path) -> None:
    with served(tmp_path, program=telling(tmp_path / "told")) as stage, ExitStack() as silent:
        port = int((tmp_path / "told").read_text())
        for _ in range(20):  # a server of Python's lets 5 wait, and the next ones not even connect
            silent.enter_context(socket.create_connection(("127.0.0.1", port), 5))
        silent.close()
        assert stage.ask("/healthz")[0] == 200


def test_an_asynchronous_application_does_not_either(tmp_path: Path) -> None:
    program = tmp_path / "asynchronous.py"
    program.write_text(
        "import asyncio, pathlib, sys\n"
        "async def answer(reader, writer):\n"
        "    await reader.readuntil(b'\\r\\n\\r\\n')\n"
        "    writer.write(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nhi')\n"
        "    await writer.drain()\n"
        "    writer.close()\n"
        "async def main():\n"
        f"    pathlib.Path({str(tmp_path / 'told')!r}).write_text(sys.argv[1])\n"
        "    server = await asyncio.start_server(answer, '127.0.0.1', int(sys.argv[1]))\n"
        "    await server.serve_forever()\n"
        "asyncio.run(main())\n"
    )
    with served(tmp_path, program=(str(program), "{port}")) as stage:
        with socket.create_connection(("127.0.0.1", int((tmp_path / "told").read_text())), 20) as past:
            past.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert said_by(past) == b""
        assert stage.ask("/") == (200, b"hi")


IN_NODE = """
const fs = require("node:fs"), http = require("node:http"), [port, told] = process.argv.slice(2);
http.createServer((request, response) => {
    let said = "";
    request.on("data", (part) => { said += part; });
    request.on("end", () => response.end(`${request.method} ${request.url} ${said}`));
}).listen(Number(port), "127.0.0.1");
fs.writeFileSync(told, `${port} ${process.env.STAGE_WORD || ""}${process.env.NODE_OPTIONS || ""}`);
"""


def test_a_program_that_becomes_one_of_node_does_not_either(tmp_path: Path) -> None:
    node, _ = compute_driver_executable()
    (tmp_path / "server.cjs").write_text(IN_NODE)
    program = tmp_path / "becomes.py"
    program.write_text(
        "import os, sys\n"
        f"os.execv({node!r}, [{node!r}, {str(tmp_path / 'server.cjs')!r}, sys.argv[1], {str(tmp_path / 'told')!r}])\n"
    )
    with served(tmp_path, program=(str(program), "{port}")) as stage:
        port, *word = (tmp_path / "told").read_text().split()
        assert not word
        asks = b"GET /past HTTP/1.0\r\n\r\n"
        for first in (b"", b"half", asks, bytes(16) + asks):
            with socket.create_connection(("127.0.0.1", int(port)), 20) as past:
                with suppress(OSError):  # it may have been closed by then
                    past.sendall(first)
                    past.shutdown(socket.SHUT_WR)
                assert said_by(past) == b""
        assert stage.ask("/") == (200, b"GET / ")
        assert stage.ask("/notes", "x" * 100_000) == (200, b'POST /notes "' + b"x" * 100_000 + b'"')


def said_by(connection: socket.socket) -> bytes:
    """All that a server says until it closes; nothing where it breaks off."""
    with suppress(ConnectionError), connection.makefile("rb") as stream:
        return stream.read()
    return b""


def test_an_application_that_ended_is_logged_and_the_proxy_stays(tmp_path: Path) -> None:
    with served(tmp_path) as stage:
        assert stage.ask("/api/quit", {})[0] == 202
        while not any("ended" in entry for entry in stage.logged):
            assert stage.ask("/healthz")[0] in (200, 502)
        assert stage.ask("/healthz")[0] == 502
        assert stage.process.poll() is None


def test_one_that_never_gets_ready_says_why(tmp_path: Path) -> None:
    program = tmp_path / "ends.py"
    program.write_text("print('no such table'); raise SystemExit(3)")
    with served(tmp_path, program=(str(program), "--some")) as stage:
        assert "no such table\n" in stage.said
        assert stage.said.endswith(f"the application ended with status 3: {program} --some\n")


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, served(tmp_path, port=taken.getsockname()[1]) as stage:
        assert stage.said.endswith(f"port {taken.getsockname()[1]}: Address already in use\n")


def test_a_health_check_that_fails_is_told_once(tmp_path: Path) -> None:
    program = tmp_path / "fails_first.py"
    program.write_text(
        "import http.server as h, sys; n = iter('xxx')\n"
        "class H(h.BaseHTTPRequestHandler):\n"
        " def do_GET(self): self.send_response(503 if next(n, '') else 200); self.end_headers()\n"
        " def log_message(self, *a): pass\n"
        "h.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()"
    )
    with served(tmp_path, program=(str(program), "{port}")) as stage:
        assert stage.said.strip().splitlines()[-1] == "GET /healthz: status 503"
        assert stage.said.count("status 503") == 1
