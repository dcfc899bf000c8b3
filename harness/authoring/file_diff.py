"""A change of one file as a patch."""

import difflib


def file_diff(path: str, old: bytes, new: bytes) -> str:
    """One file's change in git's form, without the ids of blobs. Lines end with a line feed and nothing else."""
    sides = [text.decode("utf-8", "surrogateescape").split("\n") for text in (old, new)]
    lines = [[f"{line}\n" for line in side[:-1]] + [side[-1]] * bool(side[-1]) for side in sides]
    found = difflib.unified_diff(lines[0], lines[1], f"a/{path}", f"b/{path}")
    whole = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found)
    return f"diff --git a/{path} b/{path}\n" + "".join(whole)
