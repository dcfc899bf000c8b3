"""`testwright repo new`: what it reads of a release, what it writes, and what it refuses without writing anything."""

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from harness.authoring.repo_build import no_tests
from harness.authoring.repo_new import reading_c, reading_npm, reading_trees, writing
from harness.authoring.repo_new.command import Given, new_repo, source_of
from harness.authoring.repo_new.licences import licence_of, notices
from harness.authoring.repo_new.pinning import Kind, Pinned, WantedRelease, sha256_of
from harness.sandbox.images.recipe import read_recipe
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.yaml_files import load_yaml

MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software\n"
METADATA = (
    "Metadata-Version: 2.1\nName: sums\nVersion: 1.0\nLicense: MIT\nProject-URL: Source, https://example.invalid/sums\n"
    "Requires-Dist: attrs>=20\nRequires-Dist: tomli; python_version < '3.11'\n"
    "Requires-Dist: freezegun; extra == 'tests'\nRequires-Dist: sphinx; extra == 'docs'\n"
)
SOUND = {
    "PKG-INFO": METADATA,
    "LICENSE": MIT,
    "pyproject.toml": '[build-system]\nrequires = ["hatchling"]\n[tool.pytest.ini_options]\n',
    "sums.py": "def add(a, b):\n    return a + b\n",
    "tests/test_sums.py": "from sums import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
}


def packed(directory: Path, files: dict[str, str]) -> Path:
    path = directory / "sums-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"sums-1.0/{name}")
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return path


def laid_out(directory: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return directory


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "mine" / "tasks").mkdir(parents=True)
    return Catalog(tmp_path / "mine")


def without(*names: str) -> dict[str, str]:
    return {name: text for name, text in SOUND.items() if name not in names}


