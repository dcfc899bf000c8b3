"""Applications in containers: the references, the one that is healthy alone, honest ones, cheats, and broken ones."""

import asyncio
import base64
import io
import json
import shutil
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext, ArmObserver
from harness.judging.verify.verdict import VerdictRecord
from harness.plugins.build import own_tests
from harness.plugins.build.check import LEAST_OF_A_REFERENCE, MOST_OF_NULL, broken_application, points_of
from harness.plugins.build.grading import passes
from harness.plugins.build.reasons import ACCEPTANCE_FAILED
from harness.plugins.build.steps import BOOT_STEP, HOME_STEP, Files, HiddenStep, Steps
from harness.plugins.build.task import BROKEN, HIDDEN, OWN_TESTS, BuildTask, build_task, load_task, patch_of
from harness.plugins.build.task_files import lost_by
from harness.results.site.applications import HOME_PICTURE
from harness.results.site.failures import is_picture
from harness.runs.submissions import Case, judge_cases, read_batch
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import JobResult
from harness.specs.reasons import Verdict
from harness.specs.repo import Repo
from harness.specs.test_results import Outcome
from harness.specs.variants import Arm, ArmKey
from harness.tracks.registry import choose_engine, track_of
from tests.support.command import typed
from tests.support.corpora import CATALOG
from tests.support.covering import covering

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800)]  # whole judgings, perhaps on a busy machine

CASES = read_batch(CATALOG, Path(__file__).parents[1] / "fixtures" / "build", None)
TASK, WITH_PAGES, CHAT = (
    build_task(CATALOG.task(f"build:{name}")) for name in ("link-shortener", "lending-desk", "chat")
)


def shown(case: Case) -> set[object]:
    assert case.expected
    return {*case.expected.codes, *case.expected.criteria, (case.task.id, case.expected.verdict)}


RESOLVED = frozenset({(TASK.id, Verdict.RESOLVED)})
"""By its reference."""
CHOSEN = covering(CASES, shown, lambda case: 1 if case.task.id == TASK.id else 3, RESOLVED)
"""Each reason, and of each brief each verdict; pages and conversations take longer. `make submissions only=build`
judges all of them."""
OTHER_IMAGE = "itsdangerous"
"""It has a Python with pytest, which is all that an application without packages needs."""


def of_each_axis(task: BuildTask) -> list[Path]:
    """A few of an application's broken ones, which lose criteria of each axis that any of them loses.

    The check of a brief judges all of these as well.
    """

    def axes(path: Path) -> set[object]:
        return {criterion.partition(".")[0] for criterion in lost_by(path)}

    return covering(sorted(task.path(BROKEN).glob("*.patch")), axes)


BROKEN_ONES = of_each_axis(TASK)
"""The check of a brief judges its references, `null` and each broken one. The record of each brief is held against
its files (tests/unit/test_build_task_files.py). Here they are of the brief whose judgings take least; for the others
there are honest applications, cheats and a session."""


def judged(case: Case) -> VerdictRecord:
    [found] = judge_cases([case], "docker", None, 1, lambda item: None)
    assert found.difference == "", found.record
    return found.record


def application(task: BuildTask, folder: str) -> Case:
    directory = task.path(folder)
    return Case(folder, task, Submission(patch_of(directory), (directory / "manifest.yaml").read_bytes()))


def unmet(record: VerdictRecord) -> set[str]:
    return {item.id for item in record.stages.rubric.criteria if not item.met}


def nothing_installed() -> bytes:
    whole = io.BytesIO()
    tarfile.open(fileobj=whole, mode="w").close()
    return whole.getvalue()


LOOKS = b"""
import contextlib
for name in ("environ", "maps", "mem"):
    with contextlib.suppress(PermissionError), open(f"/proc/{os.getppid()}/{name}", "rb"):
        os._exit(1)
for folder in ("/app", "/home/agent", "/var/tmp", "/opt"):
    with contextlib.suppress(OSError), open(f"{folder}/written", "wb"):
        os._exit(1)
with open("/tmp/written", "wb"):
    os.remove("/tmp/written")
"""
LEAVES = b"""
with open("/dev/shm/left", "wb"), open(os.environ["DATA_DIR"] + "/../left", "wb"):
    pass
"""


@dataclass
class Pictures(ArmObserver):
    """The names of pictures that arms leave."""

    found: list[str] = field(default_factory=list)

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self.found += [name for name, data in result.outputs.items() if is_picture(data)]


