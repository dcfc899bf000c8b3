"""Every defect that can be planted in a task's files is found without a container, at its place, and no other is."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import PROTOCOL_VERSION
from harness.authoring.task_check.check import check_tasks
from harness.authoring.task_check.command import check, fix_all, levels, parts_named
from harness.authoring.task_check.context import CheckOrder
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.problem import Severity
from harness.specs.task_facts import Level, TaskCheck
from tests.support.sound_catalog import OTHERWISE, PROBES, PRODUCT, TASK, added, changed, rewritten, sound_catalog


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """A catalog with nothing wrong in it, and a cache beside it."""
    place = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TESTWRIGHT_CACHE", str(place / "cache"))
        sound_catalog(place / "catalog")
    return place


@pytest.fixture
def catalog(sound, tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(sound / "cache"))
    return Path(shutil.copytree(sound / "catalog", tmp_path / "catalog"))


def quick(directory: Path) -> TaskCheck:
    [done] = check_tasks(Catalog(directory), {TASK: Level.QUICK}, 1, lambda task, part: None, lambda done: None)
    return done


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def plant(directory: Path) -> None:
        path = directory / name.replace("TASK", TASK)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return plant


def write(name: str, text: str) -> Callable[[Path], None]:
    def plant(directory: Path) -> None:
        path = directory / name.replace("TASK", TASK)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return plant


def delete(name: str) -> Callable[[Path], None]:
    def plant(directory: Path) -> None:
        path = directory / name.replace("TASK", TASK)
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return plant


RUBRIC, FOLDER = "rubrics/TASK.yaml", "tasks/TASK"
TOTAL = "Tests that all numbers of a list end up in the total."
NO_COVER = edit(f"{FOLDER}/reference/covers.yaml", '["1.1", "1.2"]', "[]")
PRODUCTION = changed("sums.py", PRODUCT, "    result = start\n", "    result=start\n")
FAR = changed("sums.py", PRODUCT, "    return total_of(numbers) / len(numbers)\n",
              "    return total_of(numbers) / numbers.__len__()\n")  # fmt: skip
HUGE = "".join(f"+    result += {number} * 0\n" for number in range(50))

# defect: how it is planted, where it is found, what is said of it
DEFECTS = {
    "unknown key": (edit(f"{FOLDER}/task.yaml", "title:", "titel:"), f"{FOLDER}/task.yaml:5", "did you mean 'title'"),
    "rubric isn't YAML": (write(RUBRIC, "a: ["), RUBRIC, "not YAML"),
    "no canary": (edit(f"{FOLDER}/task.yaml", "canary:", "#"), f"{FOLDER}/task.yaml", "has no canary"),
    "canary of another form": (
        edit(f"{FOLDER}/task.yaml", "00000000-", "0-"), f"{FOLDER}/task.yaml:6", "not of the form"
    ),
    "no prompt": (delete(f"{FOLDER}/prompt.md"), f"{FOLDER}/prompt.md", "is missing"),
    "no covers": (delete(f"{FOLDER}/reference/covers.yaml"), f"{FOLDER}/reference/covers.yaml", "is missing"),
    "no removal": (delete(f"{FOLDER}/removal.patch"), f"{FOLDER}/removal.patch", "is missing"),
    "stray file": (write(f"{FOLDER}/notes.txt", "x"), f"{FOLDER}/notes.txt", "is no file of a task"),
    "short prompt": (write(f"{FOLDER}/prompt.md", "Test it.\n"), f"{FOLDER}/prompt.md", "9 characters"),
    "prompt as it was laid out": (
        edit(f"{FOLDER}/prompt.md", "for it:", "for it: TODO: say in a colleague's words what matters,"),
        f"{FOLDER}/prompt.md:2",
        "is still a skeleton",
    ),
    "prompt names the function": (
        edit(f"{FOLDER}/prompt.md", "for it:", "for total_of:"), f"{FOLDER}/prompt.md:2", "names total_of"
    ),
    "removal doesn't apply": (
        edit(f"{FOLDER}/removal.patch", "-    result = start", "-    result = begin"),
        f"{FOLDER}/removal.patch", "doesn't apply",
    ),
    "probe doesn't apply": (
        edit(f"{FOLDER}/probes/1.2.patch", "numbers:\n", "numerals:\n"), f"{FOLDER}/probes/1.2.patch", "doesn't apply"
    ),
    "withheld doesn't apply": (
        edit(f"{FOLDER}/withheld.patch", "1000001", "1000009"), f"{FOLDER}/withheld.patch", "doesn't apply"
    ),
    "reference doesn't apply": (
        write(f"{FOLDER}/reference/tests.patch", changed("tests/test_sums.py", "gone\n", "gone\n", "new\n")),
        f"{FOLDER}/reference/tests.patch", "patch-does-not-apply",
    ),
    "probe changes tests": (
        write(f"{FOLDER}/probes/1.2.patch", changed("tests/test_sums.py", "    assert mean([1, 3]) == 2\n",
              "    assert mean([1, 3]) == 2\n", "    assert mean([1, 3]) == 3\n").replace("-1,1 +1,1", "-5,1 +5,1")),
        f"{FOLDER}/probes/1.2.patch", "may only change production code",
    ),
    "probe is another one's twin": (
        lambda directory: shutil.copy(*(directory / "tasks" / TASK / "probes" / f"1.{n}.patch" for n in (1, 2))),
        f"{FOLDER}/probes/1.2.patch", "makes the same code as 1.1.patch",
    ),
    "probe adds a file": (
        write(f"{FOLDER}/probes/1.2.patch", added("new.py", "x = 1")),
        f"{FOLDER}/probes/1.2.patch", "it may only change what is there",
    ),
    "probe without a twin": (
        delete(f"{FOLDER}/twins/1.2.patch"), f"{FOLDER}/twins/1.2.patch", "is missing: an edit of the probe's place"
    ),
    "twin of no probe": (
        lambda directory: shutil.copy(*(directory / "tasks" / TASK / "twins" / f"1.{n}.patch" for n in (1, 9))),
        f"{FOLDER}/twins/1.9.patch", "there is no probes/1.9.patch",
    ),
    "twin is the probe": (
        lambda directory: shutil.copy(
            directory / "tasks" / TASK / "probes" / "1.1.patch", directory / "tasks" / TASK / "twins" / "1.1.patch"
        ),
        f"{FOLDER}/twins/1.1.patch", "makes the same code as 1.1.patch",
    ),
    "no second removal": (delete(f"{FOLDER}/garbage.patch"), f"{FOLDER}/garbage.patch", "a second removal"),
    "placebo of another function": (
        write(f"{FOLDER}/placebo.patch", FAR), f"{FOLDER}/placebo.patch", "leaves sums.py::total_of as it is"
    ),
    "no placebo": (delete(f"{FOLDER}/placebo.patch"), f"{FOLDER}/placebo.patch", "written differently at large"),
    "too few probes upon the placebo": (
        delete(f"{FOLDER}/probes-on-placebo/1.3.patch"), f"{FOLDER}/probes-on-placebo", "at least half"
    ),
    "probe upon the placebo doesn't apply": (
        edit(f"{FOLDER}/probes-on-placebo/1.3.patch", "total = start", "result = start"),
        f"{FOLDER}/probes-on-placebo/1.3.patch", "doesn't apply to the tree with placebo.patch",
    ),
    "probe upon the placebo takes the placebo back": (
        write(f"{FOLDER}/probes-on-placebo/1.3.patch",
              rewritten("sums.py", OTHERWISE, PRODUCT.replace(*PROBES["1.3"]))),
        f"{FOLDER}/probes-on-placebo/1.3.patch", "makes the same code as 1.3.patch",
    ),
    "probe of no criterion": (
        write(f"{FOLDER}/probes/1.9.patch", ""), f"{FOLDER}/probes/1.9.patch", "no criterion '1.9'"
    ),
    "reference changes production": (
        edit(f"{FOLDER}/reference/tests.patch", "diff", f"{PRODUCTION}diff"),
        f"{FOLDER}/reference/tests.patch", "left out of the judging",
    ),
    "manifest leaves a test out": (
        edit(f"{FOLDER}/reference/manifest.yaml", '    - "test_the_mean_of_nothing_is_none"\n', ""),
        f"{FOLDER}/reference/manifest.yaml", "manifest-unlisted-test",
    ),
    "manifest invents a test": (
        edit(f"{FOLDER}/reference/manifest.yaml", "is_none", "is_nil"),
        f"{FOLDER}/reference/manifest.yaml", "manifest-unknown-test",
    ),
    "covers invents a test": (
        edit(f"{FOLDER}/reference/covers.yaml", "is_none", "is_nil"),
        f"{FOLDER}/reference/covers.yaml:5", "is no test",
    ),
    "covers invents a criterion": (
        edit(f"{FOLDER}/reference/covers.yaml", '"1.2"', '"1.9"'),
        f"{FOLDER}/reference/covers.yaml:2", "no criterion '1.9'",
    ),
    "covers leaves a criterion without a test": (
        NO_COVER, f"{FOLDER}/reference/covers.yaml", "no test of the reference is there for criterion 1.1"
    ),
    "covers declares an overlap of no criterion": (
        edit(f"{FOLDER}/reference/covers.yaml", "tests/", 'overlaps: {"1.9": "why"}\ntests/'),
        f"{FOLDER}/reference/covers.yaml:1", "overlaps: no criterion '1.9'",
    ),
    "must-have without its probe": (
        delete(f"{FOLDER}/probes/1.4.patch"), f"{RUBRIC}:19", "there is no probes/1.4.patch"
    ),
    "must-have for a judge alone": (
        edit(RUBRIC, f'{TOTAL}"\n    graded_by: [probe]', f'{TOTAL}"\n    graded_by: [judge]'),
        f"{FOLDER}/probes/1.1.patch", "no criterion '1.1' graded by probe",
    ),
    "too few nice-to-haves": (
        lambda directory: edit(RUBRIC, (text := (directory / RUBRIC.replace("TASK", TASK)).read_text())[
            text.index('  - id: "5.1"'):], "")(directory),
        RUBRIC, "3 nice-to-haves; a rubric has 4 to 10",
    ),
    "vague word": (edit(RUBRIC, "all numbers", "properly all numbers"), f"{RUBRIC}:4", "'properly'"),
    "and/or": (edit(RUBRIC, "of a list", "of a list and/or tuple"), f"{RUBRIC}:4", "'and/or'"),
    "two statements": (edit(RUBRIC, TOTAL, f"{TOTAL} No number is lost."), f"{RUBRIC}:4", "more than one statement"),
    "leans on another criterion": (
        edit(RUBRIC, TOTAL, "Tests the same as criterion 1.2 with tuples."), f"{RUBRIC}:4", "leans on something else"
    ),
    "begins with a pronoun": (edit(RUBRIC, TOTAL, "They are all in the total at the end."), f"{RUBRIC}:4", "'They'"),
    "says too little": (edit(RUBRIC, TOTAL, "Tests a list of numbers."), f"{RUBRIC}:4", "too short"),
    "says it twice": (
        edit(RUBRIC, TOTAL, "Tests that numbers behind the first one are added as well."),
        f"{RUBRIC}:4", "word for word",
    ),
    "unknown criterion of an honest suite": (
        edit("tests/honest/TASK/suite-3/expect.yaml", 'criteria: ["1.1"]', 'criteria: ["1.66"]'),
        "tests/honest/TASK/suite-3/expect.yaml", "criterion 1.66, which the rubric doesn't have",
    ),
    "no manifest of an honest suite": (
        delete("tests/honest/TASK/suite-3/manifest.yaml"),
        "tests/honest/TASK/suite-3/manifest.yaml", "is missing or empty",
    ),
    "no honest suites": (delete("tests/honest/TASK"), "tests/honest/TASK", "2 suites that are good enough"),
    "one insufficient suite": (
        edit("tests/honest/TASK/suite-3/expect.yaml", "failed", "resolved"),
        "tests/honest/TASK", "1 suites that must be failed",
    ),
    "insufficient for no named criterion": (
        edit("tests/honest/TASK/suite-3/expect.yaml", 'criteria: ["1.1"]', ""),
        "tests/honest/TASK", "name the criteria",
    ),
}  # fmt: skip


def test_a_sound_task_has_no_problem(catalog):
    done = quick(catalog)
    assert done.problems == ()
    counts = {"must_haves": 6, "nice_to_haves": 4, "probes": 4, "twins": 4, "reference_tests": 4}
    assert done.counts.model_dump() == counts


def test_a_prompt_may_speak_of_a_todo(catalog: Path) -> None:
    edit(f"{FOLDER}/prompt.md", "for it:", "for it, as its TODO says:")(catalog)
    assert not [problem for problem in quick(catalog).problems if problem.severity is Severity.ERROR]


@pytest.mark.long
@pytest.mark.parametrize("defect", DEFECTS)
def test_planted_defect_is_found(catalog, defect, monkeypatch, tmp_path):
    plant, where, words = DEFECTS[defect]
    if where.startswith((RUBRIC, "tests/honest")):  # found without the tree, and much sooner
        monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "empty"))
    plant(catalog)
    done = quick(catalog)
    assert not done.passed
    told = [f"{problem.where} {problem.message}" for problem in done.problems]
    where = where.replace("TASK", TASK)
    assert [line for line in told if line.startswith(where) and words in line], told


@pytest.mark.parametrize(
    ("plant", "where", "words"),
    [
        (edit(RUBRIC, TOTAL, "Tests that ones and twos and threes end up in the total."), RUBRIC, "is it one demand"),
        (edit(f"{FOLDER}/probes/1.1.patch", "+        result = number\n", f"+        result = number\n{HUGE}"),
         f"{FOLDER}/probes/1.1.patch", "a probe is a small mutant"),
        (delete("tests/honest"), "honest/TASK", "aren't judged"),
        (edit(f"{FOLDER}/twins/1.1.patch", "+        result = result + number\n",
              f"+        result = result + number\n{HUGE}"),
         f"{FOLDER}/twins/1.1.patch", "its size tells them apart"),
        (write(f"{FOLDER}/twins/1.2.patch", FAR), f"{FOLDER}/twins/1.2.patch", "its place tells them apart"),
    ],
    ids=["several demands", "large probe", "no corpus at all", "large twin", "distant twin"],
)  # fmt: skip
def test_what_only_may_be_wrong_is_a_warning(catalog, plant, where, words):
    plant(catalog)
    if "large" in words or "small" in words:
        edit(f"{FOLDER}/probes/1.1.patch", "+3,7", "+3,57")(catalog)
    if "size" in words:
        edit(f"{FOLDER}/twins/1.1.patch", "+3,7", "+3,57")(catalog)
    done = quick(catalog)
    [problem] = [problem for problem in done.problems if words in problem.message]
    assert done.passed
    assert problem.severity is Severity.WARNING
    assert problem.where.startswith(where.replace("TASK", TASK))


def test_without_a_tree_the_rest_is_checked_and_said(catalog, monkeypatch, tmp_path):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "empty"))
    done = quick(catalog)
    assert [problem.message for problem in done.problems] == [
        "no patch was applied: this machine has no tree of the repository yet; testwright repo build tiny"
    ]
    assert done.passed


def test_a_manifest_that_lists_no_test_is_found_without_a_tree(catalog, monkeypatch, tmp_path):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "empty"))
    (catalog / "tasks" / TASK / "reference" / "manifest.yaml").write_text("[]\n")
    errors = [problem for problem in quick(catalog).problems if problem.where.endswith("manifest.yaml")]
    assert [problem.message for problem in errors] == ["lists no test of the reference, or can't be read"]


def test_fix_writes_what_can_be_derived_and_nothing_else(catalog):
    before = Catalog(catalog).task(TASK).digest
    edit(f"{FOLDER}/reference/manifest.yaml", '    - "test_the_mean_of_nothing_is_none"\n', "")(catalog)
    assert [problem.fixable for problem in quick(catalog).problems][:1] == [True]
    assert fix_all(Catalog(catalog), [TASK]) == [f"tasks/{TASK}/reference/manifest.yaml"]
    assert quick(catalog).problems == ()
    assert Catalog(catalog).task(TASK).digest == before
    assert fix_all(Catalog(catalog), [TASK]) == []


@pytest.mark.parametrize("before", [None, ""])
def test_fix_lists_the_tests_of_an_honest_suite_that_has_no_manifest(catalog, before):
    first, *others = sorted((catalog / "tests" / "honest" / TASK).glob("*/manifest.yaml"))
    text = first.read_text()
    first.unlink() if before is None else first.write_text(before)
    kept = [path.read_text() for path in others]
    assert fix_all(Catalog(catalog), [TASK]) == [first.relative_to(catalog).as_posix()]
    assert (first.read_text(), [path.read_text() for path in others]) == (text, kept)


def test_fix_gives_a_canary_and_drops_tests_that_are_gone(catalog):
    edit(f"{FOLDER}/task.yaml", "canary:", "# canary:")(catalog)
    edit(f"{FOLDER}/reference/covers.yaml", '  "test_the', '  "test_old": []\n  "test_the')(catalog)
    assert fix_all(Catalog(catalog), [TASK]) == [f"tasks/{TASK}/task.yaml", f"tasks/{TASK}/reference/covers.yaml"]
    assert quick(catalog).problems == ()


def test_fix_keeps_what_tests_are_for_where_no_manifest_could_be_written(catalog, monkeypatch, tmp_path):
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "no trees"))
    before = (catalog / "tasks" / TASK / "reference" / "covers.yaml").read_text()
    delete(f"{FOLDER}/reference/manifest.yaml")(catalog)
    assert fix_all(Catalog(catalog), [TASK]) == []
    assert (catalog / "tasks" / TASK / "reference" / "covers.yaml").read_text() == before


def test_a_file_with_comments_is_not_rewritten_and_nobody_is_told_that_it_will_be(catalog):
    edit(f"{FOLDER}/reference/covers.yaml", '  "test_the', '  "test_old": []  # why\n  "test_the')(catalog)
    [problem] = quick(catalog).problems
    assert not problem.fixable
    assert "take it out (by hand, as the file has comments)" in problem.message
    assert fix_all(Catalog(catalog), [TASK]) == []


def test_fix_guesses_no_criteria_of_a_test(catalog):
    edit(f"{FOLDER}/reference/covers.yaml", '  "test_the_mean_of_nothing_is_none": []\n', "")(catalog)
    assert fix_all(Catalog(catalog), [TASK]) == []
    [problem] = quick(catalog).problems
    assert not problem.fixable
    assert "say which criteria it is for" in problem.message


def write_record(directory: Path, catalog: Path, **other: object) -> None:
    """As a full check writes it."""
    digest = Catalog(catalog).task(TASK).digest
    facts = {"task": TASK, "task_digest": digest, "image_digest": "0", "isolation": "docker", "seconds": 1.0}
    facts |= {"protocol_version": PROTOCOL_VERSION, "harness_version": "0", "counts": {}, "steps": []}
    directory.mkdir(exist_ok=True)
    (directory / f"{TASK}.json").write_text(json.dumps({**facts, **other}))


def compared(catalog: Path, records: Path) -> list[str]:
    [done] = check(Catalog(catalog), {TASK: Level.QUICK}, 1, lambda task, part: None, records, write=False)
    return [problem.message for problem in done.problems]


def test_a_check_record_of_this_very_task_is_enough(catalog, tmp_path):
    write_record(tmp_path / "records", catalog)
    assert compared(catalog, tmp_path / "records") == []


def test_a_check_record_of_an_older_task_is_one_line(catalog, tmp_path):
    write_record(tmp_path / "records", catalog)
    edit(f"{FOLDER}/prompt.md", "all over", "nearly all over")(catalog)
    [message] = compared(catalog, tmp_path / "records")
    assert message == (
        "its digest is not the task's, which has changed since it was checked in full; run make check-tasks"
    )


@pytest.mark.parametrize(
    ("text", "words"), [(None, "was never checked in full"), ("{", "not YAML"), ("{}", "is missing")]
)
def test_a_missing_or_broken_check_record_is_one_line(catalog, tmp_path, text, words):
    (tmp_path / "records").mkdir()
    if text is not None:
        (tmp_path / "records" / f"{TASK}.json").write_text(text)
    [message] = compared(catalog, tmp_path / "records")
    assert words in message


def test_a_sample_takes_the_quickest_task_of_a_language_through_the_gate(catalog, tmp_path):
    names = (TASK, "another", "third")
    for name in names[1:]:
        shutil.copytree(catalog / "tasks" / TASK, catalog / "tasks" / name)
        edit(f"tasks/{name}/task.yaml", f"id: {TASK}", f"id: {name}")(catalog)
        shutil.copy(catalog / "rubrics" / f"{TASK}.yaml", catalog / "rubrics" / f"{name}.yaml")
        edit(f"rubrics/{name}.yaml", f"task: {TASK}", f"task: {name}")(catalog)
    ran = {"id": "reference", "outcome": "passed", "seconds": 3.0}
    write_record(tmp_path / "records", catalog, steps=[ran])
    assert levels(Catalog(catalog), Catalog(catalog).chosen(["*"]), Level.BRIEF, True, tmp_path / "records") == {
        "another": Level.BRIEF, TASK: Level.GATE, "third": Level.BRIEF,
    }  # fmt: skip
    assert levels(Catalog(catalog), Catalog(catalog).chosen(["*"]), Level.BRIEF, True, None)["another"] is Level.GATE
    assert set(levels(Catalog(catalog), Catalog(catalog).chosen(["*"]), Level.BRIEF, False, None).values()) == {
        Level.BRIEF
    }


def test_only_the_parts_that_are_named_are_checked(catalog):
    order = CheckOrder(only=parts_named(["prompt", "reference's files"]))
    named = check(Catalog(catalog), {TASK: Level.QUICK}, 1, lambda *_: None, order=order)
    assert [step.id.value for step in named[0].steps] == ["prompt", "reference-files"]
    with pytest.raises(UserError, match="did you mean 'prompt'"):
        parts_named(["promt"])


def test_where_the_withheld_patch_does_not_apply_nothing_asks_for_an_image(catalog):
    edit(f"{FOLDER}/withheld.patch", "1000001", "1000009")(catalog)
    assert not [problem for problem in quick(catalog).problems if "repo build" in problem.message]
