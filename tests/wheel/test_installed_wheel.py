"""The wheel in a new environment and an empty directory: nothing of the checkout may be needed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.specs.errors import Extra
from tests.support.few_arms import few_arms_elsewhere
from tests.support.group_clock import TOLD
from tests.support.light_task import TASK, light_catalog

CHECKOUT = Path(__file__).parents[2]
SAMPLE = CHECKOUT / "docs" / "sample-run"
MOST_PACKAGES = 90 if sys.version_info >= (3, 11, 4) else 91
"""pip and setuptools included; older ones need a later `tarfile`."""
MOST_MB, MOST_MB_WITHOUT_BYTECODE = 450, 310
"""Of site-packages, the environment's own pip and setuptools included, as `du -sm` counts."""
EXTRAS = {
    "site": ["report", SAMPLE, "--site", "out"],
    "export": ["report", SAMPLE, "--export", "out"],
    "ray": ["run", "-t", "aiosmtpd-proxy-tlv", "-s", "nop", "--executor", "ray:127.0.0.1:6379", "-o", "out"],
}
"""An extra -> a command that can't do without it."""


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Path:
    """The `testwright` command of a new environment that has the wheel and what it declares, no more."""
    place = tmp_path_factory.mktemp("wheel")
    build = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place, cwd=CHECKOUT)
    assert build.returncode == 0, build.stderr
    [wheel] = place.glob("*.whl")
    pins = re.findall(r"^([A-Za-z0-9_.\[\]-]+==[^\\\n]+)", (CHECKOUT / "requirements.lock").read_text(), re.M)
    (place / "constraints.txt").write_text("\n".join(pins))
    made = run(sys.executable, "-m", "venv", place / "venv", cwd=place)
    assert made.returncode == 0, made.stderr
    uv, python = Path(sys.executable).with_name("uv"), place / "venv" / "bin" / "python"
    installing = run(CHECKOUT / "scripts" / "install", uv, python, "-c", place / "constraints.txt", wheel, cwd=place)
    assert installing.returncode == 0, installing.stderr
    return place / "venv" / "bin" / "testwright"


@pytest.fixture
def clean_env(tmp_path) -> dict[str, str]:
    """An environment that says nothing of the checkout; the cache is shared so that images aren't made again."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return {**kept, "PATH": f"{os.defpath}:{os.environ['PATH']}"}


def test_the_catalog_comes_with_the_wheel(installed, tmp_path, clean_env):
    listed = run(installed, "task", "list", "--json", cwd=tmp_path, env=clean_env)
    assert listed.returncode == 0, listed.stderr
    assert len(json.loads(listed.stdout)) >= 3
    for kind in ("repo", "model"):
        assert [row["name"] for row in json.loads(run(installed, kind, "list", "--json", cwd=tmp_path).stdout)]
    assert not list(tmp_path.iterdir())


def test_the_wheel_has_no_top_level_package_but_its_own(installed, tmp_path, clean_env):
    """Another project's `scripts` or `tests` must stay importable beside it."""
    python = installed.with_name("python")
    files = "from importlib.metadata import files; print(*sorted({path.parts[0] for path in files('testwright')}))"
    listed = run(python, "-c", files, cwd=tmp_path, env=clean_env)
    tops = {name for name in listed.stdout.split() if not name.endswith(".dist-info") and name != ".."}
    assert tops == {"harness", "testwright"}
    assert run(python, "-c", "import scripts", cwd=tmp_path, env=clean_env).returncode != 0


def test_the_request_that_all_scaffolds_share_comes_with_the_wheel(installed, tmp_path, clean_env):
    (tmp_path / "said.yaml").write_text("messages:\n  - commands: [ls]\n")
    command = ["run", "-t", "aiosmtpd-proxy-tlv", "-s", "mini", "-m", "scripted:said.yaml", "--sandbox", "local"]
    done = run(installed, *command, "--dry-run", "-o", "out", cwd=tmp_path, env=clean_env)
    assert done.returncode == 0, done.stderr
    assert (packed_catalog(installed, tmp_path, clean_env) / "scaffolds" / "request.j2").is_file()


def packed_catalog(installed: Path, cwd: Path, env: dict[str, str]) -> Path:
    where = "from harness.specs.catalog_places import default_directory; print(default_directory())"
    return Path(run(installed.with_name("python"), "-c", where, cwd=cwd, env=env).stdout.strip())


def test_doctor_answers_without_a_checkout(installed, tmp_path, clean_env):
    found = run(installed, "doctor", "--json", cwd=tmp_path, env=clean_env)
    assert {"python", "git"} <= {row["name"] for row in json.loads(found.stdout)}


