"""How our containers look from the engine's side and from within."""

import io
from collections.abc import AsyncIterator
from dataclasses import replace

import docker
import pytest
import pytest_asyncio

from harness.sandbox.docker.engine import DockerEngine
from harness.sandbox.docker.own_users import NUMBERS
from harness.sandbox.protocol import Image, Job, PlacedFile
from harness.specs.errors import ImageUnavailable, UserError
from tests.support.sandboxes import LIMITS, OPTIONS, RUN, TAG, docker_image, make_engine, started

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def image() -> Image:
    return docker_image()


@pytest_asyncio.fixture
async def engine() -> AsyncIterator[DockerEngine]:
    engine = make_engine("docker")
    assert isinstance(engine, DockerEngine)
    yield engine
    await engine.close()


def variant(line: str, name: str) -> Image:
    """The test image with one more line in its Dockerfile."""
    client = docker.from_env()
    tag = f"{TAG}-{name}"
    client.images.build(fileobj=io.BytesIO(f"FROM {TAG}\n{line}\n".encode()), tag=tag, rm=True)
    client.close()
    image = docker_image()
    return Image(tag, tag, "/app", image.tree, image.env)


async def test_containers_have_no_rights_no_mounts_and_every_limit(engine: DockerEngine, image: Image) -> None:
    async with started(engine, image, "hardening") as sandbox:
        client = docker.from_env()
        (found,) = client.api.containers(filters={"label": ["testwright=1", f"testwright.test=hardening-{RUN}"]})
        facts = client.api.inspect_container(found["Id"])
        client.close()
        inside = (await sandbox.run("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status", 20)).output.decode()
    host = facts["HostConfig"]
    assert host["Memory"] == host["MemorySwap"] == LIMITS.memory_mb << 20
    assert host["NanoCpus"] == 2_000_000_000
    assert host["PidsLimit"] == LIMITS.pids
    assert host["NetworkMode"] == "none"
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert not host["Privileged"]
    assert host["LogConfig"]["Type"] == "none"
    assert facts["Mounts"] == []
    values = dict(line.split(":\t") for line in inside.splitlines())
    assert {int(value, 16) for name, value in values.items() if name.startswith("Cap")} == {0}
    assert (values["NoNewPrivs"], values["Seccomp"]) == ("1", "2")


async def test_an_image_whose_user_is_root_is_refused(engine: DockerEngine, image: Image) -> None:
    for line in ("USER root", "USER 0:0"):
        rooted = variant(line, "root")
        with pytest.raises(UserError, match="USER agent"):
            await engine.run_job(rooted, Job(("true",)), OPTIONS, {})
        engine._facts._known.clear()


async def test_an_image_that_is_not_there_is_unavailable(engine: DockerEngine, image: Image) -> None:
    absent = Image("testwright-contract:absent", "absent", "/app", image.tree)
    with pytest.raises(ImageUnavailable):
        await engine.run_job(absent, Job(("true",)), OPTIONS, {})
    sandbox = engine.sandbox(absent, OPTIONS, {})
    with pytest.raises(ImageUnavailable):
        await sandbox.start()
    await sandbox.remove()


@pytest.mark.parametrize(
    ("user", "owner"), [("agent", "1000 1000"), ("1000", "1000 1000"), ("4321:8", "4321 8"), ("agent:mail", "1000 8")]
)
async def test_placed_files_belong_to_the_images_user_however_it_is_named(
    engine: DockerEngine, image: Image, user: str, owner: str
) -> None:
    named = variant(f"USER {user}", user.replace(":", "-"))
    job = Job(("bash", "-c", "stat -c '%u %g' /opt/x; echo $(id -u) $(id -g)"), (PlacedFile("/opt/x", b""),))
    result = await engine.run_job(named, job, OPTIONS, {})
    assert result.log.decode().splitlines() == [owner, owner]


OF_ITS_USER = """
id -u; id -g; stat -c '%u %g %U' present.txt /opt/x . ~; touch present.txt new ~/new && echo writes
stat -c '%a %Y' /etc/passwd
find / -xdev -not -path '/logs/closed*' -user 1000 2> /dev/null
"""


@pytest.mark.parametrize(("user", "group"), [("agent", "1000"), ("4321:8", "8")])
async def test_a_job_with_a_user_of_its_own_owns_what_the_images_user_owned(
    engine: DockerEngine, image: Image, user: str, group: str
) -> None:
    line = f"USER root\nRUN mkdir /logs/closed; chown -R {user} /app /home/agent /logs"
    owner = "agent" if user == "agent" else "UNKNOWN"
    given = variant(f"{line}\nENV HOME=/home/agent\nUSER {user}", f"own-{group}")
    job = Job(("bash", "-c", OF_ITS_USER), (PlacedFile("/opt/x", b""),))
    as_it_is = await engine.run_job(given, Job(("stat", "-c", "%a %Y", "/etc/passwd")), OPTIONS, {})
    options = replace(OPTIONS, own_user=True, hidden=("/logs/closed",))
    lines = (await engine.run_job(given, job, options, {"testwright.run": "own"})).log.decode().splitlines()
    number = int(lines[0])
    assert number in NUMBERS
    assert lines[1:] == [group, *[f"{number} {group} {owner}"] * 4, "writes", as_it_is.log.decode().strip()]
    client = docker.from_env()
    labels = {name for each in client.api.images(f"testwright/user-{number}") for name in each["Labels"]}
    client.close()
    assert "testwright.run" not in labels, "whatever is made of it would be that run's"


async def test_an_entrypoint_and_a_command_of_the_image_do_not_run(engine: DockerEngine, image: Image) -> None:
    own = variant('ENTRYPOINT ["echo", "entrypoint"]\nCMD ["command"]', "entrypoint")
    result = await engine.run_job(own, Job(("echo", "job")), OPTIONS, {})
    assert result.log == b"job\n"
    async with started(engine, own, "entrypoint") as sandbox:
        assert (await sandbox.run("echo sandbox", 20)).output == b"sandbox\n"
