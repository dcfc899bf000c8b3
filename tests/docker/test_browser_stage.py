"""A stage in containers, by plain HTTP; and suites in a browser: of most reasons of the track one, in few arms."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.languages.toolchain import Stage
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext
from harness.plugins.browser.application import application_repo, data_directory
from harness.plugins.browser.arms_file import Proxy, Refusal, StageArm
from harness.plugins.browser.stage import APP_ENDED, LOG, SETTINGS, StageToolchain, settings_of
from harness.plugins.browser.task import staged_task
from harness.results.site.failures import is_picture, picture_name
from harness.runs.submissions import judge_cases, read_batch
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Image, Job, JobResult, PlacedFile, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.test_results import Outcome, TestId, TestResult
from harness.specs.variants import VariantKind
from harness.tracks.registry import choose_engine
from tests.support.light_task import light_stage

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800)]  # whole judgings, perhaps on a busy machine

REPO = "itsdangerous"
"""Its image has a Python, which is all that the application needs."""
APP = data_directory() / "deskapp" / "app"
SUITES = Path(__file__).parents[1] / "fixtures" / "browser"
ASK = """
import json, os, sys, urllib.error, urllib.request
def status(path, data=None):
    try:
        return urllib.request.urlopen(os.environ["BASE_URL"] + path, data, timeout=20).status
    except urllib.error.HTTPError as error:
        return error.code
print(json.dumps([status("/healthz"), status("/api/todos"), os.path.exists("deskapp")]))
if "quit" in sys.argv:
    status("/api/quit", b"{}")
    while status("/healthz") != 502:
        pass
"""


async def asked(image: Image, arm: StageArm, *words: str) -> tuple[list[object], JobResult, Stage]:
    """What a job sees of the application beside it: two statuses, and whether its files are there."""
    engine, toolchain = choose_engine("docker"), StageToolchain(application_repo(data_directory() / "deskapp"))
    context = ArmContext(engine, image, {}, slots=asyncio.Semaphore(1), toolchain=toolchain, options=SandboxOptions())
    code = {path.relative_to(APP).as_posix(): path.read_bytes() for path in APP.rglob("*.*") if path.is_file()}
    settings = settings_of(arm, "one", 1)
    try:
        [compiled] = await toolchain.compile(
            context, [VariantSource("one", VariantKind.TWIN, {}, {**code, SETTINGS: settings})]
        )
        assert compiled.stage
        job = Job(("python3", "-c", ASK, *words), env=compiled.env, seconds=60, companion=compiled.stage.companion)
        result = await engine.run_job(image, job, context.options, {"testwright.run": "test-browser-stage"})
    finally:
        await engine.close()
    return json.loads(result.log), result, compiled.stage


async def test_an_arm_reaches_the_application_by_the_proxy_and_has_nothing_of_it(image: Image) -> None:
    rules = Proxy(delay=(0.05, 0.1), pieces=3, refuse=(Refusal(path="^/api/", how=503),))
    seen, result, _ = await asked(image, StageArm(proxy=rules))
    assert seen == [200, 503, False]
    assert result.companion
    entries = [json.loads(line) for line in result.companion.outputs[LOG].splitlines()]
    assert [entry["path"] for entry in entries] == ["/healthz", "/api/todos"]


async def test_an_arm_that_ends_the_application_shows_nothing_else(image: Image) -> None:
    seen, result, stage = await asked(image, StageArm(), "quit")
    assert seen == [200, 200, False]
    test = TestId("tests/test_x.py", "test_x")
    passed = TestResult(test=test, outcome=Outcome.PASSED, quality=None, seconds=1.0, message="")
    [settled] = stage.settle(result, (passed,))
    assert (settled.outcome, settled.message) == (Outcome.FAILED, APP_ENDED)


FAILING = b"""
import pytest
from playwright.sync_api import expect

@pytest.fixture
def reports(page):
    page.goto("/reports")
    return page

def test_passes(reports):
    expect(reports.get_by_role("button").first).to_be_visible()

@pytest.mark.parametrize("text", ["nowhere"])
class TestIn:
    def test_fails(self, reports, text):
        expect(reports.get_by_text(text)).to_be_visible(timeout=1)

def test_fails_without_a_page():
    assert not "nowhere"
"""


@pytest.mark.long
async def test_a_page_on_which_a_test_fails_leaves_its_picture_beside_the_reports() -> None:
    engine, repo = choose_engine("docker"), application_repo(data_directory() / "deskapp")
    built = await repo_image(repo)
    files = (PlacedFile(f"{built.workdir}/tests/test_x.py", FAILING),)
    job = Job((repo.test_command, "tests/test_x.py"), files, seconds=120)
    try:
        result = await engine.run_job(built, job, repo_options(repo), {"testwright.run": "test-browser-stage"})
    finally:
        await engine.close()
    assert b"2 failed, 1 passed" in result.log
    assert sorted(result.outputs) == ["1.xml", "tests-test_x-py-TestIn-test_fails.png"]
    assert is_picture(result.outputs[picture_name("tests/test_x.py::TestIn.test_fails")])


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "api-todos/cheat-ends-the-application",
        "network-outage/hasty-abort-only",
        "network-outage/hasty-impatient",
        "network-outage/honest-fetch-replaced",
        "client-hours/hasty-by-position",
        "sign-in/cheat-tries-again",
    ],
)
def test_a_suite_in_a_browser_comes_to_what_its_file_says(name: str) -> None:
    """`make submissions only=browser` judges all of them, in every arm."""
    [case] = [case for case in read_batch(Catalog(), SUITES, None) if case.name == name]
    light = replace(case, task=light_stage(staged_task(case.task)))
    assert len(light.task.probes) < len(case.task.probes)
    [judged] = judge_cases([light], "docker", None, 1, lambda _: None)
    assert judged.difference == ""
