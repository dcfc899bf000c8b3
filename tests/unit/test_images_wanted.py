"""Whose images `repo build` makes and `repo export` writes: those of repositories, and of tasks of other tracks."""

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
    tags = {read_recipe(each.repo).tag("repo") for each in wanted(catalog, ["build:*"])}
    assert len(tags) == len(names(catalog, ["build:*"])) == 3


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("e2e:nothing", "e2e:nothing"),
        ("nothing", "'nothing'"),
        (f"swe-atlas:{PUBLISHED}", "the image of .* is published; a run fetches it"),
        ("e2e:*", r"e2e:\*: a file has the images of one application"),
    ],
)
def test_what_cannot_be_exported_is_told_before_anything_is_built(
    catalog: Catalog, tmp_path: Path, asked: str, told: str
) -> None:
    with pytest.raises(UserError, match=told):
        export_repo(catalog, asked, tmp_path / "images.tar", pytest.fail)
    assert not list(tmp_path.iterdir())


def test_images_of_another_version_of_an_application_are_refused(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "images.tar").write_bytes(b"")
    bundle = Bundle(repo="technique:sign-in", recipe="0" * 64, architecture="x", images=(), sha256="")
    write_bundle(tmp_path / "file.tar", bundle, tmp_path / "images.tar")
    with pytest.raises(UserError, match="are made from another recipe of technique:sign-in"):
        import_repo(catalog, tmp_path / "file.tar", lambda _: None)
