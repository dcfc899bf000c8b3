"""One suite for every engine: `kind` is which, `image` a small image of its own, the rest is made from these."""

import shutil
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from harness.sandbox.local.confinement import works
from harness.sandbox.protocol import Engine, Image, Sandbox
from tests.support.sandboxes import SWEREX_ROOT, docker_image, local_image, make_engine, started
from tests.support.swerex_server import swerex_server

KINDS = (pytest.param("docker", marks=pytest.mark.docker), "bubblewrap", "plain", "swerex")
LONG_WITH_SWEREX = ("test_sandbox_limits.py", "test_sandbox_jobs.py")
"""Its deployment is a server of this machine, and each command goes there over HTTP."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in LONG_WITH_SWEREX and "[swerex" in item.name:
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "bubblewrap" and not works():
        pytest.skip("NO BUBBLEWRAP HERE (or it may not make namespaces), so this was NOT tested")
    return str(request.param)


@pytest.fixture(scope="session")
def image(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Image:
    return docker_image() if kind == "docker" else local_image(tmp_path_factory.mktemp("environment"))


@pytest.fixture(scope="session")
def sandbox_name(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What `make_engine` takes. A SWE-ReX deployment is a server of this machine, started for the tests."""
    if kind != "swerex":
        yield kind
        return
    directory = tmp_path_factory.mktemp("swerex")
    with swerex_server(directory) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SWEREX_TOKEN_OF_TEST", server.token)
        options = f"token_env=SWEREX_TOKEN_OF_TEST&root={SWEREX_ROOT}&accept_degraded=yes"
        yield f"swerex:{server.url}?{options}"
    shutil.rmtree(SWEREX_ROOT, ignore_errors=True)


@pytest_asyncio.fixture
async def engine(sandbox_name: str) -> AsyncIterator[Engine]:
    engine = make_engine(sandbox_name)
    yield engine
    await engine.close()


@pytest_asyncio.fixture
async def sandbox(engine: Engine, image: Image, request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    """A started sandbox of the test's own."""
    async with started(engine, image, request.node.name) as sandbox:
        yield sandbox


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(sandbox_name: str, image: Image, request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    """One sandbox for all of a module's tests, started with a secret in our own environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAKE_API_KEY", "honeytoken")
        engine = make_engine(sandbox_name)
        async with started(engine, image, request.node.name) as sandbox:
            yield sandbox
        await engine.close()