REFUSED = {
    "a hash that differs": (SOUND, {"sha256": "0" * 64}, "its sha256 is"),
    "an archive without a version": (SOUND, {"version": ""}, "give it with --version"),
    "a file that isn't there": (SOUND, {"source": "/nowhere.tar"}, "is no file"),
    "a release without a version": (SOUND, {"kind": "pypi", "source": "sums"}, "PACKAGE==VERSION"),
    "two licences": ({**SOUND, "COPYING": "x", "PKG-INFO": METADATA.replace("MIT", "")} | {"LICENSE": "mine"}, {},
                     "--licence EXPRESSION"),
    "a licence that is none": (SOUND, {"licence": "mine alone"}, "no SPDX expression"),
    "a release without tests": (without("tests/test_sums.py"), {}, "has no python tests"),
    "a source that the language doesn't come from": (SOUND, {"kind": "debian", "source": "x"}, "PACKAGE=VERSION"),
    "a commit that isn't named": (SOUND, {"kind": "git", "source": "https://example.invalid/a"}, "URL@COMMIT"),
    "a host for a commit": (SOUND, {"kind": "git", "source": "git@example.invalid:a/b"}, "URL@COMMIT"),
    "a release of npm without a version": (SOUND, {"kind": "npm", "source": "sums"}, "PACKAGE@VERSION"),
    "no code at all": ({"LICENSE": MIT}, {}, "no file of a known language"),
    "no archive": (None, {}, "not a tar archive"),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_pinned_is_refused_in_one_line_and_nothing_is_written(why, catalog, tmp_path) -> None:
    files, options, words = REFUSED[why]
    archive = packed(tmp_path, files or {})
    if files is None:
        archive.write_text("no archive")
    given = {"name": "sums", "kind": "archive", "source": str(archive), "version": "1.0", **options}
    with pytest.raises(UserError, match=re.escape(words)) as error:
        new_repo(catalog, Given(**given))
    assert "\n" not in str(error.value)
    assert not (catalog.directory / "repos").exists()


def test_a_name_that_is_taken_is_refused_and_left_as_it_is(catalog) -> None:
    (catalog.directory / "repos" / "sums").mkdir(parents=True)
    with pytest.raises(UserError, match="is there already"):
        new_repo(catalog, Given("sums", "pypi", "sums==1.0"))
    assert [*(catalog.directory / "repos" / "sums").iterdir()] == []


@pytest.mark.parametrize("given", [{}, {"pypi": "a==1", "debian": "a=1"}])
def test_one_source_must_be_named(given) -> None:
    with pytest.raises(UserError, match="give one source: --pypi, --debian"):
        source_of({"pypi": None, "debian": None, **given})


def made_of(directory: Path, written: writing.Written, pinned: Pinned) -> Repo:
    """The repository that lies below `directory` then."""
    said = writing.repo_yaml("sums", pinned, "MIT", notices(pinned.tree), written.frame)
    writing.lay_out(directory / "sums", {**written.texts, "repo.yaml": said})
    repo = load_yaml(directory / "sums" / "repo.yaml", Repo)
    return repo.model_copy(update={"directory": directory / "sums"})


def dockerfile_of(repo: Repo) -> str:
    return read_recipe(repo).files["Dockerfile"].decode()


def test_the_files_of_a_python_release_make_a_recipe(tmp_path) -> None:
    tree = laid_out(tmp_path / "tree", SOUND)
    pinned = Pinned(WantedRelease("pypi", "sums", "1.0"), "1" * 64, tree, tree)
    written = writing.python_files(pinned, ["pytest-mock"], ["libxml2"])
    assert written.texts["requirements.in"].splitlines()[1:] == [
        "attrs>=20", "editables", "freezegun", "hatchling", "pytest", "pytest-timeout", "setuptools", "wheel",
        "pytest-mock",
    ]  # fmt: skip
    repo = made_of(tmp_path, written, pinned)
    assert (repo.upstream, repo.notices, repo.test_paths) == (
        "https://example.invalid/sums",
        ("LICENSE",),
        ("tests/**",),
    )
    assert set(written.texts) == {"requirements.in"}
    assert set(repo.frame) == {"config", "debian"}
    files = read_recipe(repo).files
    assert "python3-venv \\\n        libxml2; \\\n" in dockerfile_of(repo)
    assert set(files) == {"Dockerfile", "run_tests.sh"}
    assert b"\nconfig=pyproject.toml\n" in files["run_tests.sh"]


def test_a_go_package_of_debian_brings_its_import_path_and_its_libraries(tmp_path) -> None:
    control = (
        "Source: sums\nHomepage: https://example.invalid/sums\nXS-Go-Import-Path: example.invalid/sums\n"
        "Build-Depends: debhelper-compat (= 13),\n dh-golang,\n golang-github-pkg-errors-dev (>= 1),\n"
    )
    packaging = laid_out(tmp_path / "packaging", {"control": control})
    tree = laid_out(
        tmp_path / "tree",
        {
            "a.go": "package sums\n",
            "a_test.go": 'package sums\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n',
        },
    )
    pinned = Pinned(WantedRelease("debian", "sums", "1.0-1"), "1" * 64, tree, tree, packaging)
    assert reading_trees.language_in(tree) == "go"
    written = writing.go_files(pinned, [])
    assert written.texts == {}
    repo = made_of(tmp_path, written, pinned)
    assert repo.workdir == "/go/src/example.invalid/sums"
    assert "golang-go \\\n        golang-github-pkg-errors-dev; \\\n" in dockerfile_of(repo)
    assert "WORKDIR /go/src/example.invalid/sums\n" in dockerfile_of(repo)
    assert "    own=example.invalid/sums; \\\n" in dockerfile_of(repo)


PACKAGE = """{
  "name": "sums", "version": "1.0.0", "license": "MIT", "repository": {"url": "git+https://example.invalid/sums.git"},
  "exports": {".": {"@sums/source": "./src/index.ts", "types": "./index.d.ts", "import": "./index.js"}},
  "dependencies": {"tiny": "^1.2.0"}, "devDependencies": {"fast-check": "^3.0.0", "own": "workspace:*"}
}"""
ON_NPM = {
    "package.json": PACKAGE,
    "LICENSE": MIT,
    "README.md": "# sums",
    "index.js": "export const add = 1;",
    "index.d.ts": "export declare const add: number;",
    "src/index.ts": "export const add = (a: number, b: number) => a + b;",
    "src/tests/add.test.ts": (
        'import { expect, test } from "vitest";\nimport * as fc from "fast-check";\n'
        'import { readFileSync } from "node:fs";\nimport { add } from "sums";\nimport left from "@of/left/pad";\n'
        'test("adds", () => { expect(add(1, 2)).toBe(3); });\n'
    ),
}


def test_a_release_on_npm_makes_a_recipe_of_its_sources_alone(tmp_path) -> None:
    tree = laid_out(tmp_path / "tree", ON_NPM)
    release = reading_npm.read_release(tree)
    assert release == reading_npm.NpmRelease(
        "src",
        ("LICENSE", "README.md", "package.json", "src"),
        (),
        ("@sums/source",),
        {"tiny": "^1.2.0", "fast-check": "^3.0.0"},
        ("@of/left",),
    )
    pinned = Pinned(WantedRelease("npm", "sums", "1.0.0"), "1" * 64, tree, tree)
    written = writing.typescript_files(pinned, release, ["jq"])
    texts = written.texts
    texts["package.json"] = reading_npm.package_json("sums", release, ["@of/left@2.0.0"])
    repo = made_of(tmp_path, written, pinned)
    assert (repo.upstream, repo.test_paths, repo.arms.taken_away) == (
        "https://example.invalid/sums",
        ("src/**/tests/**",),
        ("/var/cache/run_tests/transformed",),
    )
    assert " ! -name LICENSE ! -name README.md ! -name package.json ! -name src -exec rm" in dockerfile_of(repo)
    assert not {"Dockerfile", "run_tests.sh", "run.mjs", "runner.mjs", "transformed.mjs"} & set(texts)
    assert (
        read_recipe(repo)
        .files["run_tests.sh"]
        .endswith(b'exec node --conditions=@sums/source /node_modules/run_tests/run.mjs "$@"\n')
    )
    assert (
        json.loads(texts["package.json"])["devDependencies"].items()
        >= {
            "@of/left": "2.0.0",
            "fast-check": "^3.0.0",
            "vitest": "3.2.7",
        }.items()
    )
    assert {"run.mjs", "settings.mjs", "package.json"} < set(read_recipe(repo).files)


def test_of_several_directories_on_npm_the_one_with_tests_has_the_sources(tmp_path) -> None:
    programs = {"bin/sums.ts": 'import { add } from "../src/index";', "scripts/a.ts": ""}
    release = reading_npm.read_release(laid_out(tmp_path, {**ON_NPM, **programs}))
    assert (release.sources, {"bin", "scripts", "src"} <= set(release.kept)) == ("src", True)


def test_tests_on_npm_that_import_what_is_not_released_are_taken_out_of_the_tree(tmp_path) -> None:
    test = 'import { test } from "vitest";\nimport { add } from "%s";\ntest("adds", () => { add(1, 2); });\n'
    there = ("./index", "./index.ts", "./index.js", "./lib", ".", "./data.json", "./index?raw")
    sound = {f"src/sound{number}.test.ts": test % name for number, name in enumerate(there)}
    broken = {"src/a b.test.ts": test % "../../test/lib/help", "src/b.test.ts": test % "./missing"}
    more = {"src/lib/index.ts": "", "src/data.json": "{}"}
    tree = laid_out(tmp_path / "tree", {**ON_NPM, **sound, **more, **broken})
    release = reading_npm.read_release(tree)
    assert release.broken == ("src/a b.test.ts", "src/b.test.ts")
    pinned = Pinned(WantedRelease("npm", "sums", "1.0.0"), "1" * 64, tree, tree)
    dockerfile = dockerfile_of(made_of(tmp_path, writing.typescript_files(pinned, release, []), pinned))
    removed = "    rm \\\n        'src/a b.test.ts' \\\n        src/b.test.ts; \\\n"
    assert f"{removed}    chmod -R u=rwX,go=rX .\n" in dockerfile


def of_scope(directory: Path, kind: Kind) -> Repo:
    tree = laid_out(directory / "tree", ON_NPM)
    pinned = Pinned(WantedRelease(kind, "@of/sums", "1.0.0"), "1" * 64, tree, tree)
    return made_of(directory, writing.typescript_files(pinned, reading_npm.read_release(tree), []), pinned)


def test_a_package_of_npm_may_have_a_scope(tmp_path) -> None:
    assert read_recipe(of_scope(tmp_path, "npm")).arguments["SOURCE_PACKAGE"] == "@of/sums"


def test_a_scope_elsewhere_is_refused(tmp_path) -> None:
    with pytest.raises(UserError, match="@of/sums has a scope, and only packages of npm have one"):
        of_scope(tmp_path, "pypi")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"package.json": PACKAGE, "a.d.ts": ""}, "it has what is built of them only"),
        ({"package.json": PACKAGE, "src/a.ts": "", "lib/b.ts": ""}, "they lie in lib, src"),
        (
            {"package.json": PACKAGE, "src/a.ts": "", "src/a.test.ts": "", "lib/b.ts": "", "lib/b.test.ts": ""},
            "they lie in lib, src",
        ),
        ({"src/a.ts": ""}, "has no package.json"),
    ],
)
def test_a_release_on_npm_without_sources_in_one_place_is_refused(files, words, tmp_path) -> None:
    with pytest.raises(UserError, match=words):
        reading_npm.read_release(laid_out(tmp_path, files))


