"""Keys in a file, keys in messages, and what programs of this machine see of them."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.sandbox.host import DOCKER, PIP, PROXIES, host_environment
from harness.sandbox.images.building import client_environment, find_build_cli
from harness.sandbox.images.client_config import pip_settings
from harness.sandbox.local.recipe import task_environment
from harness.specs.errors import UserError
from harness.specs.secrets import adopt_dotenv, declare_secret, read_dotenv, without_secrets
from tests.support.tiny_repo import tiny_repo, tiny_task

KEY = "honeytoken-0123456789"


def doctor(directory: Path, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = [sys.executable, "-m", "harness.cli", "doctor"]
    return subprocess.run(command, cwd=directory, env={**kept, **env}, capture_output=True, text=True, check=False)


def test_a_file_of_keys_is_read_as_shells_and_other_tools_read_it(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        '# ours\n\nA_KEY=one two # the first\nexport B_KEY=\'thr#ee\'\nC_KEY="fo\\"ur"\nD_KEY=\nE_KEY=a$b${c}\n'
    )
    assert read_dotenv(tmp_path / ".env") == {
        "A_KEY": "one two",
        "B_KEY": "thr#ee",
        "C_KEY": 'fo"ur',
        "D_KEY": "",
        "E_KEY": "a$b${c}",
    }


def test_what_is_set_already_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTWRIGHT_TEST_A", "environment")
    monkeypatch.setenv("TESTWRIGHT_TEST_B", "")
    monkeypatch.delenv("TESTWRIGHT_TEST_C", raising=False)
    (tmp_path / ".env").write_text("TESTWRIGHT_TEST_A=file\nTESTWRIGHT_TEST_B=file\nTESTWRIGHT_TEST_C=file\n")
    adopt_dotenv(tmp_path)
    found = [os.environ.pop(f"TESTWRIGHT_TEST_{name}") for name in "ABC"]
    assert found == ["environment", "", "file"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"A=1\n{KEY}\n", 2),
        (f"A=1\n\n\n  {KEY} more\n", 4),
        (f"A='{KEY}\n", 1),
        (f"={KEY}\n", 1),
        (f"# x\nmy key={KEY}\n", 2),
        (f"1A={KEY}\n", 1),
        (f"A-B={KEY}\n", 1),
        (f"A={KEY}\0\n", 1),
    ],
)
def test_a_line_that_is_none_is_named_and_not_repeated(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / ".env").write_text(text)
    with pytest.raises(UserError) as caught:
        read_dotenv(tmp_path / ".env")
    assert str(caught.value).startswith(f"{tmp_path}/.env:{line}: ")
    assert len(str(caught.value).splitlines()) == 1
    assert "honeytoken" not in str(caught.value)


@pytest.mark.long
def test_the_command_line_reads_the_file_of_its_directory_and_doctor_tells_names_only(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"SHELF_API_KEY={KEY}\n")
    done = doctor(tmp_path, TABLE_API_KEY=KEY)
    assert "SHELF_API_KEY, TABLE_API_KEY" in " ".join(done.stdout.split())
    assert "honeytoken" not in done.stdout + done.stderr
    (tmp_path / "below").mkdir()
    assert "SHELF_API_KEY" not in doctor(tmp_path / "below").stdout


def test_a_bad_file_of_keys_ends_a_command_with_one_line(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"# mine\n{KEY}\n")
    done = doctor(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "testwright: .env:2: not NAME=value; write one variable a line, comments behind #\n"


@pytest.mark.long
def test_no_library_reads_another_file_of_keys_than_that_of_the_working_directory(tmp_path: Path) -> None:
    """litellm looks for one above its own installation, which may be anybody's."""
    (tmp_path / ".env").write_text(f"STRAY_API_KEY={KEY}\n")
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "litellm").symlink_to(Path(str(find_spec("litellm").origin)).parent)  # type: ignore[union-attr]
    program = tmp_path / "program.py"  # it looks elsewhere for one that has no file
    program.write_text(
        "import os\nfrom harness.models.price_table import load_litellm\n"
        "print(load_litellm().__file__, 'STRAY_API_KEY' in os.environ)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    done = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(tmp_path / "installed" / "litellm" / "__init__.py"), "False"]


def test_messages_lose_keys_the_longest_first_and_passwords_in_addresses() -> None:
    environment = {"MY_API_KEY": KEY, "LONG_TOKEN": f"{KEY}-and-more", "HOME": "/root/home", "ODD": "odd-name-0123"}
    text = f"no: {KEY}-and-more, {KEY}, odd-name-0123, /root/home, http://me:word@proxy:1/x"
    declare_secret("ODD")
    assert without_secrets(text, environment) == (
        "no: $LONG_TOKEN, $MY_API_KEY, $ODD, /root/home, http://...@proxy:1/x"
    )


def test_programs_of_this_machine_get_their_own_settings_and_no_key() -> None:
    given = {
        "PATH": "/bin", "LC_ALL": "C", "HOME": "/root", "DOCKER_HOST": "unix:///x", "PIP_INDEX_URL": "https://x",
        "HTTPS_PROXY": "http://p", "https_proxy": "http://p", "OPENAI_API_KEY": KEY, "DOCKERFILE_KEY": KEY,
        "TESTWRIGHT_JUDGE": KEY, "PATHOLOGY": KEY, "CCX": KEY, "PYTHONPATH": "/x",
    }  # fmt: skip
    assert set(host_environment(environment=given)) == {"PATH", "LC_ALL", "HOME"}
    assert set(host_environment(*DOCKER, environment=given)) == {"PATH", "LC_ALL", "HOME", "DOCKER_HOST"}
    assert set(host_environment(*PIP, *PROXIES, environment=given)) == {
        "PATH", "LC_ALL", "HOME", "PIP_INDEX_URL", "HTTPS_PROXY", "https_proxy",
    }  # fmt: skip


def test_docker_commands_and_pip_are_started_without_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(f"#!/bin/sh\nenv >> {seen}\nexit 0\n")
    docker.chmod(0o755)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("SOMETHING_ELSE", KEY)
    monkeypatch.setenv("DOCKER_HOST", "unix:///engine.sock")
    assert find_build_cli(f"{docker.parent}:/nonexistent").path == docker
    assert "DOCKER_HOST=unix:///engine.sock" in seen.read_text()
    assert "honeytoken" not in seen.read_text()
    assert KEY not in client_environment().values()
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.invalid/simple")
    assert pip_settings()["index-url"] == ("https://index.invalid/simple",)


@pytest.mark.long
async def test_code_of_upstream_that_an_installation_runs_finds_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip runs a release's build backend on this machine, outside of any sandbox."""
    repo = tiny_repo(tmp_path / "repo", backend=f"import os\nopen('{tmp_path}/seen', 'a').write(str(os.environ))\n")
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "repo" / "release"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    await task_environment(tiny_task(repo, tmp_path / "task"))
    seen = (tmp_path / "seen").read_text()
    assert "PIP_NO_INDEX" in seen
    assert "honeytoken" not in seen
