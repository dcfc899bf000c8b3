"""What tests with a real engine share."""

import asyncio
import uuid
from collections.abc import Callable, Iterator, Mapping

import docker
import pytest

from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Engine, Image, Job, JobResult, PlacedFile
from harness.specs.catalog import Catalog
from harness.tracks.registry import choose_engine
from tests.support.image_tags import tags_of_all

Run = Callable[..., JobResult]


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    # Removing an image may wait for other people's builds.
    connected = docker.from_env(timeout=300)
    yield connected
    connected.close()


@pytest.fixture
def nonce(client: docker.DockerClient) -> Iterator[str]:
    """For a recipe that must make images of its own; those of the tiny repo that were made by it are removed."""
    own = uuid.uuid4().hex
    yield own
    for tag in (*tags_of_all(client, "testwright/tiny-*"), *tags_of_all(client, "testwright/user-*")):
        try:
            made_by = [tag, *(step["CreatedBy"] or "" for step in client.api.history(tag))]
            if any(own in name for name in made_by):
                client.images.remove(tag, force=True)
        except docker.errors.NotFound:  # another test has just removed its own
            continue


# Of modules about one repository of the catalog, which name it as REPO.


@pytest.fixture(scope="module")
def image(request: pytest.FixtureRequest) -> Image:
    return asyncio.run(repo_image(Catalog().repo(request.module.REPO)))


@pytest.fixture(scope="module")
def tree(image: Image) -> Mapping[str, bytes]:
    async def read() -> Mapping[str, bytes]:
        tree = GitTree(image.tree)
        return await tree.read_all(await tree.entries())

    return asyncio.run(read())


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, image: Image) -> Run:
    """Runs a command line in a fresh container, with files laid over the tree, or at absolute paths."""
    name = request.module.REPO
    options = repo_options(Catalog().repo(name))

    def run(line: str, files: Mapping[str, str | bytes] | None = None, **env: str) -> JobResult:
        texts = {path: text.encode() if isinstance(text, str) else text for path, text in (files or {}).items()}
        at = {path if path[0] == "/" else f"{image.workdir}/{path}": text for path, text in texts.items()}
        job = Job(("bash", "-c", line), tuple(PlacedFile(path, text) for path, text in at.items()), env, 120)

        async def run_in(engine: Engine) -> JobResult:
            try:
                return await engine.run_job(image, job, options, {"testwright.run": f"test-{name}-repository"})
            finally:
                await engine.close()

        return asyncio.run(run_in(choose_engine("docker")))

    return run
