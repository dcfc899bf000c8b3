"""Names under which pytest imports test files: two files of one name end a run of both before any test. Pure."""

from collections.abc import Collection
from pathlib import PurePosixPath


def module_name(path: str, files: Collection[str]) -> str:
    """Return the name under which pytest imports a file: from the first folder above it that isn't a package.

    Source: pytest, "Test module names" (`prepend`, its usual import mode).
    """
    file = PurePosixPath(path)
    parts = [file.stem]
    for folder in file.parents:
        if f"{folder}/__init__.py" not in files or not folder.name.isidentifier():
            break
        parts.append(folder.name)
    return ".".join(reversed(parts))


def clash(new: Collection[str], files: Collection[str]) -> bool:
    """Return whether a new test file has the name of another one.

    Args:
        new: Paths of test files that a patch adds.
        files: The paths of all files, those of the patch with them.
    """
    stems = {PurePosixPath(path).name for path in new}
    names: dict[str, str] = {}
    for path in sorted(path for path in files if PurePosixPath(path).name in stems):
        other = names.setdefault(module_name(path, files), path)
        if other != path and not {path, other}.isdisjoint(new):
            return True
    return False