def test_signals_beside_verdicts_need_no_checkout(installed, tmp_path, clean_env):
    """The scoring of tracks, and what goes into containers to look at names, are files of the package."""
    shutil.copytree(SAMPLE, tmp_path / "run")
    for words, said in ((["write"], "Points are no verdict"), (["check"], "all as written")):
        done = run(installed, "score", *words, "run", cwd=tmp_path, env=clean_env)
        assert (done.returncode, done.stderr) == (0, "")
        assert said in done.stdout
    assert run(installed, "names", "write", "--help", cwd=tmp_path, env=clean_env).returncode == 0
    own = CHECKOUT / "harness" / "plugins" / "names"
    there = site_packages(installed) / "harness" / "plugins" / "names"
    needed = [path.relative_to(own) for path in own.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert [path for path in needed if not (there / path).is_file()] == []


def megabytes(folder: Path, but: str = "") -> int:
    return int(run("du", "-sm", f"--exclude={but}", folder, cwd=folder).stdout.split()[0])


def test_the_base_install_is_small(installed, tmp_path, clean_env, record_property):
    """Bytecode, which pip writes and scripts/install doesn't, is left out here: compiling takes half a minute."""
    code = "from importlib.metadata import distributions; print(*sorted(d.name for d in distributions()))"
    packages = run(installed.with_name("python"), "-c", code, cwd=tmp_path, env=clean_env).stdout.split()
    mb = megabytes(site_packages(installed), but="__pycache__")
    record_property(TOLD, f"base install: {mb} MB without bytecode, {len(packages)} packages")
    assert "testwright" in packages
    assert len(packages) <= MOST_PACKAGES, packages
    assert mb <= MOST_MB_WITHOUT_BYTECODE


@pytest.mark.long
def test_the_base_install_is_small_with_the_bytecode_that_pip_writes(installed, tmp_path, clean_env, record_property):
    packages = site_packages(installed)
    run(installed.with_name("python"), "-m", "compileall", "-q", "-j", "0", packages, cwd=tmp_path, env=clean_env)
    record_property(TOLD, f"base install: {megabytes(packages)} MB with bytecode")
    assert len([*packages.rglob("*.pyc")]) > 0.9 * len([*packages.rglob("*.py")]), "it was compiled"
    assert megabytes(packages) <= MOST_MB


def site_packages(installed: Path) -> Path:
    [found] = installed.parents[1].glob("lib/python*/site-packages")
    return found


TOLD_IN_ONE_PROCESS = """
import contextlib, io, json, sys
from harness.cli.main import status
told = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()) as complaint:
        ended = status(words)
    told.append([ended, said.getvalue(), complaint.getvalue()])
print(json.dumps(told))
"""


def test_the_base_tells_results_as_text_and_as_json(installed, tmp_path, clean_env):
    """In one process: each start takes two seconds."""
    commands = [["report"], ["show"], ["compare", "--a", "mini", "--b", "oracle"]]
    words = [[name, str(SAMPLE), *more] for name, *more in commands]
    asked = json.dumps([[*each, *form] for each in words for form in ((), ("--json",))])
    done = run(installed.with_name("python"), "-c", TOLD_IN_ONE_PROCESS, asked, cwd=tmp_path, env=clean_env)
    assert done.returncode == 0, done.stderr
    told = iter(json.loads(done.stdout))
    for text, as_json in zip(told, told, strict=True):
        assert (text[0], text[2]) == (0, "")
        assert "mini" in text[1]
        assert as_json[0] == 0, as_json[2]
        assert json.loads(as_json[1])


@pytest.mark.parametrize("extra", EXTRAS)
def test_without_an_extra_one_line_says_how_to_install_it(installed, tmp_path, clean_env, extra):
    done = run(installed, *EXTRAS[extra], cwd=tmp_path, env=clean_env)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.endswith(f"needs the extra '{extra}': pip install 'testwright[{extra}]'")
    assert not list(tmp_path.iterdir()), "nothing is half-written"


def test_a_live_site_needs_the_same_extra(installed, tmp_path, clean_env):
    done = run(installed, "view", SAMPLE, "--port", "0", cwd=tmp_path, env=clean_env)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].endswith("view needs the extra 'site': pip install 'testwright[site]'")


def test_logs_of_other_programs_need_no_extra(installed, tmp_path, clean_env):
    for form in ("inspect", "atif"):
        done = run(installed, "report", SAMPLE, "--export", form, "--format", form, cwd=tmp_path, env=clean_env)
        assert done.returncode == 0, done.stderr
        assert list((tmp_path / form).rglob("*.json"))


def test_each_extra_has_the_library_that_is_looked_for(installed, tmp_path, clean_env):
    code = "import json; from importlib.metadata import requires; print(json.dumps(requires('testwright')))"
    told = run(installed.with_name("python"), "-c", code, cwd=tmp_path, env=clean_env)
    needed = [line for line in json.loads(told.stdout) if "extra ==" in line]
    for extra in Extra:
        assert any(line.startswith(extra.library) and f"'{extra}'" in line.replace('"', "'") for line in needed)
        assert any(line.startswith(extra.library) and "'all'" in line.replace('"', "'") for line in needed)


@pytest.mark.long
def test_a_run_from_an_empty_directory_judges_the_controls(installed, tmp_path, tmp_path_factory, clean_env):
    """With few arms of a light task, a control round and own runs: each part of a judging has its files."""
    few = few_arms_elsewhere(tmp_path_factory.mktemp("few"), 1)
    light = light_catalog(tmp_path_factory.mktemp("light"), packed_catalog(installed, tmp_path, clean_env))
    command = ["--catalog", light, "run", "-t", TASK, "-s", "nop", "-s", "oracle", "-o", "out", "--json"]
    done = run(installed, *command, cwd=tmp_path, env={**clean_env, **few})
    assert done.returncode == 0, done.stderr
    verdicts = {trial["scaffold"]: trial["verdict"] for trial in json.loads(done.stdout)["trials"]}
    assert verdicts == {"nop": "failed", "oracle": "resolved"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
