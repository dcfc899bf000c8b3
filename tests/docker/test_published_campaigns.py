"""The grammar of campaigns beside UTscapy's own, over all campaigns of a tree: the same tests with the same code.

Tests that published references write, taken out of upstream's campaigns and put back. The recipe of their image, with
the archive of a commit in the place of the release.
"""

import asyncio
import io
import json
import shutil
import tarfile
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import read_lines
from harness.judging.verify.intake import FileChange
from harness.judging.verify.manifest_check import check_manifest
from harness.plugins.published.campaigns import campaign_tests
from harness.plugins.published.seen_tests import SeenTests
from harness.plugins.published.task import read_published
from harness.sandbox.images.task_images import repo_image
from harness.specs.catalog import Catalog
from harness.specs.tracks import TaskOptions
from tests.support.published import FIXTURES, RECIPES, TASKS

# The time limit is of the tests alone: a fixture builds the image where it is not there.
pytestmark = [pytest.mark.docker, pytest.mark.long, pytest.mark.timeout(func_only=True)]
PRINT_ALL = """
import glob, json
from scapy.tools.UTscapy import parse_campaign_file

def read(path):
    with open(path, encoding="utf-8") as text:
        tests = [test for tests in parse_campaign_file(text) for test in tests]
    return {"text": open(path, encoding="utf-8").read(), "tests": [[test.name, test.test] for test in tests]}

print(json.dumps({path: read(path) for path in glob.glob("test/**/*.uts", recursive=True)}))
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """By path: a campaign of upstream's, and the tests that UTscapy reads in it."""
    image = asyncio.run(repo_image(Catalog(RECIPES).repo("scapy")))
    command = ("docker", "run", "--rm", "--network=none", image.reference, "python3", "-W", "ignore", "-c", PRINT_ALL)
    return json.loads(asyncio.run(printed(*command)))


def test_each_campaign_has_the_tests_that_utscapy_reads_in_it(found):
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


def test_published_references_whose_tests_a_release_has_match_their_manifests_in_its_campaigns(found):
    language = language_of(read_published(TASKS / "scapy-type-bitmaps", TaskOptions()).repo)
    judged = []
    for entry in json.loads((FIXTURES / "swe_atlas_manifests.json").read_text()):
        names = {item.name for item in read_lines(entry["manifest_as_written"].encode())}
        for path, campaign in found.items():
            if names <= {" ".join(name.split()) for name, _ in campaign["tests"]}:
                after = campaign["text"].encode()
                before = without(campaign["text"], names).encode()
                seen = {(path, text): campaign_tests(text) for text in (before, after)}
                reading = replace(language, discovery=SeenTests(language.discovery, seen))
                manifest = "".join(f"- {name}\n" for name in names).encode()
                check = check_manifest(manifest, (FileChange(path, before, after),), reading)
                assert check.reasons == ()
                assert {test.name for test in check.tests} == names
                judged.append(entry["repository"])
    assert judged == ["scapy", "scapy"]


def without(text: str, names: Collection[str]) -> str:
    """A campaign less the tests of these names, whatever stands behind them."""
    kept, is_out = [], False
    for line in text.splitlines(keepends=True):
        if line[0] in "=+%":
            is_out = line[0] == "=" and " ".join(line[1:].split()) in names
        kept += [] if is_out else [line]
    return "".join(kept)


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
