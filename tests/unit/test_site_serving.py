"""`testwright view`: what it answers, and to whom."""

import asyncio
import http.client
import json
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.models.replay import now
from harness.results.site.build import SiteBuilder
from harness.results.site.serving import at_work, files_seen, follow, listening
from harness.runs.at_work import AT_WORK, AtWork, AtWorkFile
from harness.runs.outcome import Phase, Progress, Stand, TrialEvent, TrialOutcome
from harness.runs.plan import Trial
from harness.runs.trial_store import UsageFile
from harness.sandbox.protocol import Image
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.usage import Usage
from tests.support.fake_engine import FakeEngine
from tests.support.run_folder import begun, judged, run_folder, worked
from tests.support.runs_here import runs_here


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


def test_only_what_shows_a_change_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.results.site.serving._SECONDS", 0.05)
    run = run_folder(tmp_path / "run")
    store = worked(begun(run, "a", "mini", "openai/one"))
    judged(worked(begun(run, "b", "mini", "openai/one")))
    judged(worked(begun(run, "b", "codex", "openai/one")))
    builder = SiteBuilder([run], tmp_path / "site", is_live=True)
    builder.build()
    site = tmp_path / "site"
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*.html")}
    page = site / "trials" / "a" / "mini" / "openai-one" / "1.html"
    assert "no verdict" in page.read_text()
    assert "connect-src" in page.read_text()
    stop = threading.Event()
    thread = threading.Thread(target=follow, args=(builder, stop))
    seen = files_seen([run])
    judged(store)
    assert files_seen([run]) != seen
    thread.start()
    # What was seen at first is seen in `follow`: so something more has to change there.
    for number in range(400):
        (run / "events.jsonl").write_text(f"{number}\n" * number)
        if stop.wait(0.05) is False and 'class="verdict resolved"' in page.read_text():
            break
    stop.set()
    thread.join()
    assert 'class="verdict resolved"' in page.read_text()
    same = {path.relative_to(site).as_posix() for path, time in before.items() if path.stat().st_mtime_ns == time}
    assert {"tasks/b.html", "trials/b/mini/openai-one/1.html", "trials/b/codex/openai-one/1.html"} <= same
    assert not same & {"index.html", "tasks/a.html", "trials/a/mini/openai-one/1.html", "figures.html"}


async def test_a_run_says_how_far_each_trial_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.runs.at_work._SECONDS", 0)
    run = run_folder(tmp_path / "run")
    trial = Trial(Catalog().task("aiosmtpd-proxy-tlv"), Catalog().scaffold("mini"), "openai/one", 2)
    place = trial.place.as_posix()
    file = AtWork(run, total=3)
    stands = (None, Stand(phase=Phase.AGENT, done=4, most=50, usd=0.5), Stand(phase=Phase.JUDGE, done=1, usd=0.25))
    for stand in stands:
        progress = Progress.AT_WORK if stand else Progress.STARTED
        file.observe(trial, TrialEvent(place=place, progress=progress, number=1, stand=stand))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    [found] = at_work([run])
    [shown] = found["trials"]
    assert (shown["phase"], shown["done"], shown["usd"], shown["href"]) == ("judge", 1, 0.75, f"trials/{place}.html")
    assert (found["total"], found["usd"], found["is_lost"]) == (3, 0.75, False)
    usage = UsageFile(agent=Usage(calls=1, cost_usd=1.5))
    file.done(TrialOutcome(place=place, verdict=Verdict.RESOLVED, usage=usage))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    [found] = at_work([run])
    assert (found["trials"], found["ended"], found["usd"]) == ([], {"resolved": 1}, 1.5)
    file.close()
    assert at_work([run]) == []
    file.done(TrialOutcome(place=place, verdict=Verdict.FAILED))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not (run / AT_WORK).exists(), "nothing is written after the end"


def test_a_run_that_was_killed_is_told_as_lost(tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run")
    dead = subprocess.Popen(["true"])
    dead.wait()
    (run / AT_WORK).write_text(AtWorkFile(pid=dead.pid, written=now(), total=2, ended={}).model_dump_json())
    with listening(tmp_path, 0, [run]) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.server_address[1]
        status, data = asked(port, f"/{AT_WORK}", f"localhost:{port}")
        refused = asked(port, f"/{AT_WORK}", "evil.example")[0]
        server.shutdown()
        thread.join()
    assert (status, refused) == (200, 421)
    assert [found["is_lost"] for found in json.loads(data)] == [True]
    (run / AT_WORK).write_text("{")
    assert at_work([run]) == []


def test_what_is_at_work_is_told_while_a_run_goes_on_and_gone_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.runs.at_work._SECONDS", 0)
    told = []

    class Watched(FakeEngine):
        async def image(self, task: Task) -> Image:
            for _ in range(3):  # the file is written once the loop gets round to it
                await asyncio.sleep(0)
            told.append(at_work([here.output]))
            return await super().image(task)

    with runs_here(tmp_path) as here:
        engine = here.engine
        here.engine = Watched(engine.script, tree=engine.tree, make_sandbox=engine.make_sandbox)
        here.run(attempts=2)
        [[first], [second]] = told
        assert [(found["total"], found["ended"]) for found in (first, second)] == [(2, {}), (2, {"failed": 1})]
        assert [trial["href"] for trial in second["trials"]] == ["trials/tiny-add/nop/none/2.html"]
        assert not (here.output / AT_WORK).exists()
