"""What a check of a published task finds with containers: a sound task, and one that has every known defect."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import docker
import pytest

from harness.authoring.task_check.check import check_tasks
from harness.plugins.published import layout
from harness.plugins.published.task import published_task
from harness.sandbox.images.task_images import repo_image
from harness.specs.catalog import Catalog
from harness.specs.problem import Severity
from harness.specs.task_facts import Level, StepOutcome, TaskCheck
from harness.specs.tracks import TaskOptions
from tests.support.few_arms import few_arms
from tests.support.image_tags import tags_of_all
from tests.support.sound_catalog import added

pytestmark = [pytest.mark.docker, pytest.mark.long]
SOUND = Path(__file__).parents[1] / "fixtures" / "swe_atlas" / "aiosmtpd-debugging-handler"
IMAGE = "swe-atlas-fixtures/whole:1"
FIRST, SECOND = "aiosmtpd/tests/test_debugging_first.py", "aiosmtpd/tests/test_debugging_second.py"
PRINTED = """\
import sys
from io import StringIO
from pathlib import Path

import pytest

from aiosmtpd.handlers import Debugging

MARK, ONCE = Path("/tmp/left-behind"), Path("/tmp/only-once")


def printed(data):
    handler = Debugging(StringIO())
    handler._print_message_content("peer", data)
    return handler.stream.getvalue()


"""
FIRST_TESTS = f"""\
{PRINTED}class TestText:
    def test_body(self):
        MARK.touch()
        assert "body" in printed("A: b\\n\\nbody")


class TestBytes:
    def test_body(self):
        assert "body" in printed(b"A: b\\n\\nbody")


@pytest.mark.parametrize("line", ["one", "two"])
def test_lines(line):
    assert line in printed(line)


def test_unseen():
    assert "x" in printed("x")


def test_works_once():
    assert not ONCE.exists()
    ONCE.touch()
    assert "x" in printed("x")


def test_the_stream_is_chosen():
    assert Debugging.from_cli(None, "stderr").stream is sys.stderr
"""
SECOND_TESTS = f"""\
{PRINTED}def test_after_the_first():
    assert MARK.exists()
    assert "x" in printed("x")
"""
"""It passes where the first file ran before."""
LISTED = (
    "TestText.test_body",
    "TestBytes.test_body",
    "test_lines",
    "test_unseen",
    "test_works_once",
    "test_the_stream_is_chosen",
)


def without_first_function(removal: str) -> str:
    """The same removal, but for the first function that it empties."""
    lines = removal.splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith("-  "))
    end = next(number for number, line in enumerate(lines) if line.startswith("+  "))
    kept = [f" {line[1:]}" for line in lines[start:end]]
    head = "".join(lines[:start]).replace("+59,15", f"+59,{15 + len(kept) - 1}")
    return head + "".join([*kept, *lines[end + 1 :]])


@pytest.fixture
def broken(tmp_path: Path, client: docker.DockerClient) -> Iterator[Path]:
    """Its tests are all new, so that it needs no tree without them."""
    place = Path(shutil.copytree(SOUND, tmp_path / f"broken-{uuid4().hex[:8]}"))
    (place / layout.DOCKERFILE).write_text(f"FROM {IMAGE}\nWORKDIR /app\n")
    (place / layout.REFERENCE).write_text(added(FIRST, FIRST_TESTS) + added(SECOND, SECOND_TESTS))
    rows = "".join(f"    - {name}\n" for name in LISTED)
    (place / layout.SOLUTION).write_text(
        f"<<TEST_MANIFEST>>\n- file: {FIRST}\n  tests:\n{rows}"
        f"- file: {SECOND}\n  tests:\n    - test_after_the_first\n<<TEST_MANIFEST>>\n"
    )
    (place / layout.REMOVAL).write_text(without_first_function((place / layout.REMOVAL).read_text()))
    parser = (place / layout.PARSER).read_text()
    head, _, tail = parser.partition("    known = found.get(name, SEVERITY[0])\n")
    blind = "    if name.endswith('test_unseen'):\n        return\n    known = found.get(name, SEVERITY[0])\n"
    (place / layout.PARSER).write_text(f"{head}{blind}{tail}")
    yield place
    for tag in tags_of_all(client):
        if tag.startswith(f"testwright/swe-atlas-{place.name}-"):
            client.images.remove(tag, force=True)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """For the sound task upstream's whole tree, less its reference; for the other one that tree as it is."""
    whole = asyncio.run(repo_image(Catalog().repo("aiosmtpd"))).reference
    metadata = published_task(Catalog().task(f"swe-atlas:{SOUND}")).description.metadata
    path = tmp_path / "images.yaml"
    path.write_text(f"{metadata.repository}@{metadata.base_commit}: {whole}\n{IMAGE}: {whole}\n")
    return path


