"""Patches that add files, of files as a person keeps them: references, and what is handed in without a repository."""

from collections.abc import Iterable
from pathlib import Path

from harness.specs.errors import UserError

_REGULAR, _EXECUTABLE = "100644", "100755"
_NO_END = b"\n\\ No newline at end of file\n"


def patch_of_files(directory: Path, files: Iterable[Path]) -> bytes:
    """Return the patch that adds files of a directory, each at its place there: texts, and pictures as they are."""
    return b"".join(_added(path.relative_to(directory).as_posix(), path.read_bytes(), _mode(path)) for path in files)


def new_text_patch(path: str, data: bytes, source: Path | None = None) -> bytes:
    """Return the patch that adds a text file.

    Args:
        path: Where the file is to be.
        data: All of it.
        source: Where the data are from, for the error.

    Raises:
        UserError: The file is binary.
    """
    if not _is_text(data):
        raise UserError(f"{source or path}: a binary file; expected text in UTF-8 without a NUL")
    return _added(path, data, _REGULAR)


def _added(path: str, data: bytes, mode: str) -> bytes:
    """Return a patch as git writes it for a text. Lines end at a line feed and nowhere else."""
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n"
    if not data:
        return head.encode()
    added = data.removesuffix(b"\n").split(b"\n")
    head += f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(added)} @@\n"
    end = b"\n" if data.endswith(b"\n") else _NO_END
    return head.encode() + b"\n".join(b"+" + line for line in added) + end


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _mode(path: Path) -> str:
    return _EXECUTABLE if path.stat().st_mode & 0o100 else _REGULAR