def test_a_needed_package_of_npm_without_a_version_is_refused(tmp_path) -> None:
    release = reading_npm.read_release(laid_out(tmp_path, ON_NPM))
    with pytest.raises(UserError, match="'@of/left' names no version"):
        reading_npm.package_json("sums", release, ["@of/left"])


IN_C = {
    "LICENSE": MIT,
    "configure.ac": "AC_INIT",
    "src/sums.c": '#include "sums.h"\nint add(int a, int b) { return a + b; }\n',
    "src/sums.h": "int add(int a, int b);\n",
    "src/tool.c": '#include "sums.h"\nint main(void) { return add(0, 0); }\n',
    "tests/helper.c": "int helper;\n",
    "tests/own.h": "#define ONE 1\n",
    "tests/test_add.c": '#include "own.h"\n#include "sums.h"\nint main(void) { return add(ONE, 2) != 3; }\n',
    "tests/test_red.c": '#include "sums.h"\nint main(void) { return add(1, 2) == 3; }\n',
}


def c_repository(directory: Path) -> Repo:
    control = "Source: sums\nBuild-Depends: debhelper-compat (= 13),\n libevent-dev (>= 2),\n cmake\n"
    packaging = laid_out(directory / "packaging", {"control": control})
    tree = laid_out(directory / "tree", IN_C)
    release = reading_c.read_release(tree, packaging)
    assert release.code == ("src/sums.c",)
    assert release.needs == ("libevent-dev",)
    assert "autoreconf" in release.configure
    pinned = Pinned(WantedRelease("debian", "sums", "1.0-1"), "1" * 64, tree, tree, packaging)
    return made_of(directory, writing.c_files(release, []), pinned)


