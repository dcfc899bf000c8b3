"""Reports of the lines and branches that tests reach are read with care, and the removed lines alone count."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.judging.testing.reaching.measuring import Laid, Reached, has_branches, reach_job, read_reached
from harness.judging.verify.arms import Suite
from harness.judging.verify.mutants.candidates import Candidates, Coverage, removed_coverage, summary
from harness.judging.verify.mutants.records import MutantRecord, MutantStatus, SourceRange
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import task_image
from harness.sandbox.local.engine import LocalEngine
from harness.sandbox.protocol import Image, JobResult
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.test_results import TestId

TRACER = files("harness.judging.testing.reaching") / "in_container" / "branches.py"
SOURCE = '''\
def sign(number, strict):
    """1, 0 or -1."""
    if number and (strict or number > 2):
        return 1 if number > 0 else -1
    for digit in range(number):
        strict = digit
    try:
        with open(__file__):
            assert number >= 0
    except ValueError:
        return None
    finally:
        while strict:
            strict = False
    return [each for each in (0, 1) if each]


def never(number):
    if number:
        return 1
'''


def traced(folder: Path, *calls: str) -> dict[str, set]:
    """What the tracer says of `SOURCE` after these calls, made in a process of their own."""
    (folder / "signs.py").write_text(SOURCE)
    (folder / "hook").mkdir()
    (folder / "hook" / "sitecustomize.py").write_bytes(TRACER.read_bytes())
    env = {
        "PYTHONPATH": f"{folder / 'hook'}:{folder}",
        "TESTWRIGHT_REACHED": str(folder),
        "TESTWRIGHT_FILES": json.dumps(["signs.py", "absent.py"]),
    }
    program = "import signs\n" + "\n".join(calls)
    subprocess.run([sys.executable, "-c", program], cwd=folder, env=env, check=True)
    [report] = folder.glob("reached-*.json")
    return {what: set(each) for what, each in json.loads(report.read_text())["signs.py"].items()}


def missing(found: dict[str, set]) -> list[str]:
    """The branches that weren't taken: line, kind, way."""
    assert found["taken"] <= found["branches"]
    parts = (name.replace(",", ":").split(":") for name in found["branches"] - found["taken"])
    return sorted(f"{part[0]} {part[-3]} {part[-1]}" for part in parts)


def test_lines_and_branches_of_python_are_those_that_ran(tmp_path: Path) -> None:
    found = traced(tmp_path, "signs.sign(1, True)", "signs.sign(0, True)")
    assert found["lines"] - found["ran"] == {6, 10, 11, 19, 20}
    # Each part of a condition has both its ways: `number > 2` was never asked.
    told = missing(found)
    assert [each for each in told if each.startswith("3 ")] == ["3 if 0", "3 if 0", "3 if 1"]
    assert [each for each in told if each[0] not in "31"] == ["4 if 0", "5 for 1", "9 if 0"]
    assert [each for each in told if each.startswith("19 ")] == ["19 if 0", "19 if 1"]


def test_what_is_compiled_twice_counts_once(tmp_path: Path) -> None:
    """The body of a `finally`, and the head of the loop in it."""
    found = traced(tmp_path, "signs.sign(0, True)")
    assert len([name for name in found["branches"] if name.startswith("13,")]) == 2
    assert not [each for each in missing(found) if each.startswith("13 ")]


def test_all_calls_together_take_every_branch_of_a_function(tmp_path: Path) -> None:
    calls = [f"signs.sign({number}, {strict})" for number in (0, 1, 3) for strict in (True, False)]
    found = traced(tmp_path, *calls, "signs.never(0)", "signs.never(1)")
    told = missing(found)
    assert [each for each in told if each.split()[0] not in ("4", "9", "10")] == []


def result(*outputs: bytes) -> JobResult:
    named = {str(number): data for number, data in enumerate(outputs)}
    return JobResult(0, False, False, b"", named, True, 1.0)


@pytest.fixture
def tree(tmp_path: Path) -> GitTree:
    for path in ("src/a.py", "src/a.c", "pkg/a.go"):
        (tmp_path / "work" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / path).write_text("1\n")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "a"]):
        subprocess.run(["git", *command], cwd=tmp_path / "work", check=True)
    return GitTree(tmp_path / "work" / ".git")


async def test_reports_of_several_processes_are_put_together(tree: GitTree) -> None:
    one = {"src/a.py": {"lines": [1, 2, 3], "ran": [1], "branches": ["2,0:if:0:0"], "taken": []}}
    other = {"src/a.py": {"lines": [1, 2, 3], "ran": [3], "branches": [], "taken": ["2,0:if:0:0"]}, "gone.py": [1]}
    found = await read_reached("python", tree, result(json.dumps(one).encode(), json.dumps(other).encode()))
    assert found == {"src/a.py": Reached({1, 2, 3}, {1, 3}, {"2,0:if:0:0"}, {"2,0:if:0:0"})}


