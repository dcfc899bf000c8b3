"""Tasks of the published layout, with real images: parity for honest work, a listed difference for tampering."""

import json
import shutil
from pathlib import Path, PurePosixPath

import pytest

from harness.plugins.published.images import published_image
from harness.plugins.published.task import read_published
from harness.plugins.scripted_provider.server import serve
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.engine_images import engine_images
from harness.specs.errors import ImageUnavailable
from harness.specs.tracks import TaskOptions
from scripts.swe_atlas_images import FIXTURES as TASKS
from scripts.swe_atlas_images import image_map
from tests.support.command import testwright, typed_beside
from tests.support.few_arms import few_arms
from tests.support.provider import scenario

pytestmark = [pytest.mark.docker, pytest.mark.long]

SUBMISSIONS = TASKS.parent / "swe_atlas_submissions"
NAMES = ("aiosmtpd-debugging-handler", "jansson-load-sources", "restic-pattern-lists")
OWN_CACHE = {"TESTWRIGHT_CACHE": ""}  # the user's, for its images
WITHHELD = ("test_load.c", "test_loadb.c", "test_load_callback.c", "unterminated-array")
EXPECTED = {
    "asserts-nothing": ({"asserts-nothing"}, "it asks a model alone whether a test checks anything"),
    # Lines that are printed whatever happens are sensitive to nothing, which the placebos show too.
    "forges-lines": ({"forged-report", "placebo-sensitive"}, "it believes every line of the log"),
    # Arms have a repository without content: git's answer is the same in all of them, or is about another text.
    "looks-at-git-diff": (
        {"survived-removal", "placebo-sensitive"},
        "its two runs saw passed with the code and failed without it",
    ),
}
"""By submission: the codes of our reasons, of which one at least is there, and why the published rules take it."""


async def images_for(place: Path, *names: str) -> Path:
    (place / "images.yaml").write_text(await image_map(TASKS / name for name in names))
    return place / "images.yaml"


def judge_file(place: Path, url: str) -> Path:
    (place / "judge.yaml").write_text(f"model: anthropic/generous\napi_base: {url}\n")
    return place / "judge.yaml"


async def test_the_controls_come_to_the_same_by_both_protocols(tmp_path, monkeypatch):
    few_arms(monkeypatch, 0)
    images = await images_for(tmp_path, *NAMES)
    async with serve(scenario("generous-judge")) as provider:
        options = ("--protocol", "both", "--image-map", images, "--judge", judge_file(tmp_path, provider.url))
        command = ("run", "-t", f"swe-atlas:{TASKS}", "-s", "oracle", "-s", "nop", *options, "--no-cache")
        done = await typed_beside(*command, "-j", "2", "-o", "run", "--json", cwd=tmp_path, **OWN_CACHE)
    assert done.status == 0, done.complaint
    trials = json.loads(done.output)["trials"]
    assert {
        (row["task"].removeprefix("swe-atlas-"), row["scaffold"]): (row["verdict"], row["published"]["verdict"])
        for row in trials
    } == {
        (name, scaffold): (verdict, verdict)
        for name in NAMES
        for scaffold, verdict in (("oracle", "resolved"), ("nop", "failed"))
    }
    assert all(row["disagreement"] is None for row in trials)
    assert {
        path.name for path in (tmp_path / "run" / "trials").rglob("verdict*.json")
    } == {"verdict.json", "verdict-published.json"}  # fmt: skip
    again = await testwright(*command, "-o", "run", "--dry-run", cwd=tmp_path, **OWN_CACHE)
    assert again.status == 0, again.complaint


@pytest.mark.parametrize(
    ("name", "submissions"),
    [
        (NAMES[0], {"honest", *EXPECTED}),
        (NAMES[1], {"looks-at-git-diff"}),
        (NAMES[2], {"forges-lines"}),
    ],
)
async def test_tampering_is_a_listed_and_explained_disagreement_and_honest_work_is_none(
    tmp_path, name, submissions, monkeypatch
):
    few_arms(monkeypatch, 0, few_variants=False)
    options = ("--image-map", await images_for(tmp_path, name), "--protocol", "both")
    for submission in submissions:
        shutil.copytree(SUBMISSIONS / name / submission, tmp_path / "batch" / submission)
    async with serve(scenario("generous-judge")) as provider:
        judge = ("--judge", judge_file(tmp_path, provider.url), "--no-cache")
        command = ("verify", f"swe-atlas:{TASKS / name}", "--batch", tmp_path / "batch", *options, *judge)
        done = await typed_beside(*command, "-j", "2", "--json", cwd=tmp_path, **OWN_CACHE)
    assert done.status == 0, done.complaint
    found = {row["submission"]: row for row in json.loads(done.output)}
    assert found.keys() == submissions
    if honest := found.pop("honest", None):
        assert (honest["verdict"]["verdict"], honest["published"]["verdict"]) == ("resolved", "resolved")
        assert honest["disagreement"] is None
    for submission, row in found.items():
        codes, why = EXPECTED[submission]
        ours = "invalid" if "forged-report" in codes else "failed"
        assert (row["verdict"]["verdict"], row["published"]["verdict"]) == (ours, "resolved"), submission
        assert {reason["code"] for reason in row["verdict"]["reasons"]} <= codes
        told = [words for words in row["disagreement"]["why"] if why in words]
        assert any(words.startswith(f"ours: {code}") for words in told for code in codes)


async def test_without_a_judge_the_rubric_is_unscored_and_the_other_stages_are_decided(tmp_path):
    name = "aiosmtpd-debugging-handler"
    folder = SUBMISSIONS / name / "asserts-nothing"
    files = ("--patch", folder / "patch.diff", "--manifest", folder / "manifest.txt")
    options = ("--image-map", await images_for(tmp_path, name), "--protocol", "published", "--json")
    done = await testwright("verify", f"swe-atlas:{TASKS / name}", *files, *options, cwd=tmp_path, **OWN_CACHE)
    record = json.loads(done.output)
    assert (done.status, record["verdict"], record["protocol"]) == (1, "unscored", "published")
    assert {reason["code"] for reason in record["reasons"]} == {"judge-unavailable"}
    assert [record["stages"][stage]["status"] for stage in ("manifest", "mutation")] == ["not-judged", "passed"]


async def test_the_agents_tree_is_made_by_taking_the_reference_out_and_its_history_is_one_commit(tmp_path):
    name = "jansson-load-sources"
    whole = read_published(TASKS / name, TaskOptions(await images_for(tmp_path, name)))
    image = await published_image(whole)
    entries = await GitTree(image.tree).entries()
    assert "test/suites/api/test_dump.c" in entries
    assert not any(PurePosixPath(path).name in WITHHELD for path in entries)
    looks = "git rev-list --all --count; git status --porcelain; find / -name 'test_load*.c' 2>/dev/null; id -un"
    async with engine_images() as images:
        assert (await images.output(image.reference, "bash", "-c", looks)).split() == ["1", "agent"]

    (tmp_path / "published.yaml").write_text(f"swe-atlas-fixtures/jansson:1: {image.reference}\n")
    published = read_published(TASKS / name, TaskOptions(tmp_path / "published.yaml"))
    assert await GitTree((await published_image(published)).tree).entries() == entries


async def test_an_image_that_is_nowhere_is_named_with_what_to_do(tmp_path):
    task = read_published(TASKS / "restic-pattern-lists", TaskOptions())
    with pytest.raises(
        ImageUnavailable, match=r"image swe-atlas-fixtures/restic:1 is not here, and.*--image-map FILE"
    ):
        await published_image(task)
