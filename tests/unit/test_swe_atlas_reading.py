"""Tasks of the published layout: read as they lie, mistakes named, nothing of theirs taken for ours."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from harness.agents.mini import Mini
from harness.agents.registry import agent_context
from harness.judging.languages.registry import LANGUAGES
from harness.judging.submission.manifest import parse_manifest
from harness.models.replay import ScriptedModel
from harness.plugins.published import layout
from harness.plugins.published.layout import ImageMap, ImageSource
from harness.plugins.published.task import PublishedTask, read_published, task_directories
from harness.runs.command import configure
from harness.runs.plan import RunConfig, chosen_tasks, plan_trials
from harness.sandbox.images.recipe import read_recipe
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.grading import GradingRules
from harness.specs.rubric import Importance
from harness.specs.tracks import TaskOptions
from tests.support.command import typed
from tests.support.small_task import scaffold

FIXTURES = Path(__file__).parents[1] / "fixtures" / "swe_atlas"
NAMES = ("aiosmtpd-debugging-handler", "jansson-load-sources", "restic-pattern-lists")
SPOKEN = dict(zip(NAMES, ("python", "c", "go"), strict=True))
ALL = TaskOptions(all_criteria=True)


@pytest.fixture
def place(tmp_path) -> Path:
    """A copy of a task, to be broken."""
    return Path(shutil.copytree(FIXTURES / NAMES[0], tmp_path / NAMES[0]))


def rubric(place: Path, *items: dict[str, object]) -> None:
    (place / layout.RUBRIC).write_text(json.dumps(items))


def item(title: str, importance: str = "must have", kind: str = "positive hli verifier") -> dict[str, object]:
    return {"id": "x", "title": title, "annotations": {"type": kind, "importance": importance}}


@pytest.mark.parametrize("name", NAMES)
def test_a_published_task_is_read_as_it_lies(name):
    task = read_published(FIXTURES / name, TaskOptions())
    assert task.id == f"swe-atlas-{name}"
    assert task.repo.language == SPOKEN[name]
    assert task.prompt == (FIXTURES / name / layout.INSTRUCTION).read_text().strip() + "\n"
    assert task.objective == (FIXTURES / name / layout.OBJECTIVE).read_text().strip() + "\n"
    assert task.patch("removal.patch") == (FIXTURES / name / layout.REMOVAL).read_bytes()
    assert task.patch("reference/tests.patch") == (FIXTURES / name / layout.REFERENCE).read_bytes()
    assert parse_manifest(task.patch("reference/manifest.yaml"), LANGUAGES.get(task.repo.language).ids).tests
    assert {criterion.importance for criterion in task.rubric.criteria} == {Importance.MUST}


def test_nice_to_haves_count_where_they_are_asked_for_and_make_another_task():
    few, all_of_them = (read_published(FIXTURES / NAMES[0], options) for options in (TaskOptions(), ALL))
    assert len(all_of_them.rubric.criteria) > len(few.rubric.criteria)
    assert few.digest != all_of_them.digest
    assert few.digest_without_rubric == all_of_them.digest_without_rubric


def test_headings_are_no_criteria_and_negative_ones_are_told_apart(place):
    rubric(
        place,
        item("1.0: What it is about", kind="high level intent"),
        item("1.1: Tests that sums are right"),
        item("3.2: Tests sleep while they wait", "nice to have", "negative hli verifier"),
    )
    criteria = read_published(place, ALL).rubric.criteria
    assert [(criterion.id, criterion.negative) for criterion in criteria] == [("1.1", False), ("3.2", True)]


def test_a_number_that_two_criteria_have_is_made_unique_and_told(place):
    titles = ("1.1: Tests that a is b", "1.1: Tests that b is c", "1.2: Tests that c is d", "1.1: Tests that d is e")
    rubric(place, *(item(title) for title in titles))
    task = read_published(place, ALL)
    assert [(criterion.id, criterion.statement[-6:]) for criterion in task.rubric.criteria] == [
        ("1.1", "a is b"), ("1.3", "b is c"), ("1.2", "c is d"), ("1.4", "d is e"),
    ]  # fmt: skip
    told = [remark for remark in task.remarks if "twice" in remark]
    assert told[0] == "tests/rubrics.json: item 2: criterion 1.1 is there twice; this one is read as 1.3"
    assert len(told) == 2


def names(config: RunConfig) -> list[str]:
    return [task.id.removeprefix("swe-atlas-") for task in chosen_tasks(Catalog(), config)]


def test_tasks_are_chosen_by_directory_and_by_upstreams_name():
    published = f"swe-atlas:{FIXTURES}"
    assert names(RunConfig(tasks=(published,), exclude=("*-load-*",))) == [NAMES[0], NAMES[2]]
    assert names(RunConfig(tasks=(published,), repos=("jansson",))) == [NAMES[1]]
    assert names(RunConfig(tasks=(published,), repos=("re*", "jansson"))) == [NAMES[1], NAMES[2]]
    catalog = Catalog()
    of_restic = [name for name in catalog.chosen(["*"]) if catalog.task(name).repo.name == "restic"]
    assert {"restic-duration", "restic-option-strings"} <= set(of_restic)
    assert names(RunConfig(tasks=("*",), repos=("restic",))) == of_restic
    with pytest.raises(UserError, match=r"unknown task '\*27229'"):
        names(RunConfig(tasks=(published,), exclude=("*27229",)))


def test_a_task_that_cannot_be_read_is_one_that_has_its_reason_and_the_others_go_on(tmp_path):
    for name in NAMES:
        shutil.copytree(FIXTURES / name, tmp_path / name)
    (tmp_path / NAMES[1] / layout.RUBRIC).write_text("[\n{]")
    config = RunConfig(tasks=(f"swe-atlas:{tmp_path}",), scaffolds=("nop",))
    trials = plan_trials(Catalog(), config)
    assert [trial.task.id for trial in trials] == [f"swe-atlas-{name}" for name in NAMES]
    broken = trials[1].task
    assert isinstance(broken, PublishedTask)
    assert "rubrics.json:2: not JSON" in broken.fault
    assert trials[1].task.digest
    with pytest.raises(UserError, match=r"rubrics\.json:2"):
        Catalog().task(f"swe-atlas:{tmp_path / NAMES[1]}")


def test_a_directory_counts_by_what_is_in_it_and_not_by_where_it_lies(place):
    assert read_published(place, TaskOptions()).digest == read_published(FIXTURES / NAMES[0], TaskOptions()).digest
    (place / layout.PARSER).write_text("# other\n")
    assert read_published(place, TaskOptions()).digest != read_published(FIXTURES / NAMES[0], TaskOptions()).digest


def test_what_is_read_and_does_not_count_is_said_and_is_not_fatal(place):
    description = place / layout.DESCRIPTION
    text = description.read_text().replace("[environment]", 'unheard_of = 1\n[environment]\nrather_odd = "x"')
    description.write_text(text.replace("allow_internet = false", "allow_internet = true"))
    remarks = read_published(place, TaskOptions()).remarks
    assert remarks == (
        "task.toml: without effect here: unknown keys agent.unheard_of, environment.rather_odd; a network, which "
        "neither agents nor tests have; verifier.env (JUDGE_MODEL), handed to no container",
    )


def broken(place: Path, name: str, old: str, new: str) -> None:
    text = (place / name).read_text()
    assert old in text
    (place / name).write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("name", layout.NEEDED)
def test_a_file_that_is_absent_is_named(place, name):
    (place / name).unlink()
    with pytest.raises(UserError, match=f"{name}: the published layout needs this file"):
        read_published(place, TaskOptions())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[metadata]", "[metadata", r"task\.toml: not TOML"),
        ('base_commit = "', 'base_commit = "-', r"task\.toml:\d+: key 'metadata\.base_commit'"),
        ("repository =", "repositori =", r"key 'metadata\.repository': is missing"),
        ("cpus = 16", 'cpus = "many"', r"task\.toml:\d+: key 'environment\.cpus'"),
    ],
)
def test_a_mistake_in_the_description_is_named_with_its_line(place, old, new, words):
    broken(place, layout.DESCRIPTION, old, new)
    with pytest.raises(UserError, match=words):
        read_published(place, TaskOptions())


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([item("Tests that sums are right")], "item 1: its title doesn't begin with axis and number"),
        ([item("1.1: Tests that sums are right", "vital")], "item 1: importance 'vital'"),
        ([item("1.1: Tests that sums are right", kind="neutral")], "item 1: type 'neutral'"),
        ([item("2.1: Tests that sums are right")], "item 1: criterion 2.1: axis 1 is exactly the must-haves"),
        ([item("2.1: Tests that stand apart", "nice to have")], "it has no must-have"),
        ([{"title": "1.1: Tests that a is b"}], "item 1: annotations: Field required"),
    ],
)
def test_a_mistake_in_the_rubric_is_named_with_its_item(place, items, words):
    rubric(place, *items)
    with pytest.raises(UserError, match=words):
        read_published(place, TaskOptions())


def test_a_rubric_that_is_no_json_is_named_with_its_line(place):
    (place / layout.RUBRIC).write_text("[\n{]")
    with pytest.raises(UserError, match=r"rubrics\.json:2: not JSON"):
        read_published(place, TaskOptions())


def test_a_dockerfile_starts_from_one_image(place):
    (place / layout.DOCKERFILE).write_text("FROM one AS a\nFROM --platform=linux/amd64 two\n")
    with pytest.raises(UserError, match="expected one FROM line, found 2"):
        read_published(place, TaskOptions())
    assert layout.with_base_image("# why\nFROM --platform=x far/away:1\nENV A=b\n", "here:1 AS a") == (
        "# why\nFROM here:1 AS a\nENV A=b\n"
    )


def test_patterns_stand_for_a_task_a_directory_or_a_glob(tmp_path):
    assert task_directories(f"{FIXTURES / NAMES[0]}") == [FIXTURES / NAMES[0]]
    assert task_directories(str(FIXTURES)) == [FIXTURES / name for name in NAMES]
    assert task_directories(f"{FIXTURES}/*-load-*") == [FIXTURES / NAMES[1]]
    with pytest.raises(UserError, match="no task directory there"):
        task_directories(str(tmp_path))


def test_two_tasks_of_one_name_are_not_taken_for_one(tmp_path):
    for parent in ("a", "b"):
        shutil.copytree(FIXTURES / NAMES[0], tmp_path / parent / NAMES[0])
    with pytest.raises(UserError, match="2 of the chosen directories are tasks of this name"):
        Catalog().select([f"swe-atlas:{tmp_path}/*/*"])


def test_published_tasks_stand_beside_the_catalogs_own(tmp_path, monkeypatch):
    monkeypatch.chdir(FIXTURES.parent)
    config = configure({"tasks": ("swe-atlas:swe_atlas", "aiosmtpd-proxy-tlv"), "scaffolds": ("nop",)}, None)
    monkeypatch.chdir(tmp_path)
    trials = plan_trials(Catalog(), config)
    assert [trial.task.id for trial in trials] == ["aiosmtpd-proxy-tlv", *(f"swe-atlas-{name}" for name in NAMES)]


@pytest.mark.parametrize("protocol", [GradingRules.PUBLISHED, GradingRules.BOTH])
def test_the_published_rules_are_for_published_tasks(protocol):
    config = RunConfig(tasks=("aiosmtpd-proxy-tlv",), scaffolds=("nop",), protocol=protocol)
    with pytest.raises(UserError, match="is for published tasks"):
        plan_trials(Catalog(), config)


def test_an_image_map_names_images_or_trees(tmp_path):
    file = tmp_path / "map.yaml"
    file.write_text("far/away:1: here:1\nhttps://x.example/y@abcdef0: whole:1\n")
    images = ImageMap.read(file)
    assert images.source("far/away:1", "https://x.example/z", "abcdef0") == ImageSource("here:1")
    assert images.source("other:1", "https://x.example/y.git", "abcdef0") == ImageSource("whole:1", whole=True)
    assert images.source("other:1", "https://x.example/y", "1234567") == ImageSource("other:1")


def test_an_image_that_has_what_a_dockerfile_would_add_is_mapped_as_complete(tmp_path):
    file = tmp_path / "map.yaml"
    whole = "https://x.example/y@abcdef0"
    file.write_text(f"far/away:1: {{image: here:1, complete: true}}\n{whole}:\n  image: whole:1\n  complete: true\n")
    images = ImageMap.read(file)
    assert images.source("far/away:1", "https://x.example/z", "abcdef0") == ImageSource("here:1", complete=True)
    found = images.source("other:1", "https://x.example/y", "abcdef0")
    assert found == ImageSource("whole:1", whole=True, complete=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a\n", "map.yaml:1: expected a mapping"),
        ("a: b\nc: 1\n", "map.yaml:2: expected"),
        ("a: {complete: true}\n", r"map.yaml:1: expected .*\{image: LOCAL_TAG, complete: true\}"),
        ("a: b\nc: {image: x, completed: true}\n", "map.yaml:2: expected"),
        ("a: {image: x, complete: maybe}\n", "map.yaml:1: expected"),
    ],
)
def test_a_mistake_in_an_image_map_is_named_with_its_line(tmp_path, text, words):
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(UserError, match=words):
        ImageMap.read(tmp_path / "map.yaml")


def test_the_agent_is_given_the_whole_instruction_and_no_words_of_ours_about_tests():
    task = read_published(FIXTURES / NAMES[0], TaskOptions())
    [_, told] = Mini(agent_context(task, scaffold("mini"), ScriptedModel([]))).prompts()
    assert task.prompt.strip() in told.content
    assert "Write the manifest to `${TESTWRIGHT" not in told.content
    hidden = (layout.OBJECTIVE, layout.REMOVAL, layout.REFERENCE, layout.RUBRIC)
    lines = {line for name in hidden[1:] for line in (FIXTURES / NAMES[0] / name).read_text().splitlines()}
    assert not any(line in told.content for line in lines if len(line) > 40)


@pytest.mark.skipif("SWE_ATLAS_TW" not in os.environ, reason="SWE_ATLAS_TW names no copy of the published set")
def test_every_task_of_the_published_set_is_read():
    directories = task_directories(os.environ["SWE_ATLAS_TW"])
    faults = {}
    for directory in directories:
        try:
            task = read_published(directory, ALL)
            assert task.patch("removal.patch")
            assert parse_manifest(task.patch("reference/manifest.yaml"), LANGUAGES.get(task.repo.language).ids).tests
        except Exception as error:  # each is to be told, not the first alone
            faults[directory.name] = str(error)
    assert faults == {}


def test_published_tasks_are_listed_by_where_they_lie(tmp_path):
    done = typed("task", "list", f"swe-atlas:{FIXTURES}", "--json", cwd=tmp_path)
    assert (done.status, done.complaint) == (0, "")
    names = sorted(f"swe-atlas-{place.name}" for place in FIXTURES.iterdir())
    assert [task["id"] for task in json.loads(done.output)] == names
    table = typed("task", "list", f"swe-atlas:{FIXTURES}/restic-*", cwd=tmp_path)
    assert table.status == 0
    assert [name for name in names if name in table.output] == ["swe-atlas-restic-pattern-lists"]


def test_a_list_of_a_place_without_tasks_is_refused_in_one_line(tmp_path):
    done = typed("task", "list", f"swe-atlas:{tmp_path}/none", cwd=tmp_path)
    assert (done.status, done.output) == (2, "")
    assert len(done.complaint.strip().splitlines()) == 1
    assert f"{tmp_path}/none" in done.complaint


def test_each_recipe_of_an_image_is_one_and_the_page_beside_them_says_what_it_is_made_of():
    place = FIXTURES.parents[2] / "scripts" / "published_images"
    page = (place / "README.md").read_text()
    rows = dict(re.findall(r"^\| ([\w' -]+) \| (`repos/\w+`|not done) \|", page, re.MULTILINE))
    assert rows.keys() == {
        "scapy", "kitty", "wp-calypso", "k6", "paperless-ngx", "simple-login's app", "minio", "trufflehog", "grafana",
        "sftpgo", "maddy",
    }  # fmt: skip
    catalog = Catalog(place)
    recipes = {f"`repos/{name}`": read_recipe(catalog.repo(name)) for name in catalog.names("repos")}
    assert recipes.keys() == {*rows.values()} - {"not done"}
    assert all(re.search(rf"{recipe.repo.version}\b", page) for recipe in recipes.values())