def test_a_c_package_of_debian_makes_a_recipe_of_its_library(tmp_path) -> None:
    repo = c_repository(tmp_path)
    assert (repo.report, repo.test_paths) == ("tap", ("tests/**",))
    assert "/usr/bin/objdump" in repo.arms.hidden
    assert "procps \\\n        libevent-dev; \\\n" in dockerfile_of(repo)
    assert "make \\\n        autoconf \\\n        automake" in dockerfile_of(repo)
    assert set(read_recipe(repo).files) == {"Dockerfile", "run_tests.sh"}
    assert {path.name for path in repo.directory.iterdir()} == {"repo.yaml"}


@pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler here")
def test_the_run_script_of_a_c_package_builds_and_runs_and_a_tests_header_changes_no_library(tmp_path) -> None:
    repo = c_repository(tmp_path)
    tree, reports, context = tmp_path / "tree", tmp_path / "reports", tmp_path / "context"
    reports.mkdir()
    context.mkdir()
    read_recipe(repo).lay_out(context)

    def run(*arguments: str) -> int:
        command = ["bash", str(context / "run_tests.sh"), *arguments]
        env = {"PATH": os.environ["PATH"], "TESTWRIGHT_REPORT_DIR": str(reports)}
        return subprocess.run(command, cwd=tree, env=env, capture_output=True, check=False).returncode

    assert run("--library", str(tmp_path / "one")) == 0
    assert run("tests/test_add.c", "tests/test_red.c::test_red") == 1
    assert [(reports / f"{number}.tap").read_text().splitlines()[2] for number in (1, 2)] == [
        "ok 1 - test_add",
        "not ok 1 - test_red",
    ]
    assert run("tests/test_none.c") == 2
    (tree / "tests" / "more.h").write_text("#define TWO 2\n")
    assert run("--library", str(tmp_path / "two")) == 0
    assert (tmp_path / "one" / "sources").read_text() == (tmp_path / "two" / "sources").read_text()
    assert {"src/sums.c", "src/sums.h"} == {
        line.split()[1] for line in (tmp_path / "one" / "sources").read_text().splitlines()
    }


