"""Dockerfiles and run scripts are laid out from one frame per language; images are built from what comes out."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.languages.registry import LANGUAGES
from harness.sandbox.images.frames import DOCKERFILE, RUN_SCRIPT, shared_files
from harness.sandbox.images.recipe import digest_of, read_recipe
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory
from harness.specs.errors import UserError
from harness.specs.repo import Frame, Repo

CHECKOUT = Path(__file__).parents[2]
CHANGED = "changed-frame"
SHARED = {
    "aiosmtpd": {DOCKERFILE, RUN_SCRIPT},
    "borgmatic": {DOCKERFILE, RUN_SCRIPT},
    "cachetools": {DOCKERFILE, RUN_SCRIPT},
    "cron": {DOCKERFILE, RUN_SCRIPT},
    "itsdangerous": {DOCKERFILE, RUN_SCRIPT},
    "jansson": {DOCKERFILE},
    "libcsv": {DOCKERFILE, RUN_SCRIPT},
    "maplibre-style-spec": {DOCKERFILE, RUN_SCRIPT, "run.mjs", "runner.mjs", "transformed.mjs"},
    "pgspecial": {DOCKERFILE, RUN_SCRIPT},
    "properties": {DOCKERFILE, RUN_SCRIPT},
    "redis-py": {DOCKERFILE, RUN_SCRIPT},
    "restic": {DOCKERFILE, RUN_SCRIPT},
    "shellquote": {DOCKERFILE, RUN_SCRIPT},
    "zod": {DOCKERFILE, RUN_SCRIPT, "runner.mjs"},
}
"""Repository -> what it has from its language's frame."""
BUILT_FROM = {
    "aiosmtpd": "59c41c6f01e848b7896b1b03d0349d2813fcc48c73d2ee0ebc4b565b4a61a7f7",
    "borgmatic": "41c42e145336f72e6af4b8108aedb4a0b81f49c5a2962effe7c3f6d4432f10dc",
    "cachetools": "fd51cbfa66e0ddcd6e6a172bf36c34583aaa7519e392459aa9530f10bdaaaeaf",
    "cron": "9fb7c0a69390909fff0ce715922a6b2bb32f1c8fb7ce2dcdfdd6995f5bebc45a",
    "itsdangerous": "ccf56d54dbc4f8a23508ad7c6c592d9a2a4c27aeacc4bfc3fb7402c7e610f0bf",
    "jansson": "ca5761932c4c05582861f88a45e2c30f4664901f2fcbb4a43d2b2c9a79d05fe5",
    "libcsv": "61f9f7990f409bd85c0bd99a7fd161333e56d806ac94a5095211a31d1fdf23ad",
    "maplibre-style-spec": "8f44ba8c81bcae3d74eecb72f1117616177a7b150e1e565889b418dc2406cdf7",
    "pgspecial": "0a239968bf5740f6eafd8ca075335a7962c6287dd7f8d7c3fe7e1797dae2eaae",
    "properties": "c3b4f801d8589436720b7845d2d87b3b18e51be4b285c8082ede8f1a06077fa2",
    "redis-py": "6f2ab061817b211049896282d5059c0fb486eaca451d72a506a735eb9424f940",
    "restic": "8f194067ebc75d6d878e5beeab7ef03787111a6d0b23eb2bec21e71ac67185e3",
    "shellquote": "a2a11c22e309031dc9fd35d0abb7fe5841d670602606eb50e670ddd5b589c542",
    "zod": "064f64f69c12f90552221831c0e007c5e9a8f17f98a92d4c264a4ab1ac7b3d59",
}
"""Repository -> digest over the files that its image is built from."""


@pytest.fixture
def changed_frame(tmp_path: Path) -> Iterator[Path]:
    """A language that is Python but for its frame, which lies in a directory of the test's own."""
    python = LANGUAGES.get("python")
    assert python.frame is not None
    directory = Path(shutil.copytree(python.frame.directory, tmp_path / "frame"))
    LANGUAGES.register(CHANGED, replace(python, frame=Frame(directory, python.frame.places)))
    yield directory
    LANGUAGES.unregister(CHANGED)


