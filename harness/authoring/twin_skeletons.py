"""A twin that is still to be written: comment lines where its probe changes the code."""

import re
from pathlib import Path

from unidiff.patch import Hunk, PatchSet

from harness.authoring.task_stub import file_diff
from harness.judging.languages.registry import language_of
from harness.sandbox.git_tree import GitTree
from harness.specs.task import Task

MARK = "TODO: a twin of"
"""The beginning of its comment. A check refuses a twin that has one."""


async def write_twin_skeleton(task: Task, tree: GitTree, base: str, name: str, probe: bytes) -> Path:
    """Write `twins/NAME.patch` for a probe: it changes no behaviour and has the probe's place.

    Args:
        task: Whose twin it is.
        tree: A git directory with the task's tree.
        base: That tree.
        name: The probe's.
        probe: The probe's patch.
    """
    comment = language_of(task.repo).comment
    entries = await tree.entries(base)
    diffs = []
    for file in PatchSet(probe.decode(errors="replace")):
        old = await tree.read_all({file.path: entries[file.path]})
        text = old[file.path]
        lines = [_first_changed(hunk) for hunk in file]
        diffs.append(file_diff(file.path, text, marked(text, lines, comment, name)))
    path = task.directory / "twins" / f"{name}.patch"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes("".join(diffs).encode("utf-8", "surrogateescape"))
    return path


def marked(text: bytes, lines: list[int], comment: str, probe: str) -> bytes:
    """Return a text with a comment above each of these lines, indented as the line is. Pure."""
    words = f"{MARK} {probe}: write the code below otherwise, as much of it as the probe, and take this line out"
    made = text.splitlines(keepends=True)
    for number in sorted(lines, reverse=True):
        line = made[number - 1] if number <= len(made) else b""
        blanks = re.match(rb"[ \t]*", line)
        made.insert(number - 1, (blanks[0] if blanks else b"") + comment.format(words).encode() + b"\n")
    return b"".join(made)


def _first_changed(hunk: Hunk) -> int:
    """Return the line of the old text that a hunk changes first, or before which it puts something in."""
    last = int(hunk.source_start)
    for line in hunk:
        if not line.is_context:
            return int(line.source_line_no or last)
        last = int(line.source_line_no or last) + 1
    return last
