"""The grammar of campaigns beside UTscapy's own, over all campaigns of a tree: the same tests with the same code.

The recipe of their image, with the archive of a commit in the place of the release.
"""

import asyncio
import io
import json
import shutil
import tarfile

import pytest

from harness.plugins.published.campaigns import campaign_tests
from harness.sandbox.images.task_images import repo_image
from harness.specs.catalog import Catalog
from tests.support.published import RECIPES

pytestmark = [
    pytest.mark.docker,
    pytest.mark.long,
    pytest.mark.timeout(900),
]  # the image is built where it is not there
PRINT_ALL = """
import glob, json
from scapy.tools.UTscapy import parse_campaign_file

def read(path):
    with open(path, encoding="utf-8") as text:
        tests = [test for tests in parse_campaign_file(text) for test in tests]
    return {"text": open(path, encoding="utf-8").read(), "tests": [[test.name, test.test] for test in tests]}

print(json.dumps({path: read(path) for path in glob.glob("test/**/*.uts", recursive=True)}))
"""


async def test_each_campaign_has_the_tests_that_utscapy_reads_in_it():
    image = await repo_image(Catalog(RECIPES).repo("scapy"))
    found = json.loads(
        await printed(
            "docker", "run", "--rm", "--network=none", image.reference, "python3", "-W", "ignore", "-c", PRINT_ALL
        )
    )
    assert len(found) > 20
    for path, campaign in found.items():
        theirs: dict[str, str] = {}
        for name, code in campaign["tests"]:
            name = " ".join(name.split())
            theirs[name] = theirs.get(name, "") + code + "\n"
        mine = {test.name: test.text.decode() for test in campaign_tests(campaign["text"].encode()).tests}
        assert mine.keys() == theirs.keys(), path
        assert {name: code_of(text) for name, text in mine.items()} == {
            name: theirs[name].split() for name in theirs
        }, path


async def test_an_archive_beside_a_recipe_is_the_tree_of_its_image(tmp_path, client):
    place = shutil.copytree(RECIPES, tmp_path / "recipes") / "repos" / "scapy"
    with tarfile.open(place / "source.tar", "w") as archive:
        campaign = tarfile.TarInfo("test/mine.uts")
        campaign.size = len(b"= one\n")
        archive.addfile(campaign, io.BytesIO(b"= one\n"))
    image = await repo_image(Catalog(tmp_path / "recipes").repo("scapy"))
    try:
        assert image.reference != (await repo_image(Catalog(RECIPES).repo("scapy"))).reference
        found = ("find", ".", "-name", "*.uts")
        told = await printed("docker", "run", "--rm", "--network=none", image.reference, *found)
        assert told.split() == ["./test/mine.uts"]
    finally:
        for tag in (image.reference, image.reference.replace("-repo:", "-dependencies:")):
            client.images.remove(tag, force=True)


def code_of(text: str) -> list[str]:
    """What UTscapy runs of a test: neither its name, nor keywords, nor comments."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(("=", "~", "#", "*"))).split()


async def printed(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()
