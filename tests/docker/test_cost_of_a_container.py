"""What an arm costs the engine: a container is made, filled, run and removed by few calls, and without a network."""

import asyncio
import json
import os
import time
import uuid
from pathlib import Path

import docker
import pytest

from harness.sandbox.archives import MTIME
from harness.sandbox.options import arm_options
from harness.sandbox.protocol import Image, Job, PlacedFile, SandboxOptions
from harness.specs.catalog import Catalog
from harness.tracks.registry import choose_engine

pytestmark = pytest.mark.docker

REPO = "aiosmtpd"
AT_ONCE = len(os.sched_getaffinity(0)) + 1
LOOPBACK = """
import socket
for address in ("localhost", "box", "127.0.0.1"):
    with socket.create_server((address, 0)) as server:
        socket.create_connection(server.getsockname()).close()
print(socket.gethostname(), [name for _, name in socket.if_nameindex()])
"""


def test_a_job_costs_seven_steps_of_the_engine_and_no_network_of_it(
    client: docker.DockerClient, image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))  # others may have taken numbers of users
    label = uuid.uuid4().hex
    files = (PlacedFile(f"{image.workdir}/placed.py", LOOPBACK.encode()),)

    async def run(label: str, times: int) -> list[bytes]:
        engine = choose_engine("docker")
        options = arm_options(Catalog().repo(REPO))
        job = Job(("python", "placed.py"), files, seconds=60)
        try:
            jobs = (engine.run_job(image, job, options, {"testwright.run": label}) for _ in range(times))
            return [result.log for result in await asyncio.gather(*jobs)]
        finally:
            await engine.close()

    began = int(time.time())
    # The first one of an image also finds out about its user and directories; each user has an image.
    assert asyncio.run(run("first", AT_ONCE)) == [b"box ['lo']\n"] * AT_ONCE
    # Another engine, as another process has one, finds what the first was told.
    assert asyncio.run(run(label, 1)) == [b"box ['lo']\n"]
    window = {"since": began, "until": int(time.time()) + 1, "decode": True}
    events = list(client.events(**window, filters={"label": f"testwright.run={label}"}))
    # The end of an attachment is no step: the engine tells of it where that is closed before the engine does so.
    actions = [event["Action"] for event in events if event["Type"] == "container" and event["Action"] != "detach"]
    assert actions == ["create", "extract-to-dir", "attach", "start", "die", "archive-path", "destroy"]
    joined = [event["Actor"]["Attributes"] for event in client.events(**window, filters={"type": "network"})]
    assert events[0]["Actor"]["ID"] not in {attributes.get("container") for attributes in joined}


def test_what_is_kept_of_an_image_is_asked_again_where_it_is_damaged(
    image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))

    async def run() -> bytes:
        engine = choose_engine("docker")
        job = Job(("sh", "-c", "id -un; stat -c %U:%a . /usr"), seconds=60)
        try:
            return (await engine.run_job(image, job, SandboxOptions(own_user=False), {})).log
        finally:
            await engine.close()

    told = asyncio.run(run())
    assert told.splitlines()[0] == b"agent"
    (facts,) = tmp_path.glob("image-facts/*.json")
    (bash,) = tmp_path.glob("image-facts/bash-*")
    kept = [path.read_bytes() for path in (facts, bash)]
    # An engine makes files of its own there in each container.
    assert json.loads(kept[0])["directories"]["/etc"]["mtime"] == MTIME
    for damaged in (facts, bash):
        damaged.write_bytes(b"#!/bin/false\n")
        assert asyncio.run(run()) == told
        assert [path.read_bytes() for path in (facts, bash)] == kept, "and kept again"
