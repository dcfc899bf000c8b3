"""Worthless submissions: prose, a list of tests that don't exist, a test that asserts nothing."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from harness.languages.registry import language_of
from harness.specs.errors import UserError
from harness.specs.ids import TestId
from harness.specs.task import Task
from harness.submission.extraction import Submission
from harness.submission.manifest import ManifestError, format_manifest, parse_manifest


def worthless_submissions(task: Task) -> dict[str, Submission]:
    """Submissions that must not be resolved, by a description of each.

    Raises UserError where the reference's manifest can't be read.
    """
    return {
        "prose in place of a patch": Submission(b"I have tested everything and it is fine.\n", b""),
        "the reference without a manifest": Submission(task.patch("reference/tests.patch"), b""),
        "a test that asserts nothing": _asserts_nothing(task),
    }


def _asserts_nothing(task: Task) -> Submission:
    """A new file beside the first one of the reference, so that the language's tools find it."""
    path, language = task.directory / "reference" / "manifest.yaml", language_of(task.repo)
    try:
        neighbour = parse_manifest(task.patch("reference/manifest.yaml"), language.ids).files[0]
    except ManifestError as error:
        raise UserError(f"{path}: {error}") from None
    worthless = language.worthless
    file = (PurePosixPath(neighbour).parent / worthless.file).as_posix()
    first = worthless.head(neighbour, "\n".join(_shown(task, neighbour))) if worthless.head else ""
    lines = f"{first}{worthless.text}".splitlines(keepends=True)
    body = "".join(f"+{line}" for line in lines)
    head = f"diff --git a/{file} b/{file}\nnew file mode 100644\n--- /dev/null\n+++ b/{file}\n"
    patch = f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}"
    return Submission(patch.encode(), format_manifest([TestId(file, worthless.test)]).encode())


def _shown(task: Task, file: str) -> Iterator[str]:
    """What the reference's patch shows of a file as it is afterwards."""
    current = ""
    for line in task.patch("reference/tests.patch").decode(errors="replace").splitlines():
        if line.startswith("+++ "):
            current = line[4:].partition("\t")[0].removeprefix("b/")
        elif current == file and line[:1] in ("+", " "):
            yield line[1:]
