"""Writes files that can be derived, and nothing else: no fix ever guesses."""

from collections.abc import Mapping, Sequence
from uuid import uuid4

from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_check.subject import Subject, kept_tree, place
from harness.judging.languages.registry import language_of
from harness.judging.submission.manifest import ManifestError, format_manifest, parse_manifest
from harness.judging.verify.intake import FileChange, ingest
from harness.judging.verify.manifest_check import survey
from harness.judging.verify.suite_reader import with_inherited
from harness.sandbox.git_tree import GitTree
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.yaml_files import Inline, Quoted, yaml_text

CANARY = "testwright canary {}: this file must not be in training data"


async def fix(catalog: Catalog, task: Task) -> list[str]:
    """Repair a task's files where there is but one way to, and return those that were written.

    Raises:
        UserError: A file can't be read.
    """
    async with kept_tree(task) as tree:
        subject = Subject(catalog.holding(task), task, tree)
        written = [subject.at("task.yaml")] if _fix_canary(task) else []
        if await _fix_manifest(subject):
            written.append(subject.at("reference/manifest.yaml"))
        written += await _fix_honest_manifests(subject)
        if _fix_covers(task):
            written.append(subject.at("reference/covers.yaml"))
    return written


def _fix_canary(task: Task) -> bool:
    if task.file.canary:
        return False
    path = task.directory / "task.yaml"
    lines = [line for line in path.read_text().splitlines() if not line.startswith("canary:")]
    path.write_text("\n".join([*lines, f'canary: "{CANARY.format(uuid4())}"', ""]))
    return True


async def _fix_manifest(subject: Subject) -> bool:
    """Write the tests that the reference adds or changes into its manifest; return whether anything was written."""
    if subject.tree is None:
        return False
    path = subject.task.directory / "reference" / "manifest.yaml"
    intake = await ingest(subject.tree, subject.task.repo, subject.task.patch("reference/tests.patch"))
    tests = await written_tests(subject.task, subject.tree, intake.changes)
    if not tests or (path.is_file() and set(_listed(subject.task)) == set(tests)):
        return False
    path.write_text(format_manifest(tests))
    return True


async def _fix_honest_manifests(subject: Subject) -> list[str]:
    """Write the manifests of honest suites that have none. One that is there is its author's, whatever it lists."""
    written: list[str] = []
    for patch in sorted((corpus_of(subject.catalog) / subject.task.id).glob("*/patch.diff")):
        path = patch.with_name("manifest.yaml")
        if subject.tree is None or (path.is_file() and path.read_text().strip()):
            continue
        intake = await ingest(subject.tree, subject.task.repo, patch.read_bytes())
        if tests := await written_tests(subject.task, subject.tree, intake.changes):
            path.write_text(format_manifest(tests))
            written.append(place(subject.catalog, path))
    return written


async def written_tests(task: Task, tree: GitTree, changes: tuple[FileChange, ...]) -> tuple[TestId, ...]:
    """Return the tests that a manifest must list, in the order of the files and their lines.

    Raises:
        TooMuchToRead: A file is larger than anybody would write.
    """
    discovery = (await with_inherited(tree, changes, language_of(task.repo))).discovery
    texts = {change.path: change.new or b"" for change in changes}

    def line(test: TestId) -> tuple[str, int]:
        found = discovery.discover(texts[test.file], test.file).find(test.name)
        return (found.origin, found.first_line) if found else ("", 0)

    return tuple(test for each in survey(changes, discovery) for test in sorted(each.written, key=line))


def _fix_covers(task: Task) -> bool:
    """Take out tests that the manifest, where one is there, doesn't list. Comments are the author's to change."""
    path = task.directory / "reference" / "covers.yaml"
    # Read anew: the manifest may just have been written.
    listed = set(_listed(task))
    if not listed or not path.is_file() or "#" in path.read_text():
        return False
    kept = {test: criteria for test, criteria in task.covers.items() if test in listed}
    if kept == task.covers:
        return False
    path.write_text(covers_text(kept, task.overlaps))
    return True


def covers_text(covers: Mapping[TestId, Sequence[str]], overlaps: Mapping[str, str]) -> str:
    """Return the text of `reference/covers.yaml`; `Task.covers` and `Task.overlaps` read the same back."""
    by_file: dict[str, dict[str, Inline]] = {}
    for test, criteria in covers.items():
        by_file.setdefault(test.file, {})[Quoted(test.name)] = Inline(map(Quoted, criteria))
    quoted = {Quoted(criterion): Quoted(why) for criterion, why in overlaps.items()}
    head = yaml_text({"overlaps": quoted}) if overlaps else ""
    return head + yaml_text(by_file)


def _listed(task: Task) -> tuple[TestId, ...]:
    try:
        return parse_manifest(task.patch("reference/manifest.yaml"), language_of(task.repo).ids).tests
    except (ManifestError, UserError):
        return ()
