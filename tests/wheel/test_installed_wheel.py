"""The wheel in a new environment and an empty directory: nothing of the checkout may be needed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


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


def test_the_wheel_has_one_top_level_package(installed, tmp_path, clean_env):
    """Another project's `scripts` or `tests` must stay importable beside it."""
    python = installed.with_name("python")
    files = "from importlib.metadata import files; print(*sorted({path.parts[0] for path in files('testwright')}))"
    listed = run(python, "-c", files, cwd=tmp_path, env=clean_env)
    tops = {name for name in listed.stdout.split() if not name.endswith(".dist-info") and name != ".."}
    assert tops == {"harness"}
    assert run(python, "-c", "import scripts", cwd=tmp_path, env=clean_env).returncode != 0


def test_the_request_that_all_scaffolds_share_comes_with_the_wheel(installed, tmp_path, clean_env):
    (tmp_path / "said.yaml").write_text("messages:\n  - commands: [ls]\n")
    command = ["run", "-t", "aiosmtpd-proxy-tlv", "-s", "mini", "-m", "scripted:said.yaml", "--sandbox", "local"]
    done = run(installed, *command, "--dry-run", "-o", "out", cwd=tmp_path, env=clean_env)
    assert done.returncode == 0, done.stderr
    python = installed.with_name("python")
    where = "from harness.specs.catalog import default_directory; print(default_directory())"
    packed = Path(run(python, "-c", where, cwd=tmp_path, env=clean_env).stdout.strip())
    assert (packed / "scaffolds" / "request.j2").is_file()


def test_doctor_answers_without_a_checkout(installed, tmp_path, clean_env):
    found = run(installed, "doctor", "--json", cwd=tmp_path, env=clean_env)
    assert {"python", "git"} <= {row["name"] for row in json.loads(found.stdout)}


@pytest.mark.long
def test_a_run_from_an_empty_directory_judges_the_controls(installed, tmp_path, clean_env):
    command = ["run", "-t", "aiosmtpd-proxy-tlv", "-s", "nop", "-s", "oracle", "-o", "out", "--json"]
    done = run(installed, *command, cwd=tmp_path, env=clean_env)
    assert done.returncode == 0, done.stderr
    verdicts = {trial["scaffold"]: trial["verdict"] for trial in json.loads(done.stdout)["trials"]}
    assert verdicts == {"nop": "failed", "oracle": "resolved"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
