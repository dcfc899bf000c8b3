"""One suite for every engine: `kind` is which, `image` a small image of its own, the rest is made from these."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from harness.sandbox.local.confinement import works
from harness.sandbox.protocol import Engine, Image, Sandbox
from tests.support.sandboxes import docker_image, local_image, make_engine, started

KINDS = (pytest.param("docker", marks=pytest.mark.docker), "bubblewrap", "plain")


@pytest.fixture(scope="session", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "bubblewrap" and not works():
        pytest.skip("NO BUBBLEWRAP HERE (or it may not make namespaces), so this was NOT tested")
    return str(request.param)


@pytest.fixture(scope="session")
def image(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Image:
    return docker_image() if kind == "docker" else local_image(tmp_path_factory.mktemp("environment"))


@pytest_asyncio.fixture
async def engine(kind: str) -> AsyncIterator[Engine]:
    engine = make_engine(kind)
    yield engine
    await engine.close()


@pytest_asyncio.fixture
async def sandbox(engine: Engine, image: Image, request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    """A started sandbox of the test's own."""
    async with started(engine, image, request.node.name) as sandbox:
        yield sandbox


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(kind: str, image: Image, request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    """One sandbox for all of a module's tests, started with a secret in our own environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAKE_API_KEY", "honeytoken")
        engine = make_engine(kind)
        async with started(engine, image, request.node.name) as sandbox:
            yield sandbox
        await engine.close()
