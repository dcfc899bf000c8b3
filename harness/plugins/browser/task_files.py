"""The parts of the check of a task on a stage that read its files, and start nothing."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.authoring.task_check.honest_corpus import incomplete, too_few
from harness.authoring.task_check.reference_files import MANIFEST, manifest_problems
from harness.authoring.task_check.rubric_lint import rubric_problems as rubric_problems_of
from harness.authoring.task_check.subject import Subject, place
from harness.authoring.task_check.task_files import canary_problems, odd_files, other_descriptions, python_fault
from harness.judging.submission import policy
from harness.judging.verify.intake import FileChange
from harness.plugins.browser.application import data_directory, is_release
from harness.plugins.browser.arms_file import ArmsFile, Edit, Structure
from harness.plugins.browser.new_task import MUST_HAVES, laid_out
from harness.plugins.browser.same_pages import WALK
from harness.plugins.browser.stage import decoded, misfit, texts_of
from harness.plugins.browser.task import (
    ARMS,
    E2E,
    RUBRIC,
    STABLE,
    SUITES,
    StagedTask,
    staged_task,
    suites_of,
    walk_of,
)
from harness.runs.submissions import read_batch
from harness.specs.problem import Problem, Severity
from harness.specs.reasons import Verdict
from harness.specs.yaml_files import line_of_key

_NEEDED = ("prompt.md", ARMS, RUBRIC, MANIFEST)
_KNOWN = re.compile(
    r"task\.yaml|pages\.py|reference/tests/.+(?<!\.pyc)|suites/.+/(patch\.diff|expect\.yaml|manifest\.(ya?ml|txt))"
)
_OTHERS = range(11)
"""Counts of criteria that aren't must-haves: none is needed."""
_OF_EACH = {E2E: 1}
_OF_EACH_STYLE = 2
"""Counts of suites that are good enough, and of those that aren't."""


async def file_problems(subject: Subject) -> list[Problem]:
    """Return files that are missing or belong to no task, the canary, and a walk through pages that can't run."""
    needed = (*_NEEDED, STABLE) if subject.task.track == E2E else _NEEDED
    folders = (subject.task.directory.parent, *(path.resolve() for path in data_directory().glob("*")))
    odd = odd_files(subject, needed, _KNOWN)
    canary = canary_problems(subject, other_descriptions(subject, folders))
    return [*odd, *canary, *_walk(subject), *_unfinished(subject)]


def _unfinished(subject: Subject) -> Iterator[Problem]:
    """Yield what `testwright task browser` laid out and nobody has filled in, but for the prompt.

    Lines are compared as they were laid out: an application may have the word TODO of its own.
    """
    task = subject.task
    texts = laid_out(task.id, task.repo.name, task.track)
    marks = {line.strip() for text in texts.values() for line in text.splitlines() if "TODO" in line}
    paths = [task.directory / name for name in ("task.yaml", RUBRIC, ARMS, STABLE)]
    paths += [walk_of(task), *sorted((task.directory / "reference").rglob("*.py"))]
    for path in (path for path in paths if path.is_file()):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if line.strip() in marks:
                words = "is still a skeleton: do what its TODO says, and take that out"
                yield Problem(where=f"{place(subject.catalog, path)}:{number}", message=words)
                break


def _walk(subject: Subject) -> Iterator[Problem]:
    path = walk_of(subject.task)
    if not path.is_file():
        return
    where = place(subject.catalog, path)
    if fault := python_fault(path.read_bytes()):
        yield Problem(where=f"{where}:{fault.line}", message=fault.words)
    elif WALK.name not in {getattr(node, "name", "") for node in ast.parse(path.read_bytes()).body}:
        words = f"has no function {WALK.name}(page, look), which goes through the pages (docs/browser.md)"
        yield Problem(where=where, message=words)


async def rubric_problems(subject: Subject) -> list[Problem]:
    """Return the problems of the rubric's counts and wording."""
    return await rubric_problems_of(subject, MUST_HAVES[subject.task.track], _OTHERS)


async def reference_problems(subject: Subject) -> list[Problem]:
    """Return what is wrong with the reference's tests as text, and with its manifest.

    Raises:
        UserError: There is no test, or no manifest.
    """
    task, folder = subject.task, subject.task.directory / "reference"
    task.patch("reference/tests.patch")
    paths = sorted(path for path in (folder / "tests").rglob("*") if path.is_file() and path.suffix != ".pyc")
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    found: list[Problem] = []
    for name, data in files.items():
        where = subject.at(f"reference/{name}")
        if not policy.is_test_path(task.repo, name):
            found.append(Problem(where=where, message="is at no place of tests, so that it isn't handed in"))
        if name.endswith(".py") and (fault := python_fault(data)):
            found.append(Problem(where=f"{where}:{fault.line}", message=fault.words))
    if found:
        return found
    return list(manifest_problems(subject, tuple(FileChange(name, None, data) for name, data in files.items())))


