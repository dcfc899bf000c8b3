"""Published tasks whose tests no grammar shows or whose names are no paths: a campaign format, unittest modules."""

import json
import shutil
from pathlib import Path

import pytest

from harness.plugins.scripted_provider.server import serve
from harness.sandbox.images.task_images import repo_image
from harness.specs.catalog import Catalog
from tests.docker.test_swe_atlas import OWN_CACHE, judge_file
from tests.support.command import typed_beside
from tests.support.few_arms import few_arms
from tests.support.provider import scenario

pytestmark = [pytest.mark.docker, pytest.mark.long]

FIXTURES = Path(__file__).parents[1] / "fixtures"
TASKS, SUBMISSIONS = FIXTURES / "swe_atlas_more", FIXTURES / "swe_atlas_more_submissions"
IMAGE = "swe-atlas-fixtures/aiosmtpd-as-it-is:1"
CAMPAIGN, MODULES = "aiosmtpd-campaign", "aiosmtpd-modules"
EXPECTED = {
    CAMPAIGN: {
        "honest": ("resolved", set(), "resolved"),
        "unlisted": ("failed", {"manifest-unlisted-test"}, "resolved"),
        "survives": ("failed", {"survived-removal"}, "failed"),
        "forges-lines": ("failed", {"placebo-sensitive"}, "resolved"),
    },
    MODULES: {
        "honest": ("resolved", set(), "resolved"),
        "asserts-nothing": ("failed", {"asserts-nothing"}, "resolved"),
        "one-name-of-two": ("failed", {"manifest-ambiguous"}, "resolved"),
        "looks-at-the-source": ("failed", {"placebo-sensitive"}, "resolved"),
    },
}
"""By task and submission: our verdict, its reasons, and that of the published rules."""


@pytest.fixture
async def images(tmp_path: Path) -> Path:
    image = await repo_image(Catalog().repo("aiosmtpd"))
    (tmp_path / "images.yaml").write_text(f"{IMAGE}: {image.reference}\n")
    return tmp_path / "images.yaml"


@pytest.mark.parametrize("task", EXPECTED)
async def test_names_as_a_log_has_them_are_matched_and_cheats_refused(tmp_path, images, task, monkeypatch):
    few_arms(monkeypatch, 0, few_variants=False)
    async with serve(scenario("generous-judge")) as provider:
        options = ("--protocol", "both", "--image-map", images, "--judge", judge_file(tmp_path, provider.url))
        command = ("verify", f"swe-atlas:{TASKS / task}", "--batch", SUBMISSIONS / task, *options, "--no-cache")
        done = await typed_beside(*command, "-j", "2", "--json", cwd=tmp_path, **OWN_CACHE)
    assert done.status == 0, done.complaint
    found = {
        row["submission"]: (
            row["verdict"]["verdict"],
            {reason["code"] for reason in row["verdict"]["reasons"]},
            row["published"]["verdict"],
        )
        for row in json.loads(done.output)
    }
    assert found == EXPECTED[task]


async def test_one_task_that_cannot_be_read_is_one_row_and_the_references_of_the_others_are_resolved(
    tmp_path, images, monkeypatch
):
    few_arms(monkeypatch)
    shutil.copytree(TASKS, tmp_path / "tasks")
    shutil.copytree(TASKS / CAMPAIGN, tmp_path / "tasks" / "broken")
    (tmp_path / "tasks" / "broken" / "tests" / "rubrics.json").write_text("[\n{]")
    async with serve(scenario("generous-judge")) as provider:
        options = ("--image-map", images, "--judge", judge_file(tmp_path, provider.url), "--no-cache")
        command = ("run", f"-tswe-atlas:{tmp_path / 'tasks'}", "-s", "oracle", "-o", "run", "--json", *options)
        done = await typed_beside(*command, "-j", "2", cwd=tmp_path, **OWN_CACHE)
    assert done.status == 1, done.complaint
    rows = {row["task"]: row for row in json.loads(done.output)["trials"]}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "swe-atlas-broken": "unscored",
        f"swe-atlas-{CAMPAIGN}": "resolved",
        f"swe-atlas-{MODULES}": "resolved",
    }
    [reason] = rows["swe-atlas-broken"]["reasons"]
    assert "rubrics.json:2: not JSON" in reason["words"]
