"""The example language of docs/extending.md, as the page shows it: a fifth language from outside this package."""

import asyncio
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.agents.mini import Mini
from harness.agents.registry import agent_context
from harness.authoring.task_check.controls import worthless_submissions
from harness.judging.languages.registry import LANGUAGES, language_of
from harness.judging.submission.extraction import Submission
from harness.judging.submission.manifest import parse_manifest
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.verdict import VerdictRecord
from harness.judging.verify.verification import Judging
from harness.models.replay import ScriptedModel
from harness.sandbox.git_tree import GitTree
from harness.sandbox.local.engine import LocalEngine
from harness.sandbox.protocol import Image, SandboxOptions
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.task import Task
from harness.tracks.registry import track_of
from tests.support.command import testwright
from tests.support.docs import examples
from tests.support.small_task import scaffold
from tests.support.sound_catalog import added, changed

[CODE] = examples("extending.md", "A language")
[REGISTRATION] = examples("extending.md", "A language", "toml")
PRODUCT = """\
total() {
    local result=0 number
    for number in "$@"; do
        result=$((result + number))
    done
    echo "$result"
}
"""
ADDS = "        result=$((result + number))\n"
KEPT = '. src/sums.sh\n\ntest_nothing_is_zero() {\n    [ "$(total)" = 0 ]\n}\n'
SUITE = '. src/sums.sh\n\ntest_all_numbers_are_added() {\n    [ "$(total 1 2 3)" = 6 ]\n}\n'
LAZY = '. src/sums.sh\n\ntest_one_number_is_its_own_sum() {\n    [ "$(total 5)" = 5 ]\n}\n'
RUN_TESTS = """\
#!/bin/bash
# run_tests FILE::TEST... writes a report for each file, in the order in which they are named.
declare -A numbers
status=0
for id in "$@"; do
    file=${id%%::*}
    [[ ${numbers[$file]} ]] || numbers[$file]=$((${#numbers[@]} + 1))
    report=$TESTWRIGHT_REPORT_DIR/${numbers[$file]}.xml
    module=${file//\\//.}
    if bash -c '. "./$1" && "$2"' test "$file" "${id#*::}"; then
        result=""
    else
        result='<failure message="assert"/>' status=1
    fi
    echo "<testcase classname='$module' name='${id#*::}' time='0.1'>$result</testcase>" >> "$report"
done
for number in "${numbers[@]}"; do
    report=$TESTWRIGHT_REPORT_DIR/$number.xml
    echo "<testsuites><testsuite name='s'>$(< "$report")</testsuite></testsuites>" > "$report"
done
exit "$status"
"""


@pytest.fixture
def registered() -> Iterator[None]:
    names: dict[str, Any] = {}
    exec(CODE, names)
    LANGUAGES.register("shell", names["LANGUAGE"])
    yield
    LANGUAGES.unregister("shell")


def catalog(directory: Path, language: str = "shell") -> Path:
    """A catalog of one repository of shell scripts and one task on it. Its `repo.yaml` names no report format."""
    repo = {
        "name": "sums", "language": language, "upstream": "https://example.invalid/sums", "version": "1.0",
        "licence": "MIT", "test_paths": ["tests/**"],
        "source": {"kind": "pypi", "package": "sums", "version": "1.0", "sha256": "0" * 64},
    }  # fmt: skip
    criterion = {
        "id": "1.1",
        "axis": 1,
        "importance": "must",
        "statement": "Tests that all numbers are added.",
        "graded_by": ["probe"],
    }
    files = {
        "repos/sums/repo.yaml": yaml.safe_dump(repo, sort_keys=False),
        "tasks/sums-total/task.yaml": "id: sums-total\nrepo: sums\nkind: unit\ntitle: total\n",
        "tasks/sums-total/prompt.md": "I need tests for total().\n",
        "tasks/sums-total/removal.patch": changed("src/sums.sh", PRODUCT, '    echo "$result"\n', "    return 1\n"),
        "tasks/sums-total/probes/1.1.patch": changed("src/sums.sh", PRODUCT, ADDS, "        result=$number\n"),
        "tasks/sums-total/reference/tests.patch": added("tests/test_total.sh", SUITE),
        "tasks/sums-total/reference/manifest.yaml": manifest("test_all_numbers_are_added()"),
        "rubrics/sums-total.yaml": yaml.safe_dump({"task": "sums-total", "criteria": [criterion]}),
    }
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text)
    return directory


def manifest(*names: str) -> str:
    return yaml.safe_dump([{"file": "tests/test_total.sh", "tests": list(names)}])