def checked(images: Path, *places: Path) -> list[TaskCheck]:
    catalog = Catalog(options=TaskOptions(images))
    chosen = {f"swe-atlas:{place}": Level.FULL for place in places}
    return check_tasks(catalog, chosen, len(places), lambda _task, _part: None, lambda _: None)


def test_every_known_defect_is_named_with_its_evidence_and_a_sound_task_has_none(
    images: Path, broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_arms(monkeypatch, 0)
    sound, done = checked(images, SOUND, broken)
    assert sound.passed, [(step.id, step.outcome, step.problems) for step in sound.steps]
    [told] = sound.problems
    assert told.message == "without effect here: verifier.env (JUDGE_MODEL), handed to no container"
    assert [step.id for step in sound.steps][-4:] == ["oracle", "file-alone", "run-script-twice", "nop"]
    assert [remark for step in sound.steps for remark in step.remarks] == []

    told = [remark for step in done.steps for remark in step.remarks]
    assert told == [f"the reference is failed by the {rules} rules" for rules in ("testwright", "published")]
    found = {step.id: [(item.message, item.severity) for item in step.problems] for step in done.steps}
    unrelated, *unseen, text, data = found["oracle"]
    assert unrelated == (
        "removal unrelated to part of the objective: these pass without the code as well: "
        f"{FIRST}::test_the_stream_is_chosen (both rules)",
        Severity.WARNING,
    )
    [(lines, _), (hidden, _)] = unseen
    assert lines.startswith("the parser can't see it: test_lines has no result on the code as it is (published rules")
    assert lines.endswith(f"nearest: {FIRST}::test_lines[one], {FIRST}::test_lines[two]")
    assert hidden.startswith("the parser can't see it: test_unseen has no result on the code as it is (both rules)")
    assert f"the log has the line: {FIRST}::test_unseen PASSED" in hidden
    both = "is what 2 results count for (published rules): "
    both += f"{FIRST}::TestText::test_body, {FIRST}::TestBytes::test_body"
    assert text == (f"one name, several tests: TestText.test_body {both}", Severity.WARNING)
    assert data == (f"one name, several tests: TestBytes.test_body {both}", Severity.WARNING)
    assert found["file-alone"] == [
        (
            f"passes only by what another file leaves behind: {SECOND}::test_after_the_first is PASSED when all run "
            f"together, FAILED when {SECOND} runs alone",
            Severity.ERROR,
        )
    ]
    assert found["run-script-twice"] == [
        (f"two runs in a row differ: {FIRST}::test_works_once is PASSED, then FAILED", Severity.ERROR)
    ]
    assert found["nop"] == []


def test_a_reference_that_an_image_does_not_hold_is_told_with_its_file(images: Path, broken: Path) -> None:
    shutil.copy(SOUND / layout.DOCKERFILE, broken / layout.DOCKERFILE)
    [done] = checked(images, broken)
    [step] = [step for step in done.steps if step.outcome is StepOutcome.FAILED]
    [problem] = step.problems
    assert (step.id, problem.where) == ("image-present", str(broken / layout.REFERENCE))
    assert problem.message.startswith("it can't be taken out of the tree of testwright/aiosmtpd-repo:")
    assert "; map an image that has the agent's tree in /app, by the name that its Dockerfile has" in problem.message
    assert " -x '" in problem.message
