"""The parts of the check of a brief that read its files, and start nothing."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.authoring.task_check.rubric_lint import statement_problems
from harness.authoring.task_check.subject import Subject, as_problem
from harness.authoring.task_check.task_files import canary_problems, odd_files, other_descriptions, python_fault
from harness.judging.languages.python.discovery import discover
from harness.judging.submission.manifest import ManifestError, parse_manifest
from harness.plugins.build.kit import briefs_directory
from harness.plugins.build.own_tests import IDS
from harness.plugins.build.steps import CHAINS
from harness.plugins.build.task import (
    BOOT_FILE,
    BRIEF,
    BROKEN,
    COVERS,
    HIDDEN,
    HOME_FILE,
    MANIFEST,
    NULL,
    OWN_TESTS,
    REFERENCES,
    BuildTask,
    build_task,
)
from harness.sandbox.git import PatchError
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.problem import Problem
from harness.specs.yaml_files import read_text

_KNOWN = re.compile(
    r"task\.yaml|rubric\.yaml|tree/.+|hidden/([^/]+\.py|covers\.yaml)|references/[^/]+/.+(?<!\.pyc)|null/.+(?<!\.pyc)"
    r"|broken/[^/]+\.patch"
)
_RUN, _TEST = "run", "test"
_OF_A_REFERENCE = (_RUN, _TEST, "README.md", MANIFEST)
_OF_NULL = (_RUN, MANIFEST)
_STEPS = tuple(step.file for chain in CHAINS for step in chain)
"""Files of hidden tests that each brief has."""


async def file_problems(subject: Subject) -> list[Problem]:
    """Return what is missing, files that belong to no brief, and what is wrong with canary, manifests, hidden tests.

    Raises:
        UserError: The brief isn't UTF-8.
    """
    task = build_task(subject.task)
    others = other_descriptions(subject, (task.directory.parent, briefs_directory().resolve()))
    return [
        *_brief(subject),
        *odd_files(subject, (), _KNOWN),
        *canary_problems(subject, others),
        *_hidden(subject, task),
        *_references(subject, task),
        *_null(subject),
        *_broken(subject, task),
    ]


def _brief(subject: Subject) -> Iterator[Problem]:
    path = subject.task.directory / BRIEF
    if not path.is_file() or not read_text(path).strip():
        words = "is missing or empty; say in it what is to be made, since agents get it as their request"
        yield Problem(where=subject.at(BRIEF), message=words)


def _hidden(subject: Subject, task: BuildTask) -> Iterator[Problem]:
    """Yield hidden tests that are missing or no Python, that nothing runs, or that `covers.yaml` doesn't have."""
    covers = f"{HIDDEN}/{COVERS}"
    for name in sorted(task.tests.keys() - {*_STEPS, BOOT_FILE, *([HOME_FILE] if task.home else [])}):
        words = f"{name} is run by no judging; move its tests to one of {', '.join(map(_name, _STEPS))}"
        yield Problem(where=subject.at(covers, f"{_name(name)}:"), message=words)
    for name in _STEPS:
        if not (task.directory / name).is_file():
            yield Problem(where=subject.at(name), message="is missing; write the hidden tests that each judging runs")
    for path in filter(Path.is_file, sorted(task.path(HIDDEN).glob("*.py"))):
        name, text = f"{HIDDEN}/{path.name}", path.read_bytes()
        if path.name in task.names_beside:
            words = "has the name of a file that each judging puts in its place; take another"
            yield Problem(where=subject.at(name), message=words)
        elif fault := python_fault(text):
            yield Problem(where=f"{subject.at(name)}:{fault.line}", message=fault.words)
        elif path.name.startswith("test_"):
            yield from _uncovered(subject, task, name, text)


def _uncovered(subject: Subject, task: BuildTask, name: str, text: bytes) -> Iterator[Problem]:
    covers = f"{HIDDEN}/{COVERS}"
    there, told = {test.name for test in discover(text, name).tests}, {test.name for test in task.tests_of(name)}
    for test in sorted(told - there):
        yield Problem(where=subject.at(covers, f"{test}:"), message=f"{name}: {test} isn't there")
    for test in sorted(there - told):
        yield Problem(where=subject.at(covers), message=f"{name}: {test} has no criterion")


