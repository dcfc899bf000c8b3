"""A site of the recorded run and one of hostile text, and headless Chromium to open them from disk."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from harness.results.site.build import SiteBuilder
from tests.support.hostile_run import hostile_run

_CHROMIUM = Path("/usr/bin/chromium")
SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "sample-run"


@cache
def _complaint() -> str:
    """Why there is no browser; empty where there is one. Root of a Debian installs it."""
    if _CHROMIUM.exists():
        return ""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for command in (("update",), ("install", "--yes", "--no-install-recommends", "chromium")):
            subprocess.run(["apt-get", *command], check=False, capture_output=True, timeout=240)
    return "" if _CHROMIUM.exists() else f"NO {_CHROMIUM}, so that the site was NOT tested in a browser"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of one module: as long as Playwright is started, its event loop runs, and tests with one of their own can't."""
    if complaint := _complaint():
        if os.environ.get("TESTWRIGHT_REQUIRE_DOCKER") == "1":
            pytest.fail(complaint, pytrace=False)
        pytest.skip(complaint)
    with sync_playwright() as playwright:
        # Chromium's own sandbox can't be had by root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=_CHROMIUM, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the recorded run."""
    out = tmp_path_factory.mktemp("sites") / "a site"
    SiteBuilder([SAMPLE], out).build()
    return out


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    SiteBuilder([hostile_run(folder / "run")], folder / "site").build()
    return folder / "site"
