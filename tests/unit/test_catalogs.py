"""Several catalogs at once: folders, commits of git repositories, what a package brings, and tasks in two halves."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from harness.authoring.catalog_sources import places_of
from harness.authoring.suite_scores import ScoredMutant, ScoredSuite, SuiteScores
from harness.authoring.task_split import PUBLIC
from harness.judging.verify.mutants.records import MutantStatus
from harness.runs.regrade import regrade
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import place_of
from harness.specs.errors import UserError
from harness.specs.reasons import ReasonCode, Verdict
from tests.support.command import typed
from tests.support.scenes import Scene, scenes
from tests.support.sound_catalog import REFERENCE, TASK, TESTS, sound_catalog

LISTED = json.dumps([{"file": "tests/test_total.py", "tests": list(TESTS)}])
SCRIPT = {
    "messages": [
        {"commands": [f"cat > tests/test_total.py <<'END'\n{REFERENCE}END",
                      f"cat > $TESTWRIGHT_AGENT_LOGS/manifest.yaml <<'END'\n{LISTED}\nEND"]},
        {"commands": ["echo TESTWRIGHT_SUBMIT"]},
    ]
}  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Callable[..., Scene]]:
    with scenes(tmp_path, {}) as made:
        yield made


def copied(catalog: Path, name: str, title: str = "", without: str = "") -> Path:
    """The catalog under another name, its task with another title, without one of its folders."""
    other = shutil.copytree(catalog, catalog.parent / name)
    if without:
        shutil.rmtree(other / without)
    file = other / "tasks" / TASK / "task.yaml"
    file.write_text(file.read_text().replace("Adding up", title or "Adding up"))
    return other


def renamed(catalog: Path, name: str) -> None:
    """The catalog's task gets another id."""
    (catalog / "tasks" / TASK).rename(catalog / "tasks" / name)
    for file in (catalog / "tasks" / name / "task.yaml", catalog / "rubrics" / f"{TASK}.yaml"):
        file.write_text(file.read_text().replace(TASK, name))
    (catalog / "rubrics" / f"{TASK}.yaml").rename(catalog / "rubrics" / f"{name}.yaml")


def test_a_task_that_several_catalogs_have_is_named_with_its_catalog(tmp_path):
    first = sound_catalog(tmp_path / "ours").directory
    theirs = copied(first, "theirs", "Theirs")
    both = Catalog(places_of([str(first), f"others={theirs}"]))
    assert both.names("tasks") == [f"others/{TASK}", f"ours/{TASK}"]
    assert (both.task(f"others/{TASK}").file.title, both.task(f"ours/{TASK}").file.title) == ("Theirs", "Adding up")
    assert [task.address for task in both.select(["others/*"])] == [f"others/{TASK}"]
    assert both.task(f"others/{TASK}").repo.directory == theirs / "repos" / "tiny"
    with pytest.raises(UserError, match=f"'{TASK}' is in several catalogs; say others/{TASK} or ours/{TASK}"):
        both.task(TASK)
    with pytest.raises(UserError, match="2 of the chosen directories are tasks of this name; choose one"):
        both.select(["*"])


def test_a_task_of_one_catalog_alone_goes_by_its_id_and_by_both_names(tmp_path):
    first = sound_catalog(tmp_path / "ours").directory
    renamed(copied(first, "theirs", without="repos"), "sums-again")
    both = Catalog(places_of([str(first), str(tmp_path / "theirs")]))
    assert [task.id for task in both.select(["*"])] == ["sums-again", TASK]
    assert [task.id for task in both.select(["theirs/*"])] == ["sums-again"]
    assert both.task("theirs/sums-again").id == "sums-again"
    assert both.task("sums-again").repo.directory == first / "repos" / "tiny", "its own catalog has none"
    with pytest.raises(UserError, match="unknown task 'theirs/sums'; known: sums-again, sums-total"):
        both.select(["theirs/sums"])