def judged(directory: Path, task: Task, submission: Submission) -> VerdictRecord:
    """By all of the verifier, on the local engine: real processes run the scripts."""

    async def judge() -> VerdictRecord:
        for path, text in {"src/sums.sh": PRODUCT, "tests/test_kept.sh": KEPT}.items():
            (directory / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / "tree" / path).write_text(text)
        for name in ("venv/bin", "bin"):
            (directory / name).mkdir(parents=True)
        (directory / "bin" / "run_tests").write_text(RUN_TESTS)
        (directory / "bin" / "run_tests").chmod(0o755)
        tree = await GitTree.create(directory / "tree.git", directory / "tree")
        image = Image(str(directory), "digest", "/app", tree.directory)
        engine = LocalEngine(lambda _: asyncio.sleep(0, image), bubblewrap=False)
        toolchain = track_of(task).toolchain(task)
        labels = {"testwright.test": "shell"}
        context = ArmContext(
            engine, image, labels, slots=asyncio.Semaphore(1), toolchain=toolchain, options=SandboxOptions()
        )
        return (await Judging(task, context).run(submission)).record

    return asyncio.run(judge())


def test_a_repository_and_its_task_are_read(registered: None, tmp_path: Path) -> None:
    task = Catalog(catalog(tmp_path)).task("sums-total")
    assert (task.repo.language, task.repo.report) == ("shell", "junit")
    assert language_of(task.repo).title == "Shell"


def test_a_misspelt_language_is_an_error_with_file_line_and_the_near_name(registered: None, tmp_path: Path) -> None:
    wrong = catalog(tmp_path, language="shel")
    with pytest.raises(UserError) as caught:
        Catalog(wrong).repo("sums")
    where = wrong / "repos" / "sums" / "repo.yaml"
    assert str(caught.value) == f"{where}:2: language: unknown language 'shel'; did you mean 'shell'?"


def test_prompts_say_how_its_tests_are_named(registered: None, tmp_path: Path) -> None:
    task = Catalog(catalog(tmp_path)).task("sums-total")
    [_, told] = Mini(agent_context(task, scaffold("mini"), ScriptedModel([]))).prompts()
    assert "The ids are the names of functions, `test_function`." in told.content
    assert '- "test_something"' in told.content


def test_ids_are_read_in_its_form(registered: None) -> None:
    [test] = parse_manifest(manifest("test_all_numbers_are_added()").encode(), LANGUAGES.get("shell").ids).tests
    assert test.name == "test_all_numbers_are_added"


@pytest.mark.parametrize(
    ("suite", "listed", "verdict", "codes"),
    [
        (SUITE, "test_all_numbers_are_added", Verdict.RESOLVED, []),
        (LAZY, "test_one_number_is_its_own_sum", Verdict.FAILED, [ReasonCode.CRITERION_UNMET]),
        (SUITE, "test_another", Verdict.FAILED, [ReasonCode.MANIFEST_UNKNOWN_TEST]),
        (SUITE.replace(" = 6", " = 7"), "test_all_numbers_are_added", Verdict.FAILED, [ReasonCode.BASELINE_RED]),
    ],
    ids=["a good suite", "a lazy suite", "a name that is not there", "a red suite"],
)
def test_submissions_are_judged(
    registered: None, tmp_path: Path, suite: str, listed: str, verdict: Verdict, codes: list[ReasonCode]
) -> None:
    task = Catalog(catalog(tmp_path / "catalog")).task("sums-total")
    submission = Submission(added("tests/test_total.sh", suite).encode(), manifest(listed).encode())
    record = judged(tmp_path / "image", task, submission)
    assert (record.verdict, [reason.code for reason in record.reasons][: len(codes)]) == (verdict, codes), record


def test_its_worthless_test_survives_the_removal(registered: None, tmp_path: Path) -> None:
    task = Catalog(catalog(tmp_path / "catalog")).task("sums-total")
    record = judged(tmp_path / "image", task, worthless_submissions(task)["a test that asserts nothing"])
    assert ReasonCode.SURVIVED_REMOVAL in [reason.code for reason in record.reasons], record


async def test_installed_as_a_package_it_is_known_to_the_command_line(tmp_path: Path) -> None:
    installed, data = tmp_path / "site", catalog(tmp_path / "catalog")
    facts = installed / "shell_language-1.0.dist-info"
    facts.mkdir(parents=True)
    [(group, points)] = tomllib.loads(REGISTRATION)["project"]["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {place}" for name, place in points.items()), ""]
    (facts / "entry_points.txt").write_text("\n".join(lines))
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: shell-language\nVersion: 1.0\n")
    (installed / "shell_language.py").write_text(CODE)
    listing = ("--catalog", data, "repo", "list", "--json")
    done = await testwright(*listing, cwd=tmp_path, PYTHONPATH=str(installed))
    assert done.status == 0, done
    assert [(repo["language"], repo["report"]) for repo in json.loads(done.output)] == [("shell", "junit")]
    without = await testwright(*listing, cwd=tmp_path)
    assert without.status == 2
    assert "repo.yaml:2: language: unknown language 'shell'; known: c, go, python, typescript" in without.complaint
