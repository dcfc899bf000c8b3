"""Submissions without any worth: prose, a list of tests that aren't there, a test that asserts nothing."""

from pathlib import PurePosixPath

from harness.specs.errors import UserError
from harness.specs.ids import TestId
from harness.specs.task import Task
from harness.submission.extraction import Submission
from harness.submission.manifest import ManifestError, format_manifest, parse_manifest

NOTHING = {
    "python": ("test_testwright_junk.py", "test_nothing", "def test_nothing():\n    assert True\n"),
    "go": (
        "testwright_junk_test.go", "TestNothing",
        'package {package}\n\nimport "testing"\n\nfunc TestNothing(t *testing.T) {\n\t_ = t\n}\n',
    ),
    "typescript": (
        "testwright-junk.test.ts", "nothing",
        'import { expect, test } from "vitest";\n\ntest("nothing", () => {\n  expect(true).toBe(true);\n});\n',
    ),
    "c": ("test_testwright_junk.c", "test_testwright_junk", "int main(void)\n{\n    return 0;\n}\n"),
}  # fmt: skip
"""By language: file, test and text of a test that passes on any code."""


def junk(task: Task) -> dict[str, Submission]:
    """Each by what it is. Raises UserError where the reference's manifest can't be read."""
    return {
        "prose in place of a patch": Submission(b"I have tested everything and it is fine.\n", b""),
        "the reference without a manifest": Submission(task.patch("reference/tests.patch"), b""),
        "a test that asserts nothing": _asserts_nothing(task),
    }


def _asserts_nothing(task: Task) -> Submission:
    """A new file beside the first one of the reference, so that the language's tools find it."""
    path = task.directory / "reference" / "manifest.yaml"
    try:
        neighbour = parse_manifest(task.patch("reference/manifest.yaml")).files[0]
    except ManifestError as error:
        raise UserError(f"{path}: {error}") from None
    name, test, text = NOTHING[task.repo.language.value]
    file = (PurePosixPath(neighbour).parent / name).as_posix()
    # A Go directory has one package, and its name need not be the directory's.
    lines = text.replace("{package}", _package(task, neighbour)).splitlines(keepends=True)
    body = "".join(f"+{line}" for line in lines)
    head = f"diff --git a/{file} b/{file}\nnew file mode 100644\n--- /dev/null\n+++ b/{file}\n"
    patch = f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}"
    return Submission(patch.encode(), format_manifest([TestId(file, test)]).encode())


def _package(task: Task, neighbour: str) -> str:
    """The package that the reference's file says it is of, else the name of its directory."""
    for line in task.patch("reference/tests.patch").decode(errors="replace").splitlines():
        if line[:1] in ("+", " ") and line[1:].startswith("package "):
            return line[1:].split()[1]
    return PurePosixPath(neighbour).parent.name