@asynccontextmanager
async def steps_of(
    run: bytes, task: BuildTask = TASK, repo: Repo | None = None, pictures: Pictures | None = None
) -> AsyncIterator[Steps]:
    """The steps of an application of one file, in the image of another repository."""
    engine, repo = choose_engine("docker"), repo or CATALOG.repo(OTHER_IMAGE)
    try:
        image, options = await repo_image(repo), repo_options(repo)
        toolchain = track_of(task).toolchain(task)
        context = ArmContext(
            engine, image, {}, slots=asyncio.Semaphore(2), toolchain=toolchain, options=options,
            observer=pictures or Pictures(),
        )  # fmt: skip
        yield Steps(context, task, Files({"run": run}, frozenset({"run"})), seed=1, installed=nothing_installed())
    finally:
        await engine.close()


async def shown(run: bytes, task: BuildTask = TASK, step: HiddenStep = BOOT_STEP) -> Arm:
    """What a step's hidden tests, those of start and end by default, show of an application of one file."""
    async with steps_of(run, task) as steps:
        return await steps.hidden(step)


def script_of(name: str) -> bytes:
    """The one file of an application among the kept ones."""
    submission = next(case.submission for case in CASES if case.name.endswith(f"/{name}"))
    assert submission
    script = b"\n".join(line[1:] for line in submission.patch.splitlines() if line[:1] == b"+")
    return script.partition(b"\n")[2]


def healthy_and(does: bytes) -> bytes:
    return (TASK.path("null") / "run").read_bytes().replace(b"import os\n", b"import os\n" + does, 1)


async def test_an_application_is_started_asked_and_stopped_and_its_own_report_is_none() -> None:
    arm = await shown(healthy_and(LOOKS))
    assert passes(arm), "it could look into its supervisor, write elsewhere, or wasn't started, asked and stopped"
    arm = await shown(script_of("cheat-says-that-it-is-ready"))
    assert {item.outcome for item in arm.results} == {Outcome.FAILED}


@pytest.mark.long
async def test_a_file_that_is_left_where_one_can_write_is_found() -> None:
    arm = await shown(healthy_and(LEAVES))
    red = {item.test.name: item.message for item in arm.results if item.outcome is Outcome.FAILED}
    [(name, message)] = red.items()
    assert name == "test_it_writes_nothing_outside_its_data_directory"
    assert all(path in message for path in ("/dev/shm/left", "/logs/report/left")), message


FAILS, WARNS = b"document.querySelector('form').reset()", b"console.warn('old'); console.info('new')"


@pytest.mark.long
@pytest.mark.parametrize(("script", "outcome"), [(FAILS, Outcome.FAILED), (WARNS, Outcome.PASSED)])
async def test_a_home_page_is_opened_and_an_error_of_a_script_is_noticed(script: bytes, outcome: Outcome) -> None:
    pictures = Pictures()
    run = script_of("cheat-page-whose-script-fails").replace(FAILS, script)
    async with steps_of(run, WITH_PAGES, WITH_PAGES.repo, pictures) as steps:
        arm = await steps.hidden(HOME_STEP)
    assert [item.outcome for item in arm.results] == [outcome]
    assert HOME_PICTURE in pictures.found


ASKS = b"""\
    def do_POST(self):
        told = {"model": os.environ["MODEL"], "messages": [{"role": "user", "content": "Hello"}]}
        headers = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(told).encode(), headers)) as answer:
            body = answer.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


"""
USES_THE_PROVIDER = """\
from provider import Reply


def test_conversations_are_held_and_the_service_stops(app, provider):
    provider.will(Reply(text="Good day"))
    answer = app.ask("POST", "/")
    assert answer.json["choices"][0]["message"]["content"] == "Good day"
    assert [request["model"] for request in provider.requests] == ["scripted"]
"""


async def test_an_application_reaches_the_provider_beside_the_hidden_tests(tmp_path: Path) -> None:
    mine = tmp_path / CHAT.id
    shutil.copytree(CHAT.directory, mine)
    (mine / HIDDEN / "test_keep.py").write_text(USES_THE_PROVIDER)
    healthy = (CHAT.path("null") / "run").read_bytes()
    asking = healthy.replace(b"import os\n", b"import json\nimport os\nimport urllib.request\n", 1)
    asking = asking.replace(b"ThreadingHTTPServer((", ASKS + b"ThreadingHTTPServer((", 1)
    step = HiddenStep("keep", f"{HIDDEN}/test_keep.py")
    assert passes(await shown(asking, load_task(mine), step))


async def test_a_readme_runs_where_its_commands_end_well_or_serve() -> None:
    healthy = (TASK.path("null") / "run").read_bytes()
    serves, fails = ["echo $PORT > $DATA_DIR/port", "cat $DATA_DIR/port\n./run"], ["test -x ./run", "./start"]
    async with steps_of(healthy) as steps:
        good, bad = await asyncio.gather(steps.readme(serves), steps.readme(fails))
    assert passes(good)
    assert not passes(bad)