async def test_each_language_tool_is_read(tree: GitTree) -> None:
    profile = b"mode: set\nexample.org/mod/pkg/a.go:3.5,4.7 2 1\nexample.org/mod/pkg/a.go:6.1,7.2 1 0\n"
    assert await read_reached("go", tree, result(profile)) == {"pkg/a.go": Reached({3, 4, 6, 7}, {3, 4})}
    lines = [
        {"line_number": 4, "count": 2, "branches": [{"count": 2, "fallthrough": True}, {"count": 0}]},
        {"line_number": 5, "count": 0, "branches": []},
    ]
    counts = json.dumps({"files": [{"file": "src/a.c", "lines": lines}]}).encode()
    assert await read_reached("c", tree, result(counts)) == {"src/a.c": Reached({4, 5}, {4}, {"4:0", "4:1"}, {"4:0"})}
    assert [language for language in ("python", "c", "typescript", "go") if has_branches(language)][
        -1
    ] == "typescript"


@pytest.mark.parametrize(
    ("language", "data"),
    [
        ("python", b"{"),
        ("python", b"[" * 100_000),
        ("typescript", b'{"src/a.py": {"lines": ["x"], "ran": [], "branches": [], "taken": []}}'),
        ("python", b'{"src/a.py": "all"}'),
        ("c", b'{"files": [{"file": 1}]}'),
        ("c", b"\xff"),
    ],
)
async def test_a_report_that_tests_have_written_over_is_none(tree: GitTree, language: str, data: bytes) -> None:
    with pytest.raises(UserError, match="the report of the lines that tests reach can't be read"):
        await read_reached(language, tree, result(data))


FOUND = {"a.py": Reached({1, 2, 3, 4}, {1, 2}, {"2,0:if:0:0", "2,0:if:0:1", "9,0:if:0:0", "x"}, {"2,0:if:0:1"})}
REMOVED = {"a.py": frozenset({2, 3, 5}), "b.py": frozenset({1})}


def test_only_the_removed_lines_count() -> None:
    said = summary(REMOVED, FOUND, branched=True)
    assert (said.lines, said.reached, said.branches, said.taken, said.missed) == (2, 1, 2, 1, ("a.py:3",))
    said = summary(REMOVED, FOUND, branched=False)
    assert (said.branches, said.taken) == (None, None)


@pytest.mark.parametrize(
    ("status", "line", "becomes"),
    [
        (MutantStatus.SURVIVED, 3, MutantStatus.NO_COVERAGE),
        (MutantStatus.SURVIVED, 2, MutantStatus.SURVIVED),
        (MutantStatus.SURVIVED, 7, MutantStatus.SURVIVED),
        (MutantStatus.KILLED, 3, MutantStatus.KILLED),
        (MutantStatus.PENDING, 3, MutantStatus.PENDING),
    ],
    ids=["no test runs it", "a test runs it", "no tool knows the line", "killed all the same", "never ran"],
)
def test_a_mutant_that_lives_where_no_test_runs_has_no_coverage(
    status: MutantStatus, line: int, becomes: MutantStatus
) -> None:
    mutant = MutantRecord(
        id="1",
        file="a.py",
        operator="UpdateOperator",
        place=SourceRange(line=line, column=1, end_line=line, end_column=2),
        original="a",
        replacement="b",
        description="a becomes b",
        status=status,
    )
    assert Coverage(files=FOUND).of(mutant).status is becomes
    assert Coverage(why_none="the time was over").of(mutant).status is status


async def test_a_sandbox_that_is_no_container_counts_nothing_and_says_so() -> None:
    context: Any = SimpleNamespace(engine=LocalEngine(task_image, bubblewrap=False))
    found = await removed_coverage(
        Catalog().task("aiosmtpd-proxy-tlv"), context, Suite((), {}), Candidates({}, (), {})
    )
    assert found.summary is None
    assert found.why_none == "the sandbox 'local' has no place for the tools that count lines"


def test_a_job_that_counts_lines_lays_the_suite_over_the_tree_and_names_the_files() -> None:
    repo = Catalog().repo("restic")
    image = Image(reference="r", digest="d", workdir="/app", tree=Path("t"))
    laid = Laid({"a_test.go": b"1", "run": b"2"}, frozenset({"run"}), ("gone.go",))
    job = reach_job(repo, image, "suite", [TestId("a_test.go", "TestA")], ["internal/a/a.go"], laid, seconds=7)
    placed = {file.path: file.mode for file in job.files}
    assert (placed["/app/a_test.go"], placed["/app/run"]) == (0o644, 0o755)
    assert job.argv[3:] == ("reach", "1", "gone.go", "go", "suite", "a_test.go::TestA")
    assert (job.env["TESTWRIGHT_FILES"], job.env["TESTWRIGHT_FOLDERS"]) == ('["internal/a/a.go"]', "./internal/a")
    assert job.seconds == 7
    assert "TESTWRIGHT_FILES" not in reach_job(repo, image, "with", []).env