async def suites_problems(subject: Subject) -> list[Problem]:
    """Return what is wrong with honest, hasty and cheating suites as files.

    Raises:
        UserError: One can't be read.
    """
    folder = suites_of(subject.task)
    where = place(subject.catalog, folder)
    if not folder.is_dir():
        words = "no suites, honest or not, say that the arms refuse what they must, and nothing else"
        return [Problem(where=subject.at(SUITES), message=words, severity=Severity.WARNING)]
    cases = read_batch(subject.catalog, folder, subject.task.address)
    found = list(incomplete(subject, cases, folder))
    for words in too_few(subject, cases, _OF_EACH.get(subject.task.track, _OF_EACH_STYLE)):
        found.append(Problem(where=where, message=words))
    for case in cases:
        told = case.expected
        if told and told.verdict is Verdict.FAILED and not (told.codes or told.any_of or told.criteria):
            words = "doesn't say why the suite must fail: give 'reasons', 'any_of' or 'criteria'"
            found.append(Problem(where=f"{where}/{case.name}/expect.yaml", message=words))
    return found


Place = tuple[str | int, ...]
"""Keys and numbers of items that lead to an edit in `arms.yaml`."""


class _Arm(NamedTuple):
    """An arm by its name for readers, with its edits and where each stands."""

    name: str
    edits: Sequence[tuple[Edit, Place]]


async def arm_problems(subject: Subject) -> list[Problem]:
    """Return edits that don't fit the application's source, that break its Python, or that change what is to stay.

    Files of a release are in its image alone: where this machine never built that, an edit of one that doesn't fit
    ends the reference's judging.

    Raises:
        UserError: A file that is to be edited is no text.
    """
    task = staged_task(subject.task)
    found = [Problem(where=subject.at(STABLE), message=words) for words in _unstable(task)]
    texts, path = await _texts(subject, task), task.directory / ARMS
    is_whole = subject.tree is not None or not is_release(task.application)
    for arm in _arms(task.arms):
        for at, words in _faults(arm.edits, texts, is_whole):
            where = f"{subject.at(ARMS)}:{line_of_key(path, *at)}"
            found.append(Problem(where=where, message=f"{arm.name}: {words}"))
    return list(dict.fromkeys(found))


def _arms(arms: ArmsFile) -> Iterator[_Arm]:
    of_mutants = {arm.probe: _placed(arm.edits, "must_fail", number) for number, arm in enumerate(arms.must_fail)}
    for number, arm in enumerate(arms.same):
        yield _Arm(f"arm {arm.name}", _placed(arm.edits, "same", number))
    for probe, edits in of_mutants.items():
        yield _Arm(f"probe {probe}", edits)
    if structure := arms.structure:
        for label in structure.becomes:
            renamed = [(edit, ("structure", "edit")) for edit in structure.arm(label).edits]
            yield _Arm(f"label {label!r}", renamed)
            yield _Arm(f"probe {structure.probe}, label {label!r}", [*renamed, *of_mutants[structure.probe]])


def _placed(edits: Sequence[Edit], key: str, arm: int) -> list[tuple[Edit, Place]]:
    return [(edit, (key, arm, "edits", number)) for number, edit in enumerate(edits)]


async def _texts(subject: Subject, task: StagedTask) -> dict[str, str]:
    """Return the texts of those files that arms change and that are known here."""
    names = {edit.file for arm in _arms(task.arms) for edit, _ in arm.edits}
    if subject.tree:
        return await texts_of(subject.tree, sorted(names))
    own = task.application / "app"
    return {name: decoded(name, (own / name).read_bytes()) for name in sorted(names) if (own / name).is_file()}


def _faults(
    edits: Sequence[tuple[Edit, Place]], texts: Mapping[str, str], is_whole: bool
) -> Iterator[tuple[Place, str]]:
    """Yield what is wrong with an arm's edits; `is_whole` is whether `texts` has each file of the application."""
    made: dict[str, str] = {}
    last: dict[str, Place] = {}
    for edit, at in edits:
        text = made.get(edit.file, texts.get(edit.file))
        if text is None and not is_whole:
            continue
        if words := misfit(edit, text):
            yield at, words
        elif text is not None:
            made[edit.file], last[edit.file] = text.replace(edit.old, edit.new), at
    for file, text in made.items():
        fault = python_fault(text.encode()) if file.endswith(".py") else None
        if fault and not python_fault(texts[file].encode()):
            yield last[file], f"{file}:{fault.line} {fault.words}"


def _unstable(task: StagedTask) -> Iterator[str]:
    """Yield what tests may rely on and the prompt doesn't name, or an arm of the same behaviour changes."""
    prompt = " ".join(task.prompt.split())
    for word in task.stable.words if task.stable else ():
        if word not in prompt:
            yield f"{word!r} isn't named in prompt.md"
        for name, edits in _of_same_behaviour(task.arms.structure, task.arms):
            if any(edit.old.count(word) != edit.new.count(word) for edit in edits):
                yield f"{name} changes {word!r}"


def _of_same_behaviour(structure: Structure | None, arms: ArmsFile) -> Iterator[tuple[str, Sequence[Edit]]]:
    for arm in arms.same:
        yield f"the arm {arm.name}", arm.edits
    if structure:
        yield "the structure's label", (structure.edit,)
