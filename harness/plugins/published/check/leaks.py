"""Finds state that leaks from one test file of the reference to another, or from one run to the next."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import resources
from typing import NamedTuple

from harness.authoring.task_check.context import Part
from harness.authoring.task_check.subject import Subject
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import ManifestError, listed_tests
from harness.plugins.published.arms import AgentsTree, log_job, run_log
from harness.plugins.published.check.oracle import log_of
from harness.plugins.published.layout import REFERENCE, RUN_SCRIPT
from harness.plugins.published.parsed_log import ParsedTest
from harness.plugins.published.task import TOOLS, PublishedTask, published_task
from harness.plugins.published.verification import BEFORE, agents_tree, test_files
from harness.sandbox.git_tree import GitTree
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import LimitReached, PlacedFile
from harness.specs.errors import UserError
from harness.specs.problem import Problem, Severity

Statuses = Mapping[str, frozenset[str]]
"""A log: name -> what it says of it."""
_SCRIPT = (resources.files("harness.plugins.published.check") / "in_container" / "twice.sh").read_bytes()
_NAMED = 5


class _Setting(NamedTuple):
    """The tree with the reference in it, and the test files that the run script is given."""

    task: PublishedTask
    tree: AgentsTree
    files: list[str]


async def alone_problems(subject: Subject) -> list[Problem]:
    """Run each test file of the reference by itself; return where that differs from all of them together.

    Raises:
        UserError: The reference can't be read.
        SandboxLost: A container was lost.
    """
    return await _seen_twice(subject, _alone)


async def twice_problems(subject: Subject) -> list[Problem]:
    """Run the run script two times in one container; return where the results differ.

    Raises:
        UserError: The reference can't be read.
        SandboxLost: The container was lost.
    """
    return await _seen_twice(subject, _twice)


async def _seen_twice(subject: Subject, look: Part) -> list[Problem]:
    """Return what isn't there at a second look is a test that passes at times: oracle has two baselines for that."""
    found = await look(subject)
    again = await look(subject) if found else []
    return [problem for problem in found if problem in again]


async def _alone(subject: Subject) -> list[Problem]:
    task, tree, files = await _setting(subject)
    if len(files) < 2:
        return []
    together = statuses(await run_log(subject.containers, task, tree, {}, files, BEFORE))
    alone = {}
    for number, file in enumerate(files, start=1):
        alone[file] = statuses(await run_log(subject.containers, task, tree, {}, [file], BEFORE.alone(number)))
    return [*leaks(subject.at(REFERENCE), together, alone)]


async def _twice(subject: Subject) -> list[Problem]:
    task, tree, files = await _setting(subject)
    context, once = subject.containers, log_job(task, subject.containers.image.workdir, tree, {}, files)
    job = replace(
        once,
        argv=(f"{TOOLS}/twice", *once.argv),
        files=(*once.files, PlacedFile(f"{TOOLS}/twice", _SCRIPT, 0o755)),
        seconds=2 * once.seconds,
    )
    where = subject.at(RUN_SCRIPT)
    try:
        async with context.slots:
            result = await context.run_job(job, repo_options(task.repo))
    except LimitReached as error:
        return [Problem(where=where, message=f"two runs in a row end at a limit: {error}")]
    first, second = (statuses(log_of(result, f"{number}/1.json")) for number in (1, 2))
    return [*differences(where, first, second)]


async def _setting(subject: Subject) -> _Setting:
    task, tree = published_task(subject.task), GitTree(subject.containers.image.tree)
    theirs = await agents_tree(tree, await tree.apply(task.patch("reference/tests.patch")))
    listed = _listed_files(task)
    files = [path for path in test_files(theirs) if _holds_tests(task, path, theirs.files[path]) or path in listed]
    if not files:
        raise UserError(f"{task.directory / REFERENCE}: it has no file that holds tests")
    return _Setting(task, theirs, files)


def _holds_tests(task: PublishedTask, path: str, text: bytes) -> bool:
    """Return whether a file's text has tests. Data files among the test files have no result of their own."""
    discovery = language_of(task.repo).discovery
    return discovery.is_test_file(path) and bool(discovery.discover(text, path).tests)


def _listed_files(task: PublishedTask) -> tuple[str, ...]:
    try:
        return listed_tests(task.patch("reference/manifest.yaml"), language_of(task.repo).ids).files
    except ManifestError:
        return ()


def statuses(tests: Iterable[ParsedTest]) -> Statuses:
    """Return the status of each test by its name."""
    found: dict[str, set[str]] = defaultdict(set)
    for test in tests:
        found[test.name].add(test.status)
    return {name: frozenset(words) for name, words in found.items()}


def leaks(where: str, together: Statuses, alone: Mapping[str, Statuses]) -> Iterator[Problem]:
    """Yield a problem for each name with another result when all files run together.

    A name of several files may say what one says.
    """
    if not together:
        yield Problem(where=where, message="no result when all its files run together")
        return
    silent = [file for file, log in alone.items() if not log]
    for file in silent:
        yield Problem(where=where, message=f"{file} leaves no result when it runs alone")
    for name, said in together.items():
        by = {file: log[name] for file, log in alone.items() if name in log}
        if by and not said <= frozenset().union(*by.values()):
            yield Problem(where=where, message=_leak(name, said, by))
        elif not by and not silent:
            words = f"{name} is in the log of all files together, in that of no file alone: names leak between files"
            yield Problem(where=where, message=words, severity=Severity.WARNING)
    for name, file in [(name, file) for file, log in alone.items() for name in log if name not in together]:
        words = f"{name} is in the log of {file} alone, and not when all files run together"
        yield Problem(where=where, message=words, severity=Severity.WARNING)


def _leak(name: str, said: frozenset[str], by: Mapping[str, frozenset[str]]) -> str:
    verb = "passes only by" if "PASSED" in said else "is changed by"
    alone = "; ".join(f"{_words(words)} when {file} runs alone" for file, words in by.items())
    return f"{verb} what another file leaves behind: {name} is {_words(said)} when all run together, {alone}"


def differences(where: str, first: Statuses, second: Statuses) -> Iterator[Problem]:
    """Yield what the second of two runs in one container says otherwise."""
    if not (first and second):
        words = "its second run leaves no result" if first else "its first run leaves no result"
        yield Problem(where=where, message=f"doesn't work twice in a row: {words}")
        return
    changed = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    if changed:
        shown = [f"{name} is {_words(first.get(name))}, then {_words(second.get(name))}" for name in changed[:_NAMED]]
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        yield Problem(where=where, message=f"two runs in a row differ: {'; '.join(shown)}{more}")


def _words(said: frozenset[str] | None) -> str:
    return " and ".join(sorted(said)) if said else "absent"