def shipped(name: str) -> Repo:
    return Catalog(default_directory()).repo(name)


def own_catalog(directory: Path, old: str = "", new: str = "") -> Catalog:
    """A catalog with cachetools, its repo.yaml changed."""
    ours = directory / "repos" / "cachetools"
    shutil.copytree(default_directory() / "repos" / "cachetools", ours)
    text = (ours / "repo.yaml").read_text()
    assert old in text
    (ours / "repo.yaml").write_text(text.replace(old, new, 1))
    for name in ("tasks", "rubrics", "scaffolds"):
        (directory / name).mkdir()
    return Catalog(directory)


def test_every_shipped_repository_is_recorded() -> None:
    assert {path.name for path in (default_directory() / "repos").iterdir()} == set(BUILT_FROM)


@pytest.mark.parametrize("name", BUILT_FROM)
def test_images_are_built_from_the_recorded_bytes(name: str) -> None:
    found = digest_of(read_recipe(shipped(name)).files)
    words = "make the check records of its tasks anew, or show that its image is the same (scripts/same_image.py)"
    assert found == BUILT_FROM[name], f"{name}: other files than recorded; {words}"


@pytest.mark.parametrize("name", SHARED)
def test_a_shipped_repository_has_no_copy_of_what_its_frame_lays_out(name: str) -> None:
    repo = shipped(name)
    laid_out, files = shared_files(repo), read_recipe(repo).files
    assert {file for file in laid_out if not (repo.directory / file).exists()} == SHARED[name]
    assert all(files[file] == laid_out[file] for file in SHARED[name])


def test_a_change_of_the_frame_changes_the_digest(changed_frame: Path) -> None:
    repo = shipped("cachetools")
    ours = repo.model_copy(update={"language": CHANGED})
    assert read_recipe(ours).digest == read_recipe(repo).digest
    script = changed_frame / RUN_SCRIPT
    script.write_text(script.read_text() + "# changed\n")
    assert read_recipe(ours).digest != read_recipe(repo).digest


def test_a_value_that_changes_the_script_changes_the_digest(tmp_path: Path) -> None:
    other = own_catalog(tmp_path, "config: pytest.ini", "config: tox.ini").repo("cachetools")
    assert b"\nconfig=tox.ini\n" in read_recipe(other).files[RUN_SCRIPT]
    assert read_recipe(other).digest != read_recipe(shipped("cachetools")).digest


def test_a_service_starts_before_the_tests(tmp_path: Path) -> None:
    other = own_catalog(tmp_path, "config: pytest.ini", "config: pytest.ini\n  service: start_it").repo("cachetools")
    script = read_recipe(other).files[RUN_SCRIPT]
    assert script.index(b"\nstart_it\n") < script.index(b"\nrun_pytest() {")


def test_what_is_laid_out_is_a_script_that_bash_can_read_and_run(tmp_path: Path) -> None:
    for name in SHARED:
        context = tmp_path / name
        context.mkdir()
        read_recipe(shipped(name)).lay_out(context)
        assert os.access(context / RUN_SCRIPT, os.X_OK)
        subprocess.run(["bash", "-n", str(context / RUN_SCRIPT)], check=True)


def test_a_repository_may_bring_its_own_script(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path, "frame:\n  config: pytest.ini\n")
    own = tmp_path / "repos" / "cachetools" / RUN_SCRIPT
    own.write_text("#!/bin/sh\nexit 4\n")
    assert read_recipe(catalog.repo("cachetools")).files[RUN_SCRIPT] == own.read_bytes()


def test_a_script_of_its_own_and_values_for_the_frame_are_refused(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path)
    (tmp_path / "repos" / "cachetools" / RUN_SCRIPT).write_text("#!/bin/sh\n")
    with pytest.raises(UserError, match=r"cachetools/repo.yaml:52: frame: unknown place 'config'; in Dockerfile "):
        read_recipe(catalog.repo("cachetools"))
    (tmp_path / "repos" / "cachetools" / DOCKERFILE).write_text("FROM x AS dependencies\nFROM dependencies AS repo\n")
    with pytest.raises(UserError, match=r"repo.yaml:52: Dockerfile and run_tests.sh are there, and nothing fills"):
        read_recipe(catalog.repo("cachetools"))


