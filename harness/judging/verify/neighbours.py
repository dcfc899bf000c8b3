"""Tests of files that a patch leaves as they are, and that it may reach all the same."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from harness.judging.languages.protocol import Discovery, Language
from harness.judging.verify.intake import FileChange
from harness.judging.verify.suite_reader import read_apart
from harness.sandbox.git_tree import GitTree
from harness.specs.test_results import TestId

_IMPORTED = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w., \t]+))", re.MULTILINE)
_FUZZ = re.compile(r"^func[ \t]+(Fuzz\w*)\(", re.MULTILINE)
_SEEDS = ("testdata", "fuzz")
"""The folders of Go in which the seeds of a fuzz test lie, in one of its name."""
_QUOTED = re.compile(r"[\"'`<]([\w./@*%$-]+)[\"'`>]")


async def affected_tests(tree: GitTree, changes: tuple[FileChange, ...], language: Language) -> tuple[TestId, ...]:
    """Return tests of untouched files that a change may reach all the same.

    Some files act on every test of their folder (a conftest.py), and so may any file that was there before and is no
    test file: a helper, a certificate, a data file. A new file may stand in the place of another one: it reaches the
    tests whose files ask for its name, and all of its folder where another file does.

    Raises:
        TooMuchToRead: A file is larger than anybody would write.
    """
    discovery = language.discovery
    touched = {change.path for change in changes}
    entries = {path: entry for path, entry in (await tree.entries()).items() if path not in touched}
    others = {path: entry for path, entry in entries.items() if discovery.is_test_file(path)}
    with_tests = {parent for file in others for parent in PurePosixPath(file).parents}
    folders = await read_apart(lambda: _reached_folders(changes, with_tests, discovery))
    if made := [change for change in changes if _is_made_beside(change, discovery)]:
        kinds = (*language.suffixes, *(suffix for each in made if (suffix := PurePosixPath(each.path).suffix)))
        texts = await tree.read_all({path: entry for path, entry in entries.items() if path.endswith(kinds)})
        asking = await read_apart(lambda: _asking(made, texts, with_tests))
    else:
        asking = {}
    folders |= {folder for path, named in asking.items() if path not in others for folder in named}
    reached = {
        path: entry
        for path, entry in others.items()
        if (folders | asking.get(path, set())) & set(PurePosixPath(path).parents)
    }
    contents = await tree.read_all(reached)
    return await read_apart(lambda: tuple(_all_tests(contents, discovery)))


def _all_tests(contents: Mapping[str, bytes], discovery: Discovery) -> Iterator[TestId]:
    for path, data in contents.items():
        yield from (TestId(path, test.name) for test in discovery.discover(data, path).tests)


def _reached_folders(
    changes: Iterable[FileChange], with_tests: Collection[PurePosixPath], discovery: Discovery
) -> set[PurePosixPath]:
    """Return the folders whose tests files reach: their own, else the nearest above that has tests."""
    reached: set[PurePosixPath] = set()
    for change in changes:
        if _acts_on_folder(change, discovery):
            reached.add(PurePosixPath(change.path).parent)
        elif _reaches_others(change, discovery):
            reached |= _nearest(change.path, with_tests)
    return reached


def _nearest(path: str, with_tests: Collection[PurePosixPath]) -> set[PurePosixPath]:
    """Return the nearest folder above a path that has tests, if one has; never the root."""
    return {*[folder for folder in PurePosixPath(path).parents if folder.name and folder in with_tests][:1]}


def _reaches_others(change: FileChange, discovery: Discovery) -> bool:
    if change.old is None:
        return False
    texts = (change.old, change.new or b"") if discovery.is_test_file(change.path) else ()
    return not any(discovery.discover(text, change.path).tests for text in texts)


def _acts_on_folder(change: FileChange, discovery: Discovery) -> bool:
    return any(discovery.reaches_folder(change.path, text) for text in (change.old, change.new) if text is not None)


def _is_made_beside(change: FileChange, discovery: Discovery) -> bool:
    """Return whether a file is new, and none whose tests a manifest lists."""
    return change.old is None and change.new is not None and not discovery.is_test_file(change.path)


def _asking(
    made: Iterable[FileChange], texts: Mapping[str, bytes], with_tests: Collection[PurePosixPath]
) -> dict[str, set[PurePosixPath]]:
    """Return the files that ask for names of new ones, each with the folders whose tests those may reach."""
    reached: dict[str, set[PurePosixPath]] = {}
    for change in made:
        for word in _names_of(PurePosixPath(change.path), with_tests):
            reached.setdefault(word, set()).update(_nearest(change.path, with_tests))
    asked = {path: _asked_by(PurePosixPath(path), text) & reached.keys() for path, text in texts.items()}
    return {
        path: set[PurePosixPath]().union(*map(reached.__getitem__, named)) for path, named in asked.items() if named
    }


def _names_of(path: PurePosixPath, with_tests: Collection[PurePosixPath]) -> Iterator[str]:
    """Yield what others may ask for where they mean a new file, in the form of `_asked_by`."""
    if path.suffix == ".py":
        yield f"import {path.parent.name if path.name == '__init__.py' else path.stem}"
        return
    if path.parts[-4:-2] == _SEEDS:
        yield f"fuzz {path.parent.name}"
    for whole in (path, path.with_suffix("")):
        yield f"path {whole}"
        yield f"file {whole.name}"
    if path.stem == "index":
        yield f"path {path.parent}"
    if path.parent.name and path.parent not in with_tests:
        yield f"folder {path.parent.name}"


def _asked_by(path: PurePosixPath, text: bytes) -> set[str]:
    """Return the names that a file asks for.

    They are parts of modules that it imports, and fuzz tests, whose seeds lie in folders of their names. Of texts in
    quotes they are the paths in a tree where they are relative, else their last parts, and all parts as folders.
    """
    decoded = text.decode("utf-8", "replace")
    dotted = " ".join(map(" ".join, _IMPORTED.findall(decoded))) if path.suffix == ".py" else ""
    asked = {f"import {word}" for word in re.findall(r"\w+", dotted)}
    asked |= {f"fuzz {name}" for name in _FUZZ.findall(decoded)} if path.suffix == ".go" else set()
    for quoted in _QUOTED.findall(decoded):
        parts = quoted.split("/")
        asked |= {f"folder {part}" for part in parts}
        if parts[0] in (".", ".."):
            named = posixpath.normpath(f"{path.parent}/{quoted}")
            asked |= {f"path {named}", f"path {posixpath.splitext(named)[0]}"}
        else:
            asked |= {f"file {parts[-1]}", f"file {posixpath.splitext(parts[-1])[0]}"}
    return asked
