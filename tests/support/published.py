"""Tasks of the published layout on images of their own: tests/fixtures/published_repos, scripts/published_images."""

import json
import shutil
from pathlib import Path
from typing import Any

from harness.plugins.scripted_provider.server import serve
from harness.sandbox.images.task_images import repo_image
from harness.specs.catalog import Catalog
from tests.support.command import typed_beside
from tests.support.provider import scenario

FIXTURES = Path(__file__).parents[1] / "fixtures"
TASKS, SUBMISSIONS = FIXTURES / "swe_atlas_published", FIXTURES / "swe_atlas_published_submissions"
REPOS = FIXTURES / "published_repos"
RECIPES = FIXTURES.parents[1] / "scripts" / "published_images"
OWN_CACHE = {"TESTWRIGHT_CACHE": ""}  # the user's, for its images

Outcome = tuple[str, frozenset[str], str]
"""Our verdict, the codes of its reasons, and the verdict of the published rules."""


def is_as_expected(found: Outcome, expected: Outcome) -> bool:
    """Both verdicts, and one at least of the reasons: chance decides in how many ways a cheat is seen."""
    named = not (found[1] or expected[1]) or bool(found[1] & expected[1])
    return (found[0], found[2]) == (expected[0], expected[2]) and named


def outcome(ours: str, *codes: str, published: str) -> Outcome:
    return ours, frozenset(codes), published


STANDS_FOR: dict[str, tuple[str, Path | None, str]] = {
    "scapy-tsig-time": ("swe-atlas-fixtures/scapy:1", REPOS, "scapy"),
    "scapy-type-bitmaps": ("swe-atlas-fixtures/scapy-2.6.1:1", RECIPES, "scapy"),
    "wordpress-url-for-display": ("swe-atlas-fixtures/wordpress-url:1", REPOS, "wordpress-url"),
    "scapy-mac-addresses": (
        "https://github.com/secdev/scapy@a097d9c63ff2b37cb5050135f99790da04c61b04", RECIPES, "scapy",
    ),
    "calypso-key-by": (
        "https://github.com/Automattic/wp-calypso@120ab38c4f2faf2fbbb59ab3ad48c780cb4de0e7", RECIPES, "calypso",
    ),
    "restic-table-output": ("swe-atlas-fixtures/restic:1", None, "restic"),
    "pq-transactions": ("swe-atlas-fixtures/pq-as-it-is:1", REPOS, "pq"),
    "lru-dict-eviction": (
        "https://github.com/amitdev/lru-dict@848b230f285c805b1f20bdabf76701a97ff4ff80", REPOS, "lru-dict",
    ),
    "kitty-cell-widths": ("swe-atlas-fixtures/kitty-as-it-is:1", RECIPES, "kitty"),
}  # fmt: skip
"""By task: the image that its Dockerfile names, or its repository and commit; the catalog and the repo for it."""
COMPLETE = ("wordpress-url-for-display",)
"""Their Dockerfiles fetch from the net what the image that stands for theirs has already."""


async def image_map(place: Path, task: str) -> Path:
    known_as, catalog, repo = STANDS_FOR[task]
    image = await repo_image(Catalog(catalog).repo(repo))
    entry = {"image": image.reference, "complete": task in COMPLETE}
    (place / "images.yaml").write_text(json.dumps({known_as: entry}))
    return place / "images.yaml"


def submissions(task: str) -> list[str]:
    return sorted(folder.name for folder in (SUBMISSIONS / task).iterdir())


async def judged(place: Path, task: str, images: Path, name: str) -> Outcome:
    """What both sets of rules say of one of the task's submissions; `oracle` is its reference."""
    async with serve(scenario("generous-judge")) as provider:
        (place / "judge.yaml").write_text(f"model: anthropic/generous\napi_base: {provider.url}\n")
        options = ["--protocol", "both", "--image-map", str(images), "--judge", "judge.yaml", "--no-cache", "-j", "2"]
        address = f"swe-atlas:{TASKS / task}"
        if name == "oracle":
            [trial] = (await _json(place, "run", "-t", address, "-s", name, "-o", "run", *options))["trials"]
            return _outcome(trial, trial["published"])
        shutil.copytree(SUBMISSIONS / task / name, place / "batch" / name)
        [row] = await _json(place, "verify", address, "--batch", "batch", *options)
        return _outcome(row["verdict"], row["published"])


async def _json(place: Path, *command: str) -> Any:
    done = await typed_beside(*command, "--json", cwd=place, **OWN_CACHE)
    assert done.status == 0, done.complaint
    return json.loads(done.output)


def _outcome(ours: dict[str, Any], published: dict[str, Any]) -> Outcome:
    codes = (reason["code"] for reason in ours["reasons"])
    return outcome(ours["verdict"], *codes, published=published["verdict"])
