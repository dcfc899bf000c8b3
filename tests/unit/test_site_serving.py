"""`testwright view`: what it answers, and to whom."""

import http.client
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.results.site.serving import VERSION, files_seen, follow, listening
from harness.results.site.track_sites import TrackSites
from harness.specs.errors import UserError
from tests.support.run_folder import begun, judged, run_folder, worked


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "index.html").write_text("here")
    (tmp_path / "below").mkdir()
    with listening(tmp_path, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def asked(port: int, path: str, host: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": host})
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_pages_are_served_to_this_machine_alone(port: int) -> None:
    assert asked(port, "/index.html", f"127.0.0.1:{port}") == (200, b"here")
    assert asked(port, "/index.html", f"evil.example:{port}")[0] == 421
    assert asked(port, "/below/", f"127.0.0.1:{port}")[0] == 404
    assert asked(port, "/../../etc/passwd", f"127.0.0.1:{port}")[0] == 404


def test_a_browser_that_hangs_up_is_nothing_to_speak_of(port: int, tmp_path: Path, capsys) -> None:
    (tmp_path / "large.html").write_bytes(b"x" * 50_000_000)
    before = set(threading.enumerate())
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(f"GET /large.html HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        assert client.recv(1)
        serving = set(threading.enumerate()) - before
    for thread in serving:
        thread.join(60)
    assert serving
    assert capsys.readouterr().err == ""


def test_a_port_in_use_is_one_clear_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        in_use = pytest.raises(UserError, match=f"port {number} of 127.0.0.1 is in use")
        with in_use as found, listening(tmp_path, number):
            pass
    assert "\n" not in str(found.value)


def test_the_site_is_built_anew_while_a_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.results.site.serving._SECONDS", 0.05)
    run = run_folder(tmp_path / "run")
    store = worked(begun(run, "a", "mini", "openai/one"))
    builder = TrackSites([run], tmp_path / "site", is_live=True)
    builder.build()
    before, stop = files_seen([run]), threading.Event()
    page = next((tmp_path / "site" / "trials").rglob("1.html"))
    assert "no verdict" in page.read_text()
    assert "connect-src" in page.read_text()
    judged(store)
    assert files_seen([run]) != before
    # What was seen at first is seen in `follow`: so something more has to change there.
    thread = threading.Thread(target=follow, args=(builder, stop))
    thread.start()
    version = tmp_path / "site" / VERSION
    for number in range(400):
        (run / "events.jsonl").write_text(f"{number}\n" * number)
        if version.exists() and stop.wait(0.05) is False:
            break
    stop.set()
    thread.join()
    assert version.read_text() >= "2"
    assert "resolved" in page.read_text()
