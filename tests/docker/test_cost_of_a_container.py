"""What an arm costs the engine: a container is made, filled, run and removed by few calls, and without a network."""

import asyncio
import os
import time
import uuid
from pathlib import Path

import docker
import pytest

from harness.sandbox.options import arm_options
from harness.sandbox.protocol import Image, Job, PlacedFile
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

    async def run() -> list[bytes]:
        engine = choose_engine("docker")
        options = arm_options(Catalog().repo(REPO))
        job = Job(("python", "placed.py"), files, seconds=60)
        # The first one of an image also finds out about its user and directories; each user has an image.
        first = (engine.run_job(image, job, options, {"testwright.run": "first"}) for _ in range(AT_ONCE))
        try:
            done = [
                *await asyncio.gather(*first),
                await engine.run_job(image, job, options, {"testwright.run": label}),
            ]
            return [result.log for result in done]
        finally:
            await engine.close()

    began = int(time.time())
    assert asyncio.run(run()) == [b"box ['lo']\n"] * (AT_ONCE + 1)
    window = {"since": began, "until": int(time.time()) + 1, "decode": True}
    events = list(client.events(**window, filters={"label": f"testwright.run={label}"}))
    actions = [event["Action"] for event in events if event["Type"] == "container"]
    assert actions == ["create", "extract-to-dir", "attach", "start", "die", "archive-path", "destroy"]
    joined = [event["Actor"]["Attributes"] for event in client.events(**window, filters={"type": "network"})]
    assert events[0]["Actor"]["ID"] not in {attributes.get("container") for attributes in joined}
