"""Stage 1: the manifest against the patch, both ways, with no model."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.specs.ids import TestId
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.submission.discovery import TestFile, discover, is_test_file
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


def check_manifest(data: bytes, changes: tuple[FileChange, ...]) -> ManifestCheck:
    """Compare a manifest with what a patch does to test functions."""
    if not data.strip():
        return ManifestCheck(reasons=(_reason(ReasonCode.MANIFEST_MISSING, "", "there is no manifest"),))
    try:
        manifest = parse_manifest(data)
    except ManifestError as error:
        return ManifestCheck(reasons=(_reason(error.code, "", str(error)),))
    surveys = [_survey(change) for change in changes if _holds_tests(change, manifest)]
    added = {test for survey in surveys for test in survey.added}
    changed = {test for survey in surveys for test in survey.changed}
    listed = set(manifest.tests)
    reasons = [
        *_listed_wrongly(manifest, changes, added | changed),
        *(_unlisted(test) for test in sorted((added | changed) - listed)),
        *(_broken(test) for survey in surveys for test in survey.deleted),
    ]
    return ManifestCheck(
        tests=manifest.tests,
        changed=frozenset(changed & listed),
        existing=tuple(test for survey in surveys for test in survey.kept),
        reasons=tuple(reasons),
    )


@dataclass(frozen=True)
class _Survey:
    """The test functions of one changed file, by what the patch does to them."""

    added: tuple[TestId, ...]
    changed: tuple[TestId, ...]
    kept: tuple[TestId, ...]
    deleted: tuple[TestId, ...]


def _holds_tests(change: FileChange, manifest: Manifest) -> bool:
    return is_test_file(change.path) or change.path in manifest.files


def _survey(change: FileChange) -> _Survey:
    old = {test.name: test.text for test in discover(change.old or b"").tests}
    new = {test.name: test.text for test in discover(change.new or b"").tests}

    def ids(names: list[str]) -> tuple[TestId, ...]:
        return tuple(TestId(change.path, name) for name in names)

    return _Survey(
        added=ids([name for name in new if name not in old]),
        changed=ids([name for name in new if name in old and old[name] != new[name]]),
        kept=ids([name for name in new if name in old and old[name] == new[name]]),
        deleted=ids([name for name in old if name not in new]),
    )


def _listed_wrongly(manifest: Manifest, changes: tuple[FileChange, ...], written: set[TestId]) -> Iterator[Reason]:
    contents = {path: discover(change.new or b"") for path, change in by_path(changes).items()}
    for test in manifest.tests:
        found = contents.get(test.file)
        if found is None:
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
