"""What is left of a repository's history in arms: a `.git` of the same files without their content."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.judging.testing import arm_job
from harness.judging.verify.arms import AS_FOR_AGENTS
from harness.sandbox.protocol import Image
from harness.specs.catalog import Catalog
from harness.specs.variants import VariantKind

REPO = Catalog().repo("aiosmtpd")


def run_job(tree: Path, command: str = "true") -> subprocess.CompletedProcess[str]:
    run = arm_job.TestRun((), {}, frozenset(), ("gone.txt",), ("echo", "proved"), 10)
    job = arm_job.test_job(REPO, Image("x", "sha256:x", str(tree), tree), run)
    env = {"PATH": "/usr/bin:/bin", "TESTWRIGHT_TEST_COMMAND": command}
    return subprocess.run(job.argv, cwd=tree, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "code.py").write_text("secret = 1\n")
    (tmp_path / "gone.txt").write_text("x")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x"), ("repack", "-adq")):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    return tmp_path


def test_a_test_command_sees_no_variable_with_its_name(tree: Path) -> None:
    """In people's hands there is none."""
    assert "env" not in re.findall(r"=(.*)", run_job(tree, "env").stdout)


def test_its_files_have_their_sizes_and_no_content(tree: Path) -> None:
    before = {path: path.stat().st_size for path in (tree / ".git").rglob("*") if path.is_file()}
    done = run_job(tree)
    assert (done.returncode, done.stdout, done.stderr) == (0, "proved\n", "")
    assert {path: path.stat().st_size for path in (tree / ".git").rglob("*") if path.is_file()} == before
    emptied = [path for path in before if "objects" in path.parts or path.name == "index"]
    assert len(emptied) >= 3
    assert all(path.read_bytes() == bytes(before[path]) for path in emptied)
    assert not (tree / "gone.txt").exists()


def test_where_there_is_none_nothing_is_emptied(tree: Path) -> None:
    shutil.rmtree(tree / ".git")
    done = run_job(tree)
    assert (done.returncode, done.stdout, done.stderr) == (0, "proved\n", "")
    assert {path.name for path in tree.iterdir()} == {"code.py"}


def test_both_groups_of_arms_have_some_with_the_images_user() -> None:
    kinds = {VariantKind(name.rpartition("-")[0] or name) for name in AS_FOR_AGENTS}
    assert {kind.behaves_like_baseline for kind in kinds} == {True, False}