def test_what_lies_beside_a_task_is_read_in_its_own_catalog(tmp_path):
    first = sound_catalog(tmp_path / "ours").directory
    renamed(copied(first, "theirs"), "sums-again")
    places = ("--catalog", first, "--catalog", tmp_path / "theirs")
    done = typed(*places, "task", "check", "sums-again", "--quick", "--json", cwd=tmp_path)
    [check] = json.loads(done.output)["tasks"] if "tasks" in json.loads(done.output) else json.loads(done.output)
    where = [problem["where"] for step in check["steps"] for problem in step["problems"]]
    assert any(place.startswith("tests/honest/sums-again") for place in where), "it has no honest suites yet"
    assert not [place for place in where if place.startswith("/")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["{ours}", "{theirs}/ours"], "2 catalogs are called 'ours'; give one another name: --catalog NAME=PLACE"),
        (["nowhere"], "--catalog nowhere: no folder, no git repository .* no catalog of a package .known: built-in"),
        (["{theirs}"], "theirs: no catalog here"),
        (["{ours}@0123456"], "--git: .* has no commit 0123456|does not appear to be a git repository"),
    ],
)
def test_what_is_no_catalog_is_told_in_a_line(tmp_path, given, message):
    ours = sound_catalog(tmp_path / "ours").directory
    shutil.copytree(ours, tmp_path / "theirs" / "ours")
    with pytest.raises(UserError, match=message):
        Catalog(places_of([each.format(ours=ours, theirs=tmp_path / "theirs") for each in given]))


def test_a_commit_of_a_git_repository_is_a_catalog_and_is_fetched_once_by_its_whole_hash(tmp_path):
    origin = sound_catalog(tmp_path / "sums").directory
    git = ("git", "-C", str(origin), "-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "tasks"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    [place] = places_of([f"{origin}@{commit}"])
    assert place.name == "sums"
    assert Catalog([place]).task(TASK).digest == Catalog(origin).task(TASK).digest
    shutil.rmtree(origin)
    assert places_of([f"mine=file://{origin}@{commit}"]) == (place._replace(name="mine"),)
    with pytest.raises(UserError, match="--git: "):
        places_of([f"file://{origin}@main"])


@pytest.mark.dear("builds a wheel and installs it with pip")
def test_a_catalog_that_pip_installed_from_a_wheel_is_run_and_judged(scene, tmp_path, monkeypatch):
    package = tmp_path / "package"
    shutil.copytree(scene().catalog.directory, package / "shared_sums" / "catalog")
    (package / "shared_sums" / "__init__.py").write_text(
        'from pathlib import Path\n\nCATALOG = Path(__file__).parent / "catalog"\n'
    )
    (package / "pyproject.toml").write_text(
        '[project]\nname = "shared-sums"\nversion = "1"\n[build-system]\nrequires = ["hatchling"]\n'
        'build-backend = "hatchling.build"\n'
        '[project.entry-points."testwright.catalogs"]\nshared-sums = "shared_sums:CATALOG"\n'
    )
    python = sys.executable
    build = [python, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "wheels")]
    subprocess.run(build, cwd=package, check=True, capture_output=True)
    [wheel] = (tmp_path / "wheels").glob("*.whl")
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target"]
    subprocess.run([*install, str(tmp_path / "site"), str(wheel)], check=True, capture_output=True)
    monkeypatch.syspath_prepend(tmp_path / "site")
    [place] = places_of(["shared-sums"])
    assert place.directory == tmp_path / "site" / "shared_sums" / "catalog"
    given = scene()
    given.catalog = Catalog([place])
    [outcome] = given.run(tasks=(f"shared-sums/{TASK}",)).outcomes
    assert outcome.verdict is Verdict.RESOLVED


@pytest.fixture
def halves(scene, tmp_path: Path) -> Path:
    """Where a public and a private half lie."""
    whole = scene().catalog.directory
    done = typed(
        "--catalog", whole, "task", "split", TASK, "--public", "public", "--private", "private", cwd=tmp_path
    )
    assert done.status == 0, done.complaint
    return tmp_path


def test_the_public_half_has_what_an_agent_works_with_and_nothing_that_judges(halves, scene):
    public, private, whole = halves / "public", halves / "private", scene().catalog.task(TASK)
    files = {path.relative_to(public).as_posix() for path in public.rglob("*") if path.is_file()}
    repo = {f"repos/tiny/{path.relative_to(whole.repo.directory)}" for path in whole.repo.directory.rglob("*")}
    assert files - repo == {f"tasks/{TASK}/{name}" for name in PUBLIC}
    half = Catalog(public).task(TASK)
    assert half.is_public_half
    assert (half.file.private_digest, half.work_digest) == (whole.digest, whole.work_digest)
    both = Catalog([place_of(public), place_of(private)])
    assert both.names("tasks") == [TASK]
    assert both.task(TASK).digest == whole.digest
    assert (private / "honest" / TASK / "suite-0" / "patch.diff").is_file()