def _name(file: str) -> str:
    return file.rpartition("/")[2]


def _references(subject: Subject, task: BuildTask) -> Iterator[Problem]:
    try:
        names = task.references
    except UserError as error:
        yield as_problem(subject.catalog, error, subject.at(REFERENCES))
        return
    for name in names:
        folder = f"{REFERENCES}/{name}"
        yield from _application(subject, folder, _OF_A_REFERENCE)
        yield from _listed(subject, folder)


def _null(subject: Subject) -> Iterator[Problem]:
    if not (subject.task.directory / NULL).is_dir():
        words = "no application there; add one that is healthy and does nothing else, which must fail"
        yield Problem(where=subject.at(NULL), message=words)
        return
    yield from _application(subject, NULL, _OF_NULL)


def _application(subject: Subject, folder: str, needed: tuple[str, ...]) -> Iterator[Problem]:
    """Yield the files that an application lacks, and programs of it that can't be started."""
    for name in needed:
        path, where = subject.task.directory / folder / name, subject.at(f"{folder}/{name}")
        if not path.is_file():
            yield Problem(where=where, message="is missing; each application that is handed in has it")
        elif name in (_RUN, _TEST) and not path.stat().st_mode & 0o100:
            yield Problem(where=where, message="isn't executable, so that it can't be started; chmod +x")


def _listed(subject: Subject, folder: str) -> Iterator[Problem]:
    """Yield what keeps a reference's manifest from naming the files of its own tests."""
    directory = subject.task.directory / folder
    if not (directory / MANIFEST).is_file():
        return
    where = subject.at(f"{folder}/{MANIFEST}")
    try:
        files = parse_manifest((directory / MANIFEST).read_bytes(), IDS).files
    except ManifestError as error:
        yield Problem(where=where, message=f"{error.code}: {error}")
        return
    for name in files:
        if not (directory / name).is_file():
            yield Problem(where=where, message=f"names {name}, and there is no such file")


def _broken(subject: Subject, task: BuildTask) -> Iterator[Problem]:
    if not broken_patches(task):
        words = "no patch there; add changes of the first reference, such as 1.1.patch, which loses criterion 1.1"
        yield Problem(where=subject.at(BROKEN), message=words)


async def rubric_problems(subject: Subject) -> list[Problem]:
    """Return what is wrong with the words of criteria. A brief's behaviour has two halves where one is a refusal."""
    return statement_problems(subject, subject.task.rubric.criteria)


async def broken_problems(subject: Subject) -> list[Problem]:
    """Return patches that don't apply to the first reference, do the same as another, or name no criterion."""
    task, problems = build_task(subject.task), []
    known = {item.id for item in task.rubric.criteria} - {*OWN_TESTS}
    if not task.has_references:  # said of the files
        return []
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        tree = await first_reference(task, Path(scratch))
        made = {await tree.tree_id(): ""}
        for path in broken_patches(task):
            where = subject.at(f"{BROKEN}/{path.name}")
            if not set(lost_by(path)) <= known:
                problems.append(
                    Problem(where=where, message="its name has something that is no criterion of a hidden test")
                )
            try:
                other = made.setdefault(await tree.apply(path.read_bytes()), path.name)
            except PatchError as error:
                problems.append(Problem(where=where, message=f"it doesn't apply to {task.references[0]}: {error}"))
                continue
            if not other:
                problems.append(Problem(where=where, message="changes nothing"))
            elif other != path.name:
                problems.append(Problem(where=where, message=f"makes the same application as {other}; leave one out"))
    return problems


def broken_patches(task: BuildTask) -> list[Path]:
    """Return the patches that break the first reference, in the order of their names."""
    return sorted(path for path in task.path(BROKEN).glob("*.patch") if path.is_file())


def lost_by(path: Path) -> tuple[str, ...]:
    """Return the criteria that an application loses by a patch, which its name has: `1.2`, `1.2_4.2`."""
    return tuple(path.name.removesuffix(".patch").split("_"))


async def first_reference(task: BuildTask, scratch: Path) -> GitTree:
    """Return the tree of the first reference, in a directory that is there for it.

    Raises:
        UserError: There is no reference.
    """
    return await GitTree.create(scratch / "tree.git", task.path(REFERENCES) / task.references[0])
