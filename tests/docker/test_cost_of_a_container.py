"""What an arm costs the engine: a container is made, filled, run and removed by few calls, and without a network."""

import asyncio
import time
import uuid

import docker
import pytest

from harness.sandbox.options import arm_options
from harness.sandbox.protocol import Image, Job, PlacedFile
from harness.specs.catalog import Catalog
from harness.tracks.registry import choose_engine

pytestmark = pytest.mark.docker

REPO = "aiosmtpd"
LOOPBACK = """
import socket
for address in ("localhost", "box", "127.0.0.1"):
    with socket.create_server((address, 0)) as server:
        socket.create_connection(server.getsockname()).close()
print(socket.gethostname(), [name for _, name in socket.if_nameindex()])
"""


def test_a_job_costs_seven_steps_of_the_engine_and_no_network_of_it(client: docker.DockerClient, image: Image):
    label = uuid.uuid4().hex
    files = (PlacedFile(f"{image.workdir}/placed.py", LOOPBACK.encode()),)

    async def run() -> list[bytes]:
        engine = choose_engine("docker")
        options = arm_options(Catalog().repo(REPO))
        try:  # the first one of an image also finds out about its user and directories
            return [
                (await engine.run_job(image, Job(("python", "placed.py"), files, seconds=60), options, owner)).log
                for owner in ({"testwright.run": "first"}, {"testwright.run": label})
            ]
        finally:
            await engine.close()

    began = int(time.time())
    assert asyncio.run(run()) == [b"box ['lo']\n"] * 2
    window = {"since": began, "until": int(time.time()) + 1, "decode": True}
    events = list(client.events(**window, filters={"label": f"testwright.run={label}"}))
    actions = [event["Action"] for event in events if event["Type"] == "container"]
    assert actions == ["create", "extract-to-dir", "attach", "start", "die", "archive-path", "destroy"]
    joined = [event["Actor"]["Attributes"] for event in client.events(**window, filters={"type": "network"})]
    assert events[0]["Actor"]["ID"] not in {attributes.get("container") for attributes in joined}
