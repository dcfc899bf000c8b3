"""`scripts/lint` finds what is wrong in shell and JavaScript, and says loudly where it can't look."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
NEEDED = ("bash", "cmp", "cp", "dirname", "git", "mkdir", "rm")
FAULTY = {
    "scripts/tool": ("#!/bin/bash\nrm -r $1/*\n", "SC2086"),
    "harness/in_container/build.sh": ("# no shebang: it is given to bash -c\necho $(ls *.c)\n", "SC2046"),
    "repos/x/run_tests.sh": ("#!/bin/sh\nif [[ $1 == a ]]; then exit 1; fi\n", "SC3010"),
    "repos/x/run.mjs": ("import { readFileSync } from 'node:fs';\nconsole.log(readFile('x'));\n", "no-undef"),
    "harness/in_container/transpile.cjs": ("if (process.argv[2] == 'x') process.exit(1);\n", "eqeqeq"),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with nothing in it but the linters, those of npm as this checkout has them."""
    shutil.copytree(CHECKOUT / "scripts" / "linters", tmp_path / "scripts" / "linters")
    shutil.copy(CHECKOUT / "scripts" / "lint", tmp_path / "scripts" / "lint")
    (tmp_path / ".gitignore").write_text(".venv\n")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def lint(checkout: Path, **env: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name not in ("CI", "TESTWRIGHT_REQUIRE_DOCKER")}
    return subprocess.run(
        [checkout / "scripts" / "lint"], env=plain | env, capture_output=True, text=True, check=False
    )


def put(checkout: Path, name: str, text: str) -> None:
    (checkout / name).parent.mkdir(parents=True, exist_ok=True)
    (checkout / name).write_text(text)


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_told_with_its_file_and_rule(checkout, name):
    is_shell = not name.endswith("js")
    if is_shell and not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed")
    if not is_shell:
        if not (CHECKOUT / ".venv" / "linters" / "installed.json").is_file():
            pytest.skip("oxlint is not installed; make check installs it where npm is")
        (checkout / ".venv").mkdir()
        (checkout / ".venv" / "linters").symlink_to(CHECKOUT / ".venv" / "linters")
    text, rule = FAULTY[name]
    put(checkout, name, text)
    done = lint(checkout)
    assert done.returncode == 1, done
    assert name in done.stdout
    assert rule in done.stdout


def test_other_peoples_files_in_fixtures_are_left_alone(checkout):
    put(checkout, "tests/fixtures/theirs/run.sh", FAULTY["scripts/tool"][0])
    assert lint(checkout).returncode == 0


@pytest.fixture
def bare_path(tmp_path_factory) -> str:
    """A PATH without linters, npm and package managers."""
    folder = tmp_path_factory.mktemp("bin")
    for name in NEEDED:
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    return str(folder)


@pytest.mark.parametrize(
    ("env", "status", "words"),
    [
        ({}, 0, "is NOT CHECKED"),
        ({"CI": "true"}, 1, "must be checked here"),
        ({"TESTWRIGHT_REQUIRE_DOCKER": "1"}, 1, "must be checked here"),
    ],
    ids=["a laptop", "CI", "where all is required"],
)
def test_where_a_linter_cannot_be_had_it_is_said(checkout, bare_path, env, status, words):
    put(checkout, "run.mjs", "console.log(1);\n")
    done = lint(checkout, PATH=bare_path, **env)
    assert done.returncode == status, done
    assert [line for line in done.stderr.splitlines() if words in line and line.startswith("lint: shell ")]
    assert [line for line in done.stderr.splitlines() if words in line and line.startswith("lint: JavaScript ")]


def test_the_lock_pins_every_package_and_names_no_registry():
    lock = (CHECKOUT / "scripts" / "linters" / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert lock.count('"integrity": "sha512-') == lock.count('"node_modules/')
