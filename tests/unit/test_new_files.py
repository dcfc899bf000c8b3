"""Patches made of files: git makes the same files of them, byte for byte."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.judging.submission.new_files import new_text_patch
from harness.plugins.browser import task as browser
from harness.plugins.build import task as build
from harness.plugins.design.hand_ins import case_of
from harness.specs.errors import UserError
from tests.support.designs import page_task

TEXTS = {
    "__init__.py": b"",
    "lone_cr.py": b'x = "a\rb"\n\ry = 1\r',
    "no_end.py": b"x = 1\ny = 2",
    "crlf.py": b"x = 1\r\ny = 2\r\n",
    "crlf_no_end.py": b"x = 1\r\ny = 2\r",
    "one_line_feed.py": b"\n",
    "last_lines_empty.py": b"x = 1\n\n\n",
    "form_feed.py": "x = 1\x0cy\x0b\x85\u2028z\n".encode(),
    "like_a_patch.py": b"--- a\n+++ b\n@@ -0,0 +1,1 @@\n\\ No newline at end of file\ndiff --git a/x b/x\n",
    "a name.py": b"x = 1\n",
    "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff",
    "latin.txt": "caf\u00e9\n".encode("latin-1"),
}
SHARED = {"stages": browser.patch_of, "applications": build.patch_of}


def applied(patch: bytes, place: Path) -> Path:
    """Return a folder in which git has applied a patch and nothing else."""
    place.mkdir()
    subprocess.run(["git", "init", "--quiet", place], check=True)
    done = subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=place, input=patch, capture_output=True)
    assert done.returncode == 0, done.stderr
    return place


def laid(place: Path, texts: dict[str, bytes]) -> Path:
    (place / "tests").mkdir(parents=True)
    for name, data in texts.items():
        (place / "tests" / name).write_bytes(data)
    return place


@pytest.mark.parametrize("made", SHARED.values(), ids=SHARED)
@pytest.mark.parametrize("name", TEXTS)
def test_git_makes_of_a_patch_the_file_that_it_is_of(
    tmp_path: Path, name: str, made: Callable[[Path], bytes]
) -> None:
    patch = made(laid(tmp_path / "kept", {name: TEXTS[name], "test_beside.py": b"assert 1\n"}))
    found = applied(patch, tmp_path / "there") / "tests"
    assert (found / name).read_bytes() == TEXTS[name]
    assert (found / "test_beside.py").read_bytes() == b"assert 1\n"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.sampled_from("\n\n\r\x0c\x1c +-\\@a\u2028"), max_size=12))
def test_git_makes_of_any_text_the_same_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    place = applied(new_text_patch("tests/t.py", text.encode()), tmp_path_factory.mktemp("any") / "there")
    assert (place / "tests" / "t.py").read_bytes() == text.encode()


def test_a_program_stays_one(tmp_path: Path) -> None:
    kept = laid(tmp_path / "kept", {"run": b"#!/bin/sh\n", "other": b""})
    (kept / "tests" / "run").chmod(0o755)
    found = applied(build.patch_of(kept), tmp_path / "there") / "tests"
    assert [bool((found / name).stat().st_mode & 0o100) for name in ("run", "other")] == [True, False]


def test_a_design_in_a_binary_file_is_named(tmp_path: Path) -> None:
    task = page_task(tmp_path)
    for path in (tmp_path / "cases.yaml", task.path("reference/cases.yaml")):
        path.write_bytes(b"\xff\xfe-")
    with pytest.raises(UserError, match=rf"^{tmp_path}/cases\.yaml: a binary file"):
        case_of(task, tmp_path / "cases.yaml", "ada")
    with pytest.raises(UserError, match=r"parcel/reference/cases\.yaml: a binary file"):
        task.patch("reference/tests.patch")
