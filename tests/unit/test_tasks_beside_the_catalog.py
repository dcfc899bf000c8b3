"""Tasks of tracks that lie in no catalog: how they are named, and what commands say that are for other tasks."""

import re
from pathlib import Path

import pytest

from harness.runs.command import configure, execute
from harness.runs.dry_run import dry_run
from harness.specs.catalog import Catalog, beside_catalogs
from harness.specs.errors import UserError
from harness.tracks.registry import track_of
from tests.support.command import typed
from tests.support.sound_catalog import TASK, sound_catalog

STAGED = "e2e:datasette-trees"
NEEDS_ENGINE = "datasette-trees: tasks with a browser are images, which need a Docker engine (testwright doctor)"
OTHER_TRACK = "testwright: datasette-trees: it is of the track e2e; whole tasks of the track behaviour can {}\n"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("datasette-trees", "e2e:datasette-trees"),
        ("datasete-trees", "e2e:datasette-trees"),
        ("datasette-*", "e2e:datasette-*"),
        ("aiosmtpd-proxy-tvl", "aiosmtpd-proxy-tlv"),
    ],
)
def test_an_unknown_task_may_be_one_of_another_track(name: str, meant: str) -> None:
    for ask in (Catalog().task, lambda pattern: Catalog().match([pattern])):
        with pytest.raises(UserError, match=re.escape(f"unknown task {name!r}; did you mean {meant!r}?")):
            ask(name)


def test_the_list_ends_with_the_tracks_that_have_more_and_each_name_there_is_a_task(tmp_path: Path) -> None:
    more = beside_catalogs()
    assert set(more) == {"technique", "e2e", "build"}
    own = sound_catalog(tmp_path / "catalog").directory

    def listed(*options: str) -> str:
        return typed("--catalog", own, "task", "list", *options, cwd=tmp_path).output

    told = ", ".join(f"{track}:* ({len(names)})" for track, names in more.items())
    assert listed().splitlines()[-1] == f"more: {told}"
    assert "more:" not in listed("--json") + listed(TASK)
    for track, names in more.items():
        assert Catalog().match([f"{track}:*"]) == sorted(Catalog().match(f"{track}:{name}" for name in names))


def test_a_sandbox_that_cannot_have_a_tasks_images_is_refused_before_a_run_and_a_dry_run(tmp_path: Path) -> None:
    config = configure({"tasks": [STAGED], "scaffolds": ["oracle"], "sandbox": "local"}, None)
    with pytest.raises(UserError) as drily:
        dry_run(Catalog(), config, tmp_path / "run", print)
    with pytest.raises(UserError) as really:
        execute(Catalog(), config, tmp_path / "run", lambda _: pytest.fail("it began"), print)
    assert str(drily.value) == str(really.value) == NEEDS_ENGINE
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("task", ["aiosmtpd-proxy-tlv", "aiosmtpd-call-limit", "password-reset"])
def test_a_task_whose_images_can_be_directories_is_asked_for_none_before_a_run(task: str) -> None:
    assert getattr(track_of(Catalog().task(task)).images, "makes_directories", False)


@pytest.mark.parametrize(
    ("words", "may"),
    [
        (("edit", STAGED, "removal"), "be edited"),
        (("matrix", STAGED), "have a matrix"),
        (("probe", STAGED, "--criterion", "1.1"), "have probes"),
        (("stub", STAGED, "--symbol", "a.py:b"), "have stubs"),
    ],
)
def test_commands_for_patches_say_of_which_track_a_task_is(tmp_path: Path, words: tuple[str, ...], may: str) -> None:
    assert typed("task", *words, cwd=tmp_path) == (2, "", OTHER_TRACK.format(may))


def test_a_part_is_explained_without_commands_that_cannot_change_the_task(tmp_path: Path) -> None:
    told = typed("task", "check", STAGED, "--explain", "patches", "--explain", "twins", cwd=tmp_path).output
    assert "testwright task edit" not in told
    assert told.count("are for whole tasks of the track behaviour") == 2


def test_an_export_of_no_task_leaves_no_folder(tmp_path: Path) -> None:
    done = typed("export", "harbor", "out", "-t", "nope", cwd=tmp_path)
    assert (done.status, done.complaint.partition(";")[0]) == (2, "testwright: unknown task 'nope'")
    assert list(tmp_path.iterdir()) == []