def test_a_c_package_of_programs_alone_is_refused(tmp_path) -> None:
    with pytest.raises(UserError, match="no C sources of a library"):
        reading_c.read_release(laid_out(tmp_path, {"a.c": "int main(void) { return 0; }\n"}), None)


@pytest.mark.parametrize(
    ("file", "glob"),
    [
        ("src/v4/tests/a.test.ts", "src/**/tests/**"),
        ("src/__tests__/a.test.ts", "src/**/__tests__/**"),
        ("tests/a.test.ts", "tests/**"),
        ("src/a.spec.ts", "src/**/*.spec.*"),
        ("a.test.ts", "*.test.*"),
    ],
)
def test_globs_of_tests_in_typescript(file, glob, tmp_path) -> None:
    test = 'import { test } from "vitest";\ntest("adds", () => {});\n'
    assert reading_trees.test_globs(laid_out(tmp_path, {file: test}), "typescript") == [glob]


@pytest.mark.parametrize(
    ("file", "glob"),
    [("test_sums.c", "test_*.c"), ("src/test_sums.c", "src/test_*.c"), ("src/tests/test_a.c", "src/tests/**")],
)
def test_globs_of_tests_in_c_take_programs_that_are_added(file, glob, tmp_path) -> None:
    assert reading_trees.test_globs(laid_out(tmp_path, {file: "int main(void) { return 0; }\n"}), "c") == [glob]


def test_a_wrong_report_format_is_told_with_the_one_that_was_found() -> None:
    junit = b'<testsuites><testsuite name="s"><testcase classname="a" name="b"/></testsuite></testsuites>'
    assert "they look like junit;" in no_tests({"1.xml": junit}, "tap")
    assert "their names are 1.txt;" in no_tests({"1.txt": b"hello"}, "junit")
    assert "does run_tests write them" in no_tests({}, "junit")


@pytest.mark.parametrize(
    ("files", "licence"),
    [
        ({"PKG-INFO": "License-Expression: BSD-2-Clause OR MIT\n"}, "BSD-2-Clause OR MIT"),
        ({"package.json": '{"license": "ISC"}'}, "ISC"),
        ({"COPYING": "GNU GENERAL PUBLIC LICENSE\n   Version 3, 29 June 2007"}, "GPL-3.0-or-later"),
        ({"LICENSE": f"The MIT License\n\n{MIT}"}, "MIT"),
    ],
)
def test_the_licence_is_what_metadata_or_its_text_says(files, licence, tmp_path) -> None:
    assert licence_of(laid_out(tmp_path, files), "") == licence


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ARG SOURCE_SHA256", "ARG SOURCE_SHA256=00", ": SOURCE_SHA256 is '00' here; source.sha256 of repo.yaml"),
        ("AS dependencies", "AS depends", "has no target 'dependencies'"),
    ],
)
def test_a_dockerfile_that_says_what_is_not_used_is_an_error_with_its_line(old, new, words, tmp_path) -> None:
    tree = laid_out(tmp_path / "tree", SOUND)
    pinned = Pinned(WantedRelease("pypi", "sums", "1.0"), sha256_of(tree / "LICENSE"), tree, tree)
    repo = made_of(tmp_path, writing.python_files(pinned, [], []), pinned)
    text = dockerfile_of(repo).replace(old, new, 1)
    (repo.directory / "Dockerfile").write_text(text)
    with pytest.raises(UserError, match=re.escape(words)) as error:
        read_recipe(repo)
    line = next((n for n, each in enumerate(text.splitlines(), 1) if each == new), 0)
    assert str(error.value).startswith(f"{repo.directory / 'Dockerfile'}:{f'{line}:' if line else ''}")
