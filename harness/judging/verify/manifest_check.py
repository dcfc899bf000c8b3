"""Stage 1: the manifest against the patch, both ways, with no model. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from harness.judging.languages.found import TestFile, TestFunction
from harness.judging.languages.protocol import Discovery, Language
from harness.judging.submission.manifest import Manifest, ManifestError, parse_manifest, read_lines
from harness.judging.testing.readers import Lines
from harness.judging.verify.intake import FileChange, by_path
from harness.judging.verify.listed_names import Ambiguous, Candidate, meant
from harness.specs.first_few import first_few
from harness.specs.reasons import Note, Reason, ReasonCode, Stage
from harness.specs.rubric import StaticAnswer
from harness.specs.test_results import TestId

_SHOWN = 10
"""The most names that a reason has of a kind."""


@dataclass(frozen=True)
class ManifestCheck:
    """A manifest's reading. `tests` are the listed tests, `changed` those of them that existed before.

    `existing` are tests of touched files that the patch leaves as they were, `unlisted` those that it adds and that
    needn't be listed. `static` is whether each static criterion holds, by its id, where there are no `reasons`;
    `conduct` is how the suite reaches its verdicts, as far as that is worth a note; `unchecked` are listed tests
    without any check in their text or in what they call, `checking` those whose checks may be about the repository,
    `empty` those whose bodies do nothing.
    `before` and `after` are where existing tests stand without the patch and with it. `whole` are the touched test
    files whose text may not show all their tests, `whole_before` those of them that were there before, `collected`
    those whose tests are the ones that the test runner collects.
    """

    tests: tuple[TestId, ...] = ()
    changed: frozenset[TestId] = frozenset()
    existing: tuple[TestId, ...] = ()
    unlisted: tuple[TestId, ...] = ()
    reasons: tuple[Reason, ...] = ()
    static: Mapping[str, StaticAnswer] = field(default_factory=dict)
    conduct: tuple[Note, ...] = ()
    unchecked: tuple[TestId, ...] = ()
    checking: tuple[TestId, ...] = ()
    empty: tuple[TestId, ...] = ()
    before: Mapping[TestId, Lines] = field(default_factory=dict)
    after: Mapping[TestId, Lines] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    whole_before: tuple[str, ...] = ()
    collected: tuple[str, ...] = ()


def check_manifest(data: bytes, changes: tuple[FileChange, ...], language: Language) -> ManifestCheck:
    """Compare a manifest with what a patch does to test functions."""
    if not data.strip():
        return ManifestCheck(reasons=(_reason(ReasonCode.MANIFEST_MISSING, "", "there is no manifest"),))
    discovery = language.discovery
    surveys = survey(changes, discovery)
    added = {test for each in surveys for test in each.added}
    changed = {test for each in surveys for test in each.changed}
    written = {test for each in surveys for test in each.written}
    others = {test for each in surveys for test in (*each.optional, *each.kept)}
    try:
        manifest, unclear = _read(data, language, changes, written, others)
    except ManifestError as error:
        return ManifestCheck(reasons=(_reason(error.code, "", str(error)),))
    listed = {*manifest.tests, *(test for name in unclear for test in name.tests)}
    hides = language.hides_tests
    found = {
        each: discovery.discover(each.new, each.path)
        for each in changes
        if each.new and discovery.is_test_file(each.path)
    }
    whole = [
        each for each, file in found.items() if file.hidden or file.uncollected or (hides and hides(each.new or b""))
    ]
    reasons = [
        *(_reason(ReasonCode.MANIFEST_AMBIGUOUS, name.listed.name, name.words) for name in unclear),
        *_listed_wrongly(manifest, changes, added | changed, discovery),
        *_unlisted(sorted(written - listed), changes, discovery),
        *(_broken(test) for each in surveys for test in each.deleted),
    ]
    return ManifestCheck(
        tests=manifest.tests,
        changed=frozenset(changed & listed),
        existing=tuple(test for each in surveys for test in each.kept),
        unlisted=tuple(test for each in surveys for test in each.optional if test not in listed),
        reasons=tuple(reasons),
        before={test: lines for each in surveys for test, lines in each.before.items()},
        after={test: lines for each in surveys for test, lines in each.after.items()},
        whole=tuple(change.path for change in whole),
        whole_before=tuple(change.path for change in whole if change.old),
        collected=tuple(change.path for change, file in found.items() if file.is_collected),
    )


def _read(
    data: bytes, language: Language, changes: tuple[FileChange, ...], written: set[TestId], others: set[TestId]
) -> tuple[Manifest, list[Ambiguous]]:
    """Return the listed tests, and the names of which it can't be told. `others` may be listed and needn't be.

    Raises ManifestError.
    """
    if not language.ids.one_a_line:
        return parse_manifest(data, language.ids), []
    candidates = [Candidate(test, test in written) for test in sorted(written | others)]
    found = list(meant(read_lines(data), candidates, by_path(changes), language.ids))
    tests = dict.fromkeys(item for item in found if isinstance(item, TestId))
    return Manifest(tuple(tests)), [item for item in found if isinstance(item, Ambiguous)]


@dataclass(frozen=True)
class Survey:
    """The test functions of one changed file, by what the patch does to them.

    `optional` are those of the added and changed ones that needn't be listed: their text is in a file that the patch
    doesn't touch. `deleted` are also those in whose place an inherited one stands now. `before` and `after` are where
    the kept ones stand.
    """

    added: tuple[TestId, ...]
    changed: tuple[TestId, ...]
    kept: tuple[TestId, ...]
    deleted: tuple[TestId, ...]
    optional: tuple[TestId, ...]
    before: Mapping[TestId, Lines]
    after: Mapping[TestId, Lines]

    @property
    def written(self) -> tuple[TestId, ...]:
        """Return what a manifest must list."""
        return tuple(test for test in (*self.added, *self.changed) if test not in self.optional)


def survey(changes: tuple[FileChange, ...], discovery: Discovery) -> list[Survey]:
    """Return the tests that a patch adds, changes and removes in each test file that it changes, in order.

    Raises:
        TooMuchToRead: A file is larger than anybody would write.
    """
    touched = {change.path for change in changes}
    return [_survey(change, discovery, touched) for change in changes if discovery.is_test_file(change.path)]


def _survey(change: FileChange, discovery: Discovery, touched: Collection[str]) -> Survey:
    old = {test.name: test for test in discovery.discover(change.old or b"", change.path).tests}
    new = {test.name: test for test in discovery.discover(change.new or b"", change.path).tests}

    def ids(names: Iterable[str]) -> tuple[TestId, ...]:
        return tuple(TestId(change.path, name) for name in names)

    theirs = {name for name in new if new[name].origin not in {"", *touched} or new[name].is_shared}
    same = {name for name in new if name in old and old[name].text == new[name].text}
    replaced = {name for name in theirs - same if name in old and old[name].origin in {"", *touched}}
    return Survey(
        added=ids(name for name in new if name not in old),
        changed=ids(name for name in new if name in old and name not in same | replaced),
        kept=ids(name for name in new if name in same),
        deleted=ids(name for name in old if name not in new or name in replaced),
        optional=ids(name for name in new if name in theirs - same - replaced),
        before={TestId(change.path, name): _lines(old[name], change.path) for name in same if old[name].text},
        after={TestId(change.path, name): _lines(new[name], change.path) for name in same if new[name].text},
    )


def _lines(test: TestFunction, path: str) -> Lines:
    return Lines(test.origin or path, test.first_line, test.last_line)


def _listed_wrongly(
    manifest: Manifest, changes: tuple[FileChange, ...], written: set[TestId], discovery: Discovery
) -> Iterator[Reason]:
    listed, changed = {test.file for test in manifest.tests}, by_path(changes)
    read = [path for path in changed if path in listed and discovery.is_test_file(path)]
    contents = {path: discovery.discover(changed[path].new or b"", path) for path in read}
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
    if test.name in found.uncollected:
        words = f"by its text this is a test, but the test runner doesn't collect it; {_collected(found)}"
        return _reason(ReasonCode.MANIFEST_NOT_A_TEST, str(test), words)
    if test.name in found.others:
        return _reason(ReasonCode.MANIFEST_NOT_A_TEST, str(test), "this is not a test function")
    return _reason(ReasonCode.MANIFEST_UNKNOWN_TEST, str(test), "the file has no test of this name")


def _unlisted(tests: Iterable[TestId], changes: tuple[FileChange, ...], discovery: Discovery) -> Iterator[Reason]:
    changed = by_path(changes)
    for file, some in groupby(tests, key=lambda test: test.file):
        found = discovery.discover(changed[file].new or b"", file)
        shown = "the patch adds or changes this test, but the manifest does not list it"
        made, told = "the test runner collects this test, and the manifest does not list it", f"; {_collected(found)}"
        for test in some:
            words = shown
            if test.name in found.hidden:
                words, told = f"{made}{told}", ""  # once is enough
            yield _reason(ReasonCode.MANIFEST_UNLISTED_TEST, str(test), words)


def _collected(found: TestFile) -> str:
    """Return what a file's text shows and what the runner collects, in words."""
    collected = [test.name for test in found.tests]
    shown = [*(name for name in collected if name not in found.hidden), *sorted(found.uncollected)]
    by_text, by_runner = (first_few(names, _SHOWN) or "none" for names in (shown, collected))
    return f"the text shows {by_text}; the runner collects {by_runner}"


def _broken(test: TestId) -> Reason:
    words = "this test was there before; the patch removes it"
    return _reason(ReasonCode.EXISTING_TEST_BROKEN, str(test), words)


def _reason(code: ReasonCode, subject: str, words: str) -> Reason:
    return Reason(code=code, stage=Stage.MANIFEST, subject=subject, words=words)
