"""Whose images `repo build` makes and `repo export` writes: those of repositories, and of tasks of other tracks."""

import shutil
from pathlib import Path

import pytest

from harness.authoring.bundles import Bundle, export_repo, import_repo, write_bundle
from harness.authoring.repo_build import wanted
from harness.sandbox.images.recipe import read_recipe
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError

PUBLISHED = Path(__file__).parents[1] / "fixtures" / "swe_atlas" / "jansson-load-sources"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


def names(catalog: Catalog, asked: list[str] | None) -> list[tuple[str, set[str]]]:
    return [(each.repo.name, {task.id for task in each.tasks}) for each in wanted(catalog, asked)]


def test_a_repository_comes_with_all_of_its_tasks(catalog: Catalog) -> None:
    [(name, tasks)] = names(catalog, ["cachetools"])
    assert name == "cachetools"
    assert tasks == {name for name in catalog.names("tasks") if catalog.task(name).repo.name == "cachetools"}


@pytest.mark.parametrize("asked", [None, []])
def test_nothing_that_is_named_is_every_repository_of_the_catalog(catalog: Catalog, asked: list[str] | None) -> None:
    assert [name for name, _ in names(catalog, asked)] == catalog.names("repos")


def test_tasks_of_other_tracks_come_with_their_application(catalog: Catalog) -> None:
    asked = ["e2e:datasette-trees", "technique:*", "itsdangerous"]
    first, *others = names(catalog, asked)
    assert first[0] == "itsdangerous"
    assert others[0] == ("datasette", {"datasette-trees"})
    [(deskapp, tasks)] = others[1:]
    assert deskapp == "deskapp"
    assert {"sign-in", "api-todos"} <= tasks


def test_each_brief_has_an_image_of_its_own(catalog: Catalog) -> None:
    briefs = wanted(catalog, ["build:*"])
    assert all(len(each.tasks) == 1 for each in briefs)
    assert len({read_recipe(each.repo).tag("repo") for each in briefs}) == len(briefs) > 1


@pytest.mark.parametrize(
    "asked",
    [
        ["cachetools", "cachetools"],
        ["cachetools", "behaviour:cachetools-*"],
        ["behaviour:cachetools-*", "cachetools"],
    ],
)
def test_what_is_named_twice_is_made_once(catalog: Catalog, asked: list[str]) -> None:
    assert names(catalog, asked) == names(catalog, ["cachetools"])
    [(_, tasks)] = names(catalog, ["e2e:datasette-trees", "e2e:datasette*"])
    assert tasks == {"datasette-trees"}


def test_a_task_that_cannot_be_read_is_told(catalog: Catalog, tmp_path: Path) -> None:
    own = catalog.task("technique:sign-in").directory
    for name in ("well", "ill"):
        task = shutil.copytree(own, tmp_path / name)
        (task / "task.yaml").write_text((own / "task.yaml").read_text().replace("id: sign-in", f"id: {name}"))
        (task / "rubric.yaml").write_text((own / "rubric.yaml").read_text().replace("task: sign-in", f"task: {name}"))
    (tmp_path / "ill" / "arms.yaml").write_text("same: 5\n")
    with pytest.raises(UserError, match=r"ill/arms\.yaml:1: "):
        wanted(catalog, [f"technique:{tmp_path}"])


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("e2e:nothing", "e2e:nothing"),
        ("nothing", "'nothing'"),
        (f"swe-atlas:{PUBLISHED}", "is made from no recipe; a run makes or fetches it"),
        ("design:password-reset", "password-reset: its image is made from no recipe; a run makes or fetches it"),
        ("e2e:*", r"e2e:\*: a file has the images of one repository"),
    ],
)
def test_what_cannot_be_exported_is_told_before_anything_is_built(
    catalog: Catalog, tmp_path: Path, asked: str, told: str
) -> None:
    with pytest.raises(UserError, match=told):
        export_repo(catalog, asked, tmp_path / "images.tar", pytest.fail)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("tasks", "told"),
    [
        (("technique:sign-in",), "are made from another recipe of deskapp"),
        (("technique:gone",), "are of a task that isn't here as it was there: technique:gone"),
        (
            ("technique:sign-in", "e2e:datasette-trees"),
            "are of one repository, and here technique:sign-in, e2e:datasette-trees are of several",
        ),
        ((), "are of 'deskapp', which is not in this catalog"),
    ],
)
def test_images_of_something_else_than_is_here_are_refused(
    catalog: Catalog, tmp_path: Path, tasks: tuple[str, ...], told: str
) -> None:
    (tmp_path / "images.tar").write_bytes(b"")
    bundle = Bundle(repo="deskapp", tasks=tasks, recipe="0" * 64, architecture="x", images=(), sha256="")
    write_bundle(tmp_path / "file.tar", bundle, tmp_path / "images.tar")
    with pytest.raises(UserError, match=f"file.tar: its images {told}"):
        import_repo(catalog, tmp_path / "file.tar", lambda _: None)
