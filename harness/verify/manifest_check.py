"""Stage 1: the manifest against the patch, both ways, with no model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.languages.found import TestFile
from harness.languages.protocol import Discovery, Language
from harness.sandbox.git_tree import GitTree
from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.submission.manifest import Manifest, ManifestError, parse_manifest
from harness.verify.intake import FileChange, by_path


@dataclass(frozen=True)
class ManifestCheck:
    """`tests` are the listed tests; `changed` those of them that existed before; `existing` the patch's neighbours.

    `existing` are tests of touched files that the patch leaves as they were.
    """

    tests: tuple[TestId, ...] = ()
    changed: frozenset[TestId] = frozenset()
    existing: tuple[TestId, ...] = ()
    reasons: tuple[Reason, ...] = ()


def check_manifest(data: bytes, changes: tuple[FileChange, ...], language: Language) -> ManifestCheck:
    """Compare a manifest with what a patch does to test functions."""
    if not data.strip():
        return ManifestCheck(reasons=(_reason(ReasonCode.MANIFEST_MISSING, "", "there is no manifest"),))
    discovery = language.discovery
    try:
        manifest = parse_manifest(data, language.ids)
    except ManifestError as error:
        return ManifestCheck(reasons=(_reason(error.code, "", str(error)),))
    surveys = [_survey(change, discovery) for change in changes if discovery.is_test_file(change.path)]
    added = {test for survey in surveys for test in survey.added}
    changed = {test for survey in surveys for test in survey.changed}
    listed = set(manifest.tests)
    reasons = [
        *_listed_wrongly(manifest, changes, added | changed, discovery),
        *(_unlisted(test) for test in sorted((added | changed) - listed)),
        *(_broken(test) for survey in surveys for test in survey.deleted),
    ]
    return ManifestCheck(
        tests=manifest.tests,
        changed=frozenset(changed & listed),
        existing=tuple(test for survey in surveys for test in survey.kept),
        reasons=tuple(reasons),
    )


async def affected_tests(tree: GitTree, changes: tuple[FileChange, ...], discovery: Discovery) -> tuple[TestId, ...]:
    """Tests of untouched files that a change may reach all the same.

    Some files act on every test of their folder (a conftest.py), and so may any file that was there before and
    isn't a test file: a helper, a certificate, a data file.
    """
    touched = {change.path for change in changes}
    others = {path: entry for path, entry in (await tree.entries()).items() if discovery.is_test_file(path)}
    folders = {_reach(change, others, discovery) for change in changes if _reaches_others(change, discovery)}
    entries = {
        path: entry
        for path, entry in others.items()
        if path not in touched and folders & set(PurePosixPath(path).parents)
    }
    contents = await tree.read_all(entries)
    return tuple(
        TestId(path, test.name) for path, data in contents.items() for test in discovery.discover(data, path).tests
    )


def _reach(change: FileChange, test_files: Iterable[str], discovery: Discovery) -> PurePosixPath | None:
    """The folder whose tests a file reaches: its own, or for a file of no such kind the nearest above with tests."""
    own = PurePosixPath(change.path).parent
    if _acts_on_folder(change, discovery):
        return own
    with_tests = {parent for file in test_files for parent in PurePosixPath(file).parents}
    return next((folder for folder in (own, *own.parents) if folder.name and folder in with_tests), None)


def _reaches_others(change: FileChange, discovery: Discovery) -> bool:
    there_before = change.old is not None and not discovery.is_test_file(change.path)
    return there_before or _acts_on_folder(change, discovery)


def _acts_on_folder(change: FileChange, discovery: Discovery) -> bool:
    return any(discovery.reaches_folder(change.path, text) for text in (change.old, change.new) if text is not None)


@dataclass(frozen=True)
class _Survey:
    """The test functions of one changed file, by what the patch does to them."""

    added: tuple[TestId, ...]
    changed: tuple[TestId, ...]
    kept: tuple[TestId, ...]
    deleted: tuple[TestId, ...]


def _survey(change: FileChange, discovery: Discovery) -> _Survey:
    old = {test.name: test.text for test in discovery.discover(change.old or b"", change.path).tests}
    new = {test.name: test.text for test in discovery.discover(change.new or b"", change.path).tests}

    def ids(names: list[str]) -> tuple[TestId, ...]:
        return tuple(TestId(change.path, name) for name in names)

    return _Survey(
        added=ids([name for name in new if name not in old]),
        changed=ids([name for name in new if name in old and old[name] != new[name]]),
        kept=ids([name for name in new if name in old and old[name] == new[name]]),
        deleted=ids([name for name in old if name not in new]),
    )


def _listed_wrongly(
    manifest: Manifest, changes: tuple[FileChange, ...], written: set[TestId], discovery: Discovery
) -> Iterator[Reason]:
    contents = {path: discovery.discover(change.new or b"", path) for path, change in by_path(changes).items()}
    for test in manifest.tests:
        found = contents.get(test.file)
        if not discovery.is_test_file(test.file):
            words = f"the repository's own test run would never collect this file; {discovery.FILE_RULE}"
            yield _reason(ReasonCode.MANIFEST_NOT_A_TEST, str(test), words)
        elif found is None:
            yield _reason(ReasonCode.MANIFEST_UNKNOWN_TEST, str(test), "the patch does not touch this file")
        elif test.name in found.twice:
            yield _reason(ReasonCode.MANIFEST_DUPLICATE, str(test), "the file defines this test more than once")
        elif test not in written:
            yield _not_written(test, found)


def _not_written(test: TestId, found: TestFile) -> Reason:
    if found.find(test.name):
        words = "the test was there before; the patch neither adds nor changes it"
        return _reason(ReasonCode.MANIFEST_UNKNOWN_TEST, str(test), words)
    if test.name in found.others:
        return _reason(ReasonCode.MANIFEST_NOT_A_TEST, str(test), "this is not a test function")
    return _reason(ReasonCode.MANIFEST_UNKNOWN_TEST, str(test), "the file has no test of this name")


def _unlisted(test: TestId) -> Reason:
    words = "the patch adds or changes this test, but the manifest does not list it"
    return _reason(ReasonCode.MANIFEST_UNLISTED_TEST, str(test), words)


def _broken(test: TestId) -> Reason:
    words = "this test was there before; the patch removes it"
    return _reason(ReasonCode.EXISTING_TEST_BROKEN, str(test), words)


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MANIFEST, subject=subject, words=words)
