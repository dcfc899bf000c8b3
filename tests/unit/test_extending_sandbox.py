"""The example sandbox of docs/extending.md, as the page shows it: registered, and installed as a package."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.sandbox.protocol import Job
from harness.sandbox.registry import SANDBOXES
from harness.specs.errors import UserError
from harness.tracks.registry import choose_engine
from tests.support.command import testwright
from tests.support.docs import examples
from tests.support.sandboxes import OPTIONS, labels, local_image

[CODE] = examples("extending.md", "A sandbox")
[REGISTRATION] = examples("extending.md", "A sandbox", "toml")
TASK = "aiosmtpd-proxy-tlv"


@pytest.fixture
def registered() -> Iterator[None]:
    names: dict[str, Any] = {}
    exec(CODE, names)
    SANDBOXES.register("timed", names["timed"])
    yield
    SANDBOXES.unregister("timed")


async def test_the_example_runs_sandboxes_and_jobs_and_writes_its_times(registered: None, tmp_path: Path) -> None:
    image = local_image(tmp_path / "image")
    engine = choose_engine(f"timed:{tmp_path}/times.txt")
    result = await engine.run_job(image, Job(("cat", "present.txt"), seconds=30), OPTIONS, labels("timed"))
    assert result.log == b"present\n"
    seconds, program = (tmp_path / "times.txt").read_text().split()
    assert (float(seconds) > 0, program) == (True, "cat")
    sandbox = engine.sandbox(image, OPTIONS, labels("timed"))
    await sandbox.start()
    assert (await sandbox.run("cat present.txt", 20)).output == b"present\n"
    assert await engine.reap(labels("timed")) == 1
    await sandbox.remove()
    await engine.close()


def test_the_example_says_what_it_needs_and_a_near_name_is_offered(registered: None) -> None:
    with pytest.raises(UserError, match="timed:FILE"):
        choose_engine("timed")
    with pytest.raises(UserError, match="unknown sandbox 'timmed'; did you mean 'timed'"):
        choose_engine("timmed:x")


@pytest.mark.long
async def test_installed_as_a_package_it_is_known_to_the_command_line(tmp_path: Path) -> None:
    installed = tmp_path / "site"
    facts = installed / "timed_sandbox-1.0.dist-info"
    facts.mkdir(parents=True)
    [(group, points)] = tomllib.loads(REGISTRATION)["project"]["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {place}" for name, place in points.items()), ""]
    (facts / "entry_points.txt").write_text("\n".join(lines))
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: timed-sandbox\nVersion: 1.0\n")
    (installed / "timed_sandbox.py").write_text(CODE)
    plan = ("run", "-t", TASK, "-s", "nop", "--dry-run", "--json", "-o", "out", "--sandbox", "timed:times.txt")
    done = await testwright(*plan, cwd=tmp_path, PYTHONPATH=str(installed))
    assert done.status == 0, done
    assert '"isolation"' in done.output
    without = await testwright(*plan, cwd=tmp_path)
    assert without.status == 2
    assert "unknown sandbox 'timed'" in without.complaint