@pytest.mark.long
@pytest.mark.parametrize("case", CHOSEN, ids=[case.name for case in CHOSEN])
def test_an_application_comes_to_what_it_must(case: Case) -> None:
    judged(case)


@pytest.mark.long
def test_a_reference_is_resolved_with_nearly_all_points() -> None:
    record = judged(application(TASK, f"references/{TASK.references[0]}"))
    assert (record.verdict, record.reasons) == (Verdict.RESOLVED, ())
    assert points_of(record) >= LEAST_OF_A_REFERENCE, unmet(record)


@pytest.mark.long
def test_an_application_that_is_healthy_and_nothing_else_is_failed() -> None:
    record = judged(application(TASK, "null"))
    assert record.verdict is Verdict.FAILED
    assert points_of(record) <= MOST_OF_NULL, unmet(record)


@pytest.mark.long
@pytest.mark.parametrize("path", BROKEN_ONES, ids=[path.stem for path in BROKEN_ONES])
def test_a_broken_application_loses_what_its_name_says_and_no_more(path: Path) -> None:
    record = judged(Case(path.stem, TASK, asyncio.run(broken_application(TASK, path))))
    assert unmet(record) - set(OWN_TESTS) == set(lost_by(path))


@pytest.mark.long
def test_a_recorded_session_is_judged_and_its_application_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_tests, "MUTANTS", 1)  # the application's own tests decide no verdict
    monkeypatch.setattr(own_tests, "MOST_MODULES", 1)
    session = Path(__file__).parents[2] / "scripts" / "build-trajectory.jsonl"
    systems = ("-s", "nop", "-s", "mini", "-m", f"replay:{session}")
    done = typed("run", "-t", "build:lending-desk", *systems, "-o", "run", "--json", cwd=tmp_path)
    assert done.status == 0, done.complaint
    rows = {row["scaffold"]: row for row in json.loads(done.output)["trials"]}
    assert {name: row["verdict"] for name, row in rows.items()} == {"nop": "failed", "mini": "failed"}
    assert {(reason["code"], reason["subject"]) for reason in rows["mini"]["reasons"]} == {
        (ACCEPTANCE_FAILED, criterion) for criterion in ("1.4", "1.10", "1.11")
    }
    assert typed("report", "run", "--site", "site", cwd=tmp_path).status == 0
    [page] = (tmp_path / "site" / "trials" / "lending-desk" / "mini").rglob("1.html")
    text = page.read_text()
    assert 'alt="The home page of the application"' in text
    assert ">test_the_file_of_loans_has_every_loan_in_order<" in text


def handed_in_without_tests(folder: Path) -> str:
    """A command that lays an application out, with a manifest whose file isn't there: its tests aren't run."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        archive.add(folder, ".", filter=lambda item: None if "__pycache__" in item.name else item)
    text = base64.b64encode(whole.getvalue()).decode()
    manifest = "printf -- '- file: tests/none.py\\n  tests: [test_x]\\n' > /logs/agent/manifest.yaml"
    return f"base64 -d <<'END' | tar xz --no-same-owner && {manifest}\n{text}\nEND"


@pytest.mark.long
def test_a_second_phase_mends_what_the_first_one_left(tmp_path: Path) -> None:
    build = [handed_in_without_tests(TASK.path("references/flask")), "sed -i 's/302, {/303, {/' shortener/app.py"]
    commands = [build, ["sed -i 's/303, {/302, {/' shortener/app.py"]]
    submit = {"commands": ["echo TESTWRIGHT_SUBMIT"]}
    script = {"messages": [message for each in commands for message in ({"commands": each}, submit)]}
    (tmp_path / "script.yaml").write_text(json.dumps(script))
    run = ("run", "-t", "build:link-shortener", "-s", "mini", "-m", "scripted:script.yaml", "-o", "out")
    assert typed(*run, cwd=tmp_path).status == 0
    assert typed(*run, "--set", "phases=2", "--extend", cwd=tmp_path).status == 0
    results = {path.parts[-4]: path for path in tmp_path.glob("out/**/verdict.json")}
    verdicts = {name: json.loads(path.read_text())["verdict"] for name, path in results.items()}
    assert verdicts == {"mini": "failed", "mini+limits.phases=2": "resolved"}
    sides = ("--a", "mini", "--b", "mini+limits.phases=2", "--json")
    [pair] = json.loads(typed("compare", "out", *sides, cwd=tmp_path).output)["pairs"]
    assert [(flip["task"], flip["for"]) for flip in pair["flips"]] == [(TASK.id, "b")]