def test_work_on_the_public_half_is_scored_once_the_private_one_is_named(halves, scene):
    (halves / "said.yaml").write_text(yaml.safe_dump(SCRIPT))
    asked = {"scaffolds": ("mini",), "models": (f"scripted:{halves}/said.yaml",)}
    first = scene()
    first.catalog = Catalog(halves / "public")
    [outcome] = first.run(**asked).outcomes
    assert (outcome.verdict, outcome.reasons[0].code) == (Verdict.UNSCORED, ReasonCode.PROBE_UNAVAILABLE)
    assert "public half" in outcome.reasons[0].words
    assert not first.engine.containers, "no test runs where nothing can be found out"
    again = scene()
    both = Catalog([place_of(halves / "public"), place_of(halves / "private")])
    [regraded] = regrade(both, first.output, "mutation", None, True, lambda _: None)
    assert regraded.complaint == ""
    assert regraded.new.verdict is Verdict.RESOLVED
    assert not again.sandboxes, "the agent's work stays"


def test_a_private_half_that_has_changed_is_not_taken_for_the_one_that_was_split(halves):
    probe = halves / "private" / "tasks" / TASK / "probes" / "1.4.patch"
    probe.write_text(probe.read_text().replace("pass", "..."))
    both = Catalog([place_of(halves / "public"), place_of(halves / "private")])
    with pytest.raises(UserError, match=r"isn't its private half, or has changed .* split the task again"):
        both.task(TASK)


@pytest.mark.parametrize(
    ("public", "private"), [("one", "one"), ("one", "one/two"), ("one/two", "one"), ("one", "a/../one")]
)
def test_halves_that_lie_within_one_another_are_refused(scene, tmp_path, public, private):
    """Whoever gets the public one would read the probes."""
    whole = scene().catalog.directory
    done = typed("--catalog", whole, "task", "split", TASK, "--public", public, "--private", private, cwd=tmp_path)
    assert (done.status, done.complaint.count("name two folders apart")) == (2, 1)
    assert not (tmp_path / "one").exists()


def test_a_half_can_be_split_anew_and_not_twice(halves, tmp_path):
    whole = tmp_path / "catalog"
    split = ("task", "split", TASK, "--public", "public", "--private", "private")
    done = typed("--catalog", whole, *split, cwd=tmp_path)
    assert (done.status, done.complaint.count("is there already; --replace writes it anew")) == (2, 1)
    assert typed("--catalog", whole, *split, "--replace", cwd=tmp_path).status == 0
    again = typed(
        "--catalog", halves / "public", "task", "split", TASK, "--public", "a", "--private", "b", cwd=tmp_path
    )
    assert "it is a public half already" in again.complaint
    assert not (tmp_path / "a").exists()


def test_a_check_of_a_public_half_says_what_is_missing(halves):
    done = typed("--catalog", halves / "public", "task", "check", TASK, "--quick", cwd=halves)
    assert done.status == 1
    assert "is a public half" in " ".join(done.output.split())


def test_any_catalog_can_be_told_on_a_page(tmp_path, scene):
    catalog = ("--catalog", scene().catalog.directory)
    assert typed(*catalog, "task", "catalogue", "--to", "page.md", cwd=tmp_path).status == 0
    page = (tmp_path / "page.md").read_text()
    assert f"| {TASK} | Adding up | scripted | unit | 6 + 4 | 4 | 4 | - |" in page
    assert typed(*catalog, "task", "catalogue", cwd=tmp_path).output.strip() == page.strip()


def test_scores_of_any_catalog_are_shown_and_told_where_lazy_suites_kill_more(tmp_path):
    killed, alive = MutantStatus.KILLED, MutantStatus.SURVIVED
    suites = [("reference", killed), ("thorough", alive), ("lazy", killed)]
    scores = SuiteScores(
        task="t", code_digest="", seed=0, asked=1, candidates=3,
        mutants=(ScoredMutant(id="m", file="a.py", line=1, description="other"),),
        suites=tuple(ScoredSuite(name=name, care=name, digest="", states=(state,)) for name, state in suites),
    )  # fmt: skip
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / "t.json").write_text(scores.model_dump_json())
    done = typed("task", "scores", "--records", "numbers", cwd=tmp_path)
    assert done.status == 1
    assert "t: thorough 0.00 < lazy 1.00" in done.output
    [row] = json.loads(typed("task", "scores", "--records", "numbers", "--json", cwd=tmp_path).output)
    assert row == {"task": "t", "mutants": "1 of 3", "reference": "1.00", "thorough": "0.00", "lazy": "1.00"}
