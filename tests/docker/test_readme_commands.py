"""Commands of the README that no other test types."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.specs.catalog_places import default_directory
from tests.support.command import typed
from tests.support.few_arms import few_arms
from tests.support.light_task import TASK, light_catalog


def answer(*arguments: str | Path) -> Any:
    done = typed(*arguments, "--json", cwd=Path.cwd())
    assert done.status == 0, done.complaint
    return json.loads(done.output)


@pytest.mark.long
@pytest.mark.docker
def test_the_reference_is_verified_and_answered_as_json_the_same_each_time(tmp_path, monkeypatch):
    few_arms(monkeypatch, 0)
    reference = default_directory() / "tasks" / TASK / "reference"
    files = ("--patch", str(reference / "tests.patch"), "--manifest", str(reference / "manifest.yaml"))
    told = answer("--catalog", str(light_catalog(tmp_path)), "verify", TASK, *files, "--times", "2")
    assert (told["times"], told["same"]) == (2, True)
    for record in told["verdicts"]:
        assert (record["task"], record["verdict"], record["reasons"]) == (TASK, "resolved", [])


def test_the_catalog_is_shown():
    assert answer("task", "show", TASK)["prompt"].startswith("When a load balancer")
    assert {row["name"] for row in answer("scaffold", "list")} >= {"mini", "nop", "oracle"}
    assert {row["name"] for row in answer("repo", "list")} == {
        "aiosmtpd",
        "borgmatic",
        "cachetools",
        "cron",
        "itsdangerous",
        "jansson",
        "libcsv",
        "maplibre-style-spec",
        "pgspecial",
        "properties",
        "redis-py",
        "restic",
        "shellquote",
        "zod",
    }
