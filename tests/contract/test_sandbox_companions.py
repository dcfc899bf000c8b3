"""Companions: a second container beside a job, which shares its loopback network and nothing else."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import docker
import pytest

from harness.sandbox.protocol import READY, Companion, Engine, Image, Job, JobResult, LimitReached, PlacedFile
from harness.specs.errors import EndedFromOutside, ImageUnavailable, SandboxLost, UserError
from tests.support.sandboxes import OPTIONS, RUN, eventually, labels, labels_here, processes_with

LABELS = labels("companion")
SERVES = f"mkfifo /tmp/held; echo '{READY}'; exec sleep {RUN}8660.5"
NAMESPACE = "readlink /proc/self/ns/net"


def companion(image: Image, script: str, seconds: float = 30, *files: PlacedFile) -> Companion:
    return Companion(image, Job(("bash", "-c", script), files, seconds=seconds), OPTIONS)


async def run(engine: Engine, script: str, beside: Companion, seconds: float = 30) -> JobResult:
    job = Job(("bash", "-c", script), seconds=seconds, companion=beside)
    return await engine.run_job(beside.image, job, OPTIONS, LABELS)


def left_behind(kind: str) -> list[object]:
    if kind != "docker":
        return [directory for directory, of_it in labels_here(kind) if of_it.items() >= LABELS.items()]
    client = docker.from_env()
    try:
        return list(client.api.containers(all=True, filters={"label": [f"testwright.test=companion-{RUN}"]}))
    finally:
        client.close()


@pytest.fixture(autouse=True)
def _offered(engine: Engine, request: pytest.FixtureRequest) -> None:
    if not engine.capabilities.companions and request.node.originalname != "test_who_offers_none_says_so":
        pytest.skip("this sandbox offers no companions, which has a test of its own")


async def test_a_job_shares_its_companions_network_and_no_file(engine: Engine, image: Image, kind: str) -> None:
    script = f"{NAMESPACE} > $TESTWRIGHT_REPORT_DIR/net; echo kept; : > /app/of-the-companion; {SERVES}"
    secret = PlacedFile("/app/secret", b"of the companion\n")
    result = await run(
        engine,
        f"{NAMESPACE}; ls /app; getent hosts localhost >&2; test ! -e /tmp/held; echo $?; "
        "(: > /dev/tcp/192.0.2.1/80) 2>/dev/null || echo no way out",
        companion(image, script, 30, secret),
    )
    told = result.log.decode().splitlines()
    assert result.companion
    assert result.companion.outputs["net"].decode().strip() == told[0]
    assert told[1] == "present.txt"
    assert told[-2:] == ["0", "no way out"]
    assert b"kept" in result.companion.log
    assert processes_with(f"{RUN}8660.5") == []
    assert left_behind(kind) == []


async def test_the_job_reaches_what_its_companion_serves(engine: Engine, image: Image) -> None:
    """In bash alone: it can connect, and can't listen; so perl, which every Debian has, serves."""
    serve = (
        "perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => q(127.0.0.1),"
        f" LocalPort => 4661) or die; $| = 1; print qq({READY}\\n); while (my $c = $s->accept) {{"
        " print $c qq(hello\\n); close $c }'"
    )
    ask = "exec 3<>/dev/tcp/127.0.0.1/4661; cat <&3"
    found = [await run(engine, ask, companion(image, serve)) for _ in range(2)]
    assert [result.log for result in found] == [b"hello\n", b"hello\n"]  # the port was free again, in another network


@pytest.mark.parametrize("script", ["echo broken >&2; exit 3", "echo broken; sleep 60"])
async def test_one_that_does_not_get_ready_says_what_it_printed(engine: Engine, image: Image, script: str) -> None:
    with pytest.raises(ImageUnavailable, match="broken"):
        await run(engine, "echo never", companion(image, script, 0.2))


async def test_a_companion_that_ends_loses_the_job(engine: Engine, image: Image, kind: str) -> None:
    with pytest.raises(EndedFromOutside):
        await run(engine, f"sleep {RUN}8661.5", companion(image, f"echo '{READY}'; exit 0"))
    assert processes_with(f"{RUN}8661.5") == []
    assert left_behind(kind) == []


async def test_a_companion_that_fills_the_disk_ends_the_job_by_name(engine: Engine, image: Image, kind: str) -> None:
    if kind != "docker":
        pytest.skip("only its companions run code that isn't ours")
    options = replace(OPTIONS, limits=replace(OPTIONS.limits, disk_mb=16))
    fills = f"echo '{READY}'; dd if=/dev/zero of=/app/full bs=1M count=400 2>/dev/null; exec sleep {RUN}8663.5"
    with pytest.raises(LimitReached) as caught:
        await run(engine, f"sleep {RUN}8664.5", replace(companion(image, fills), options=options))
    assert caught.value.limit == "disk"
    assert left_behind(kind) == []


async def test_a_job_that_ends_with_its_companion_gone_is_lost_too(engine: Engine, image: Image) -> None:
    """However quick the job is: it is no evidence."""
    ends = "exec 3<>/dev/tcp/127.0.0.1/4662 || sleep 0.5; echo done"
    with pytest.raises(SandboxLost):
        await run(engine, ends, companion(image, f"echo '{READY}'; kill -9 $$"))


async def test_a_cancelled_job_leaves_neither_behind(engine: Engine, image: Image, kind: str) -> None:
    task = asyncio.create_task(run(engine, f"sleep {RUN}8662.5", companion(image, SERVES)))
    await eventually(lambda: bool(processes_with(f"sleep\0{RUN}8662.5")), "the job has not begun")
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert processes_with(f"{RUN}866") == []
    assert left_behind(kind) == []


async def test_a_companion_has_no_companion(engine: Engine, image: Image) -> None:
    inner = companion(image, SERVES)
    outer = Companion(image, Job(("true",), companion=inner), OPTIONS)
    with pytest.raises(UserError, match="of its own"):
        await run(engine, "true", outer)


async def test_who_offers_none_says_so(engine: Engine, image: Image) -> None:
    if engine.capabilities.companions:
        pytest.skip("it offers companions")
    with pytest.raises(UserError, match="can't run an application beside a job"):
        await run(engine, "true", companion(image, SERVES))
