"""`repo new --git`: one's own code at a commit, pinned by its tree; archives of every language."""

import subprocess
import tarfile
from pathlib import Path

import pytest

from harness.authoring.repo_new.command import Given, new_repo
from harness.authoring.repo_new.git_source import fetch_commit, tree_of, wanted_commit
from harness.authoring.repo_new.pinning import Pinned, WantedRelease
from harness.authoring.repo_new.reading_c import read_release as read_c
from harness.authoring.repo_new.reading_npm import read_release as read_npm
from harness.authoring.repo_new.reading_trees import (
    GoModule,
    asks_git_for_its_version,
    go_module,
    python_requirements,
)
from harness.authoring.repo_new.writing import c_files, go_files, python_files, repo_yaml, typescript_files
from harness.sandbox.images.recipe import ARCHIVE, read_recipe
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.yaml_files import load_yaml
from tests.unit.test_repo_new import MIT, SOUND, laid_out

AS_ANYBODY = ("-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")


def git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *AS_ANYBODY, *arguments], cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits of a project whose attributes leave files out of archives and change others on the way."""
    folder = laid_out(tmp_path / "project", SOUND)
    (folder / ".gitattributes").write_text("tests export-ignore\nsums.py export-subst\n*.txt text eol=crlf\n")
    (folder / "sums.py").write_text("# $Format:%H$\ndef add(a, b):\n    return a + b\n")
    (folder / "notes.txt").write_text("one\ntwo\n")
    (folder / ".gitignore").write_text("kept.py\n")
    (folder / "kept.py").write_text("")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "-m", "first")
    git(folder, "tag", "v1")
    (folder / "later.py").write_text("")
    git(folder, "add", "later.py")
    git(folder, "commit", "--quiet", "-m", "second")
    return folder


@pytest.mark.parametrize("name", ["v1", "full", "short", "main"])
def test_a_commit_is_packed_with_every_file_as_it_is_and_known_by_its_tree(
    repository: Path, tmp_path: Path, name: str
) -> None:
    full = git(repository, "rev-parse", "main" if name == "main" else "v1")
    asked = {"full": full, "short": full[:9]}.get(name, name)
    (tmp_path / "scratch").mkdir()
    told: list[str] = []
    made = fetch_commit(wanted_commit(f"{repository}@{asked}"), "sums", tmp_path / "scratch", told.append)
    assert made.commit == full
    assert (
        made.tree == git(repository, "rev-parse", f"{full}^{{tree}}") == tree_of(made.archive, tmp_path / "once-more")
    )
    with tarfile.open(made.archive) as tar:
        names = {member.name for member in tar if member.isfile()}
        kept = tar.extractfile("sums/sums.py")
        assert kept
        assert kept.read().startswith(b"# $Format:%H$\n")
    assert {"sums/tests/test_sums.py", "sums/kept.py", "sums/.gitattributes"} <= names
    assert ("sums/later.py" in names) is (name == "main")
    assert told == []


def test_what_a_commit_does_not_hold_is_said_in_one_line_each(repository: Path, tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    (repository / "big.bin").write_text(pointer)
    (repository / "about.md").write_text(f"A pointer looks like this:\n{pointer}")
    git(repository, "add", "--all")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendored/other")
    git(repository, "commit", "--quiet", "-m", "third")
    (tmp_path / "scratch").mkdir()
    told: list[str] = []
    fetch_commit(wanted_commit(f"{repository}@main"), "sums", tmp_path / "scratch", told.append)
    assert [line.partition(": ")[2].partition(": ")[0] for line in told] == [
        "without its submodules vendored/other",
        "of big.bin only the pointers are there",
    ]
    assert all("--archive" in line and "\n" not in line for line in told)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{0}@no-such-commit", "has no commit no-such-commit"),
        ("{0}/nowhere@v1", "--git: fatal: "),
        ("-x@v1", "no commit"),
    ],
)
def test_what_cannot_be_fetched_is_one_line(repository: Path, tmp_path: Path, source: str, words: str) -> None:
    with pytest.raises(UserError) as refused:
        fetch_commit(wanted_commit(source.format(repository)), "sums", tmp_path, lambda _: None)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


GO = {
    "go.mod": "module example.org/of/sums/v2\n\ngo 1.19\n\nrequire (\n\tgithub.com/Spf13/pflag v1.0.5\n"
    "\tgolang.org/x/text v0.3.0\n\tgithub.com/a/far v1.0.0 // indirect\n)\n",
    "sums.go": "package sums\n",
    "sums_test.go": "package sums\n\nfunc TestA(t *testing.T) {}\n",
    "LICENSE": MIT,
}
C = {"src/a.c": "int a;\n", "test_a.c": "int main(void) { return 0; }\n", "LICENSE": MIT}
TS = {
    "package.json": '{"name": "sums", "license": "MIT"}',
    "src/a.ts": "export const a = 1;\n",
    "src/a.test.ts": 'import { test } from "vitest";\ntest("a", () => {});\n',
    "LICENSE": MIT,
}


def test_the_repository_of_a_commit_is_a_recipe_that_holds_its_archive(tmp_path: Path) -> None:
    project = laid_out(tmp_path / "project", GO)
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "first")
    git(project, "tag", "v1")
    (tmp_path / "mine" / "tasks").mkdir(parents=True)
    catalog, told = Catalog(tmp_path / "mine"), list[str]()
    new_repo(catalog, Given("sums", "git", f"{project}@v1"), told.append)
    assert any("takes golang-github-spf13-pflag-dev, golang-golang-x-text-dev of Debian" in line for line in told)
    repo = catalog.repo("sums")
    commit = git(project, "rev-parse", "v1")
    assert (repo.source.kind, repo.version, repo.source.version) == ("git", commit, commit)
    assert repo.source.tree == git(project, "rev-parse", "v1^{tree}")
    assert str(tmp_path) not in (repo.directory / "repo.yaml").read_text()
    recipe = read_recipe(repo)
    assert ARCHIVE in recipe.files
    other = repo.model_copy(update={"source": repo.source.model_copy(update={"tree": "0" * 40})})
    assert read_recipe(other).digest != recipe.digest


def of(tree: Path, kind: str) -> Pinned:
    wanted = WantedRelease(kind, "sums", "1.0", "/tmp/sums.tar" if kind != "npm" else "")
    return Pinned(
        wanted,
        "0" * 64,
        tree,
        tree,
        commit="a" * 40 if kind == "git" else "",
        tree_hash="b" * 40 if kind == "git" else "",
    )


@pytest.mark.parametrize("kind", ["git", "archive"])
@pytest.mark.parametrize(("language", "files"), [("go", GO), ("c", C), ("typescript", TS)])
def test_archives_of_every_language_make_a_recipe(
    tmp_path: Path, language: str, files: dict[str, str], kind: str
) -> None:
    tree = laid_out(tmp_path / "tree", files)
    pinned, folder = of(tree, kind), tmp_path / "repos" / "sums"
    if language == "go":
        written = go_files(pinned, [])
    elif language == "c":
        written = c_files(read_c(tree, None), [])
    else:
        written = typescript_files(pinned, read_npm(tree), [])
    said = repo_yaml("sums", pinned, "MIT", ("LICENSE",), written.frame)
    for name, text in {**written.texts, "repo.yaml": said, ARCHIVE: ""}.items():
        laid_out(folder, {name: text})
    repo = load_yaml(folder / "repo.yaml", Repo).model_copy(update={"directory": folder})
    files = read_recipe(repo).files
    dockerfile = files["Dockerfile"].decode()
    assert {
        "go": "WORKDIR /go/src/example.org/of/sums/v2\n",
        "c": "COPY --from=configured /opt/headers/ /opt/headers/\n",
        "typescript": "COPY --from=source --chown=agent:agent /source/ /app/\n",
    }[language] in dockerfile
    assert ("golang-github-spf13-pflag-dev" in dockerfile) == (language == "go")
    assert "COPY source.tar" in dockerfile
    assert "@" not in dockerfile.replace('"$@"', "")
    assert files[ARCHIVE] == b""


def test_go_modules_are_named_as_debian_names_them(tmp_path: Path) -> None:
    tree = laid_out(
        tmp_path,
        {"go.mod": "module a.example/b\nrequire gopkg.in/yaml.v3 v3.0.1\nrequire github.com/x/y_z/v4 v4.0.0\n"},
    )
    assert go_module(tree, None) == GoModule(
        "a.example/b", (), ("golang-github-x-y-z-dev", "golang-gopkg-yaml.v3-dev")
    )
    with pytest.raises(UserError, match=r"go\.mod"):
        go_module(tmp_path / "elsewhere", None)


def test_a_build_that_asks_git_for_its_version_is_given_one(tmp_path: Path) -> None:
    plain, scm = laid_out(tmp_path / "plain", SOUND), laid_out(tmp_path / "scm", SOUND)
    (scm / "pyproject.toml").write_text('[build-system]\nrequires = ["setuptools_scm>=8"]\n')
    assert (asks_git_for_its_version(plain), asks_git_for_its_version(scm)) == (False, True)
    assert not python_files(of(plain, "git"), [], []).frame["before_install"]
    said = python_files(of(scm, "git"), [], [], "2.1").frame["before_install"]
    assert said == "export SETUPTOOLS_SCM_PRETEND_VERSION=2.1; \\\n    "


def test_a_build_by_setup_py_looks_for_nothing_on_an_index(tmp_path: Path) -> None:
    tree = laid_out(tmp_path, SOUND)
    (tree / "pyproject.toml").unlink(missing_ok=True)
    (tree / "setup.py").write_text("from setuptools import setup\n\nsetup()\n")
    assert python_files(of(tree, "pypi"), [], []).frame["before_install"] == "export PIP_USE_PEP517=1; \\\n    "


def test_what_a_tree_without_a_release_needs_is_read_from_setup_cfg(tmp_path: Path) -> None:
    tree = laid_out(
        tmp_path,
        {
            "setup.cfg": "[options]\ninstall_requires =\n    attrs>=20\n"
            "[options.extras_require]\ntests =\n    freezegun\n"
        },
    )
    assert {"attrs>=20", "freezegun"} <= set(python_requirements(tree))