def test_a_repository_may_bring_its_own_dockerfile(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path)
    own = tmp_path / "repos" / "cachetools" / DOCKERFILE
    own.write_text("FROM x AS dependencies\nFROM dependencies AS repo\n")
    files = read_recipe(catalog.repo("cachetools")).files
    assert files[DOCKERFILE] == own.read_bytes()
    assert files[RUN_SCRIPT] == read_recipe(shipped("cachetools")).files[RUN_SCRIPT]


def test_packages_of_debian_are_put_into_the_dockerfile(tmp_path: Path) -> None:
    named = '  config: pytest.ini\n  debian: " jq"\n'
    catalog = own_catalog(tmp_path, "  config: pytest.ini\n", named)
    assert b"python3 python3-venv jq; \\\n" in read_recipe(catalog.repo("cachetools")).files[DOCKERFILE]


def test_what_a_server_needs_is_made_after_its_packages_and_its_programs_go_first(tmp_path: Path) -> None:
    named = '  config: pytest.ini\n  path: "/opt/server:"\n  prepared: "; make_cluster"\n'
    text = read_recipe(own_catalog(tmp_path, "  config: pytest.ini\n", named).repo("cachetools")).files[DOCKERFILE]
    assert b"'PATH=/opt/venv/bin:/opt/server:$PATH' > /etc/profile.d/venv.sh; make_cluster\n" in text
    assert b"PATH=/opt/venv/bin:/opt/server:/usr/local/sbin:" in text
    assert text.index(b"apt install") < text.index(b"useradd") < text.index(b"make_cluster")


def test_a_source_that_no_shared_dockerfile_takes_is_refused(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path, "kind: pypi", "kind: image")
    with pytest.raises(UserError, match=r"cachetools/Dockerfile: a Dockerfile of its own is needed: .* kind 'image'"):
        read_recipe(catalog.repo("cachetools"))


def test_a_value_that_the_frame_needs_is_asked_for(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path, "  config: pytest.ini\n", "  all: all tests\n")
    with pytest.raises(UserError, match=r"cachetools/repo.yaml:52: key 'frame.config' is missing"):
        read_recipe(catalog.repo("cachetools"))


def test_a_place_that_the_frame_does_not_have_is_an_error_with_its_line(tmp_path: Path) -> None:
    catalog = own_catalog(tmp_path, "  config: pytest.ini\n", "  confg: pytest.ini\n")
    with pytest.raises(
        UserError, match=r"repo.yaml:52: frame: unknown place 'confg'; .* are: all, before_install, config, debian"
    ):
        read_recipe(catalog.repo("cachetools"))


def test_a_frame_with_a_place_that_its_language_does_not_name_is_an_error(changed_frame: Path) -> None:
    (changed_frame / RUN_SCRIPT).write_text("echo @NOWHERE@\n")
    with pytest.raises(UserError, match=r"run_tests.sh: has @NOWHERE@, and the language's frame has no such place"):
        read_recipe(shipped("cachetools").model_copy(update={"language": CHANGED}))


def test_what_looks_like_a_place_in_a_value_stays_as_it_is() -> None:
    repo = shipped("cachetools").model_copy(update={"frame": {"config": "a@ALL@b"}})
    assert b"\nconfig=a@ALL@b\n" in shared_files(repo)[RUN_SCRIPT]


@pytest.mark.parametrize("language", ["python", "go", "typescript", "c"])
def test_the_page_on_repositories_has_every_place_of_a_frame(language: str) -> None:
    frame = LANGUAGES.get(language).frame
    assert frame is not None
    page = (CHECKOUT / "docs" / "repositories.md").read_text()
    table = page.partition("| language | place |")[2].partition("\n\n")[0]
    told: dict[str, set[str]] = {}
    of = ""
    for named, place in re.findall(r"(?m)^\| ?([a-z ]*?) ?\| `(\w+)` \|", table):
        of = named or of
        told.setdefault(of, set()).add(place)
    assert told["all four"] | told[language] >= frame.places.keys()
    assert told[language] <= frame.places.keys()
