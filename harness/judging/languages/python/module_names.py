"""Names of modules: under which pytest imports a test file, and from which a file has what it imports. Pure.

Two files of one name end a run of both before any test.
"""

from collections.abc import Collection
from pathlib import PurePosixPath

from harness.judging.languages.python.classes import Module


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


def home(source: bytes, name: str, changed: Collection[str]) -> str:
    """Return the module from which a file imports a test or its class.

    Args:
        source: The file's text.
        name: The test's dotted name.
        changed: Paths of the files that a patch changes.

    Returns:
        Empty where the file itself makes it, or one of the changed files may be that module.
    """
    module, first = Module(source), name.partition(".")[0]
    if first in module.classes or first in module.other_names:
        return ""
    modules = [meaning.rpartition(".")[0] for meaning in module.imports.get(first, ())] or module.stars
    theirs = {name for path in changed for name in _last_names(PurePosixPath(path))}
    lasts = {place.rpartition(".")[2] for place in modules}
    return (modules[0] or ".") if modules and theirs.isdisjoint(lasts) else ""


def _last_names(file: PurePosixPath) -> tuple[str, ...]:
    """Return the last names by which others import a file; a package is also what a single dot means in it."""
    return (file.parent.name, "") if file.stem == "__init__" else (file.stem,)
