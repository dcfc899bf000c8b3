"""Toolboxes run in containers of another system: here one of static busybox, bash and musl, with no glibc at all."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from harness.models.gateway.server import serve_gateway
from harness.sandbox.images.building import build, ensure_base_image
from harness.sandbox.images.engine_images import engine_images
from harness.sandbox.protocol import GATEWAY_PORT, Gateway, Image, Limits, Network, SandboxOptions
from harness.sandbox.toolboxes.recipe import PYTHON, TOOLBOX, toolbox_mount
from harness.specs.catalog import Catalog
from tests.support.native_scripts import SAMPLE
from tests.support.sandboxes import make_engine, started

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800), pytest.mark.long]
TAG = "testwright-alien:test"
DOCKERFILE = """
ARG BASE
FROM ${BASE} AS static
RUN --mount=type=secret,id=ca,required=false set -eu; \\
    apt() { apt-get -qq -o Acquire::Retries=3 "$@"; }; \\
    if [ -s /run/secrets/ca ]; then apt() { apt-get -qq -o Acquire::https::CAInfo=/run/secrets/ca "$@"; }; fi; \\
    apt update; \\
    apt install --yes --no-install-recommends busybox-static bash-static musl

FROM scratch AS alien
COPY --from=static /bin/busybox /bin/busybox
COPY --from=static /bin/bash-static /bin/bash
COPY --from=static /lib/ld-musl-x86_64.so.1 /lib/
RUN ["/bin/busybox", "mkdir", "-p", "/usr/bin", "/tmp", "/logs/agent", "/app", "/etc"]
RUN ["/bin/busybox", "--install", "-s", "/usr/bin"]
RUN ["/bin/bash", "-c", "echo agent:x:1000:1000::/app:/bin/bash > /etc/passwd; chmod 1777 /tmp; chown -R 1000 /app"]
WORKDIR /app
USER agent
"""
PROGRAMS = {
    "claude-code": f"{TOOLBOX}/bin/claude --version",
    "codex": f"{TOOLBOX}/bin/codex --version",
    "command": f"{PYTHON} -c 'import ssl, sqlite3, ctypes; print(ssl.OPENSSL_VERSION)'",
    "gemini-cli": f"{TOOLBOX}/bin/node -p process.version",
    "mini-swe-agent": f"{PYTHON} -c 'import minisweagent; print(minisweagent.__version__)'",
    "opencode": f"{TOOLBOX}/bin/opencode --version",
    "qwen-code": f"{TOOLBOX}/bin/node -p process.version",
}
"""A command of each toolbox that ends well where its programs find all that they need."""


@pytest_asyncio.fixture
async def alien(tmp_path: Path) -> AsyncIterator[Image]:
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    async with engine_images() as images:
        base = await ensure_base_image(images)
        await build(tmp_path, "alien", TAG, {"BASE": base}, {})
        yield Image(TAG, TAG, "/app", Path("/nonexistent"))


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name in SAMPLE])
async def test_its_programs_run_without_a_library_of_the_containers(alien: Image, name: str) -> None:
    engine = await asyncio.to_thread(make_engine, "docker")
    toolbox = await toolbox_mount(Catalog().scaffold(name))
    options = SandboxOptions(Limits(memory_mb=2000, disk_mb=500), env={"HOME": "/tmp"}, mounts=(toolbox,))
    async with serve_gateway() as gateway, gateway.socket() as socket:
        way = Gateway(socket, python=PYTHON)
        options = replace(options, network=Network.GATEWAY, gateways=(way,))
        async with started(engine, alien, f"alien-{name}", options) as sandbox:
            assert (await sandbox.run("ls /lib", 20)).output == b"ld-musl-x86_64.so.1\n"
            ran = await sandbox.run(PROGRAMS[name], 120)
            assert ran.exit_status == 0, ran
            assert ran.output.strip()
            assert (await sandbox.run(f"exec 3<>/dev/tcp/127.0.0.1/{GATEWAY_PORT}", 20)).exit_status == 0
            assert (await sandbox.run(f"touch {TOOLBOX}/bin/new", 20)).exit_status != 0
            assert (await sandbox.run("env | grep -c '^LD_'", 20)).output == b"0\n"
    await engine.close()
