"""Checks a published task's description and patches, and whether the patches apply to the image's tree.

The files that a patch of a published task touches, as far as the patch itself tells.

Compares the reference's manifest in `solve.sh` with the files of the reference.

The names in a log or file that are nearest to a missing name.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from harness.authoring.task_check.subject import Subject
from harness.judging.languages.protocol import Discovery
from harness.judging.languages.registry import LANGUAGES, language_of
from harness.judging.submission import policy
from harness.judging.submission.manifest import (
    FENCE,
    ListedName,
    ManifestError,
    listed_tests,
    read_lines,
)
from harness.judging.verify.intake import FileChange
from harness.judging.verify.listed_names import Ambiguous, Candidate, meant
from harness.judging.verify.manifest_check import survey
from harness.plugins.published.campaigns import COMMENTS, campaign_tests
from harness.plugins.published.campaigns import SUFFIX as CAMPAIGN
from harness.plugins.published.layout import REFERENCE, REMOVAL, SOLUTION
from harness.plugins.published.rule import is_test_path
from harness.plugins.published.seen_tests import SeenTests
from harness.plugins.published.task import published_task
from harness.sandbox.git import GitError
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.problem import Problem, Severity
from harness.specs.task import Task
from harness.specs.test_results import TestId

WEAKNESS, UNREAD = "weakness of the task", "testwright can't read it"
"""Words that say whose fault it is that the static stage of our rules refuses a reference."""
_NAMED = 3
_CUTOFF, _AS_GOOD = 0.6, 0.1
"""Likeness, which is 1 for the same: the least of a name, and how far it may lie below the best."""
_LAST = re.compile(r".*(?:::| > | \| |\.)", re.DOTALL)
_CASE = re.compile(r"\[.*|/.*| - .*| \(.*", re.DOTALL)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return in words the names most like it by their last part, at most three; else how many there are."""
    known = list(dict.fromkeys(names))
    mine = _last(name)
    likeness = {other: difflib.SequenceMatcher(None, mine, _last(other)).ratio() for other in known}
    least = max(_CUTOFF, max(likeness.values(), default=0) - _AS_GOOD)
    close = sorted((other for other in known if likeness[other] >= least), key=lambda other: -likeness[other])
    if not close:
        return f"nothing is like it among the {len(known)} names that are there"
    more = f" and {len(close) - _NAMED} more" if len(close) > _NAMED else ""
    return f"nearest: {', '.join(close[:_NAMED])}{more}"


def last_part(name: str) -> str:
    """Return the last part of a name in a manifest or log, without the case that a log adds behind it."""
    head = name.partition("::")[0] if "::" in name else ""
    rest = name[len(head) :]
    return _LAST.sub("", _CASE.sub("", rest)) or rest


def _last(name: str) -> str:
    """Return the part of a name that is compared: without what all names have in common."""
    return last_part(name).lower().removeprefix("test").lstrip("_")


@dataclass(frozen=True)
class Patched:
    """A file of a patch. `text` is all of a new file, else the lines that the patch shows, context included.

    `hunks` are its parts before and after the patch, each below the line that git names as the one it stands under.
    """

    path: str
    is_new: bool
    is_gone: bool
    text: bytes
    hunks: tuple[FileChange, ...] = ()

    def shows(self, test: str) -> bool:
        """Tell whether the last part of a test's name stands in the text, whole."""
        name = re.escape(last_part(test).encode())
        return re.search(rb"(?<!\w)" + name + rb"(?!\w)", self.text) is not None


def patched_files(task: Task, part: str) -> dict[str, Patched]:
    """Return the files of a patch, by path.

    Raises:
        UserError: It is no unified diff.
    """
    text = task.patch(part).decode("utf-8", "surrogateescape")
    try:
        return {file.path: _patched(file) for file in PatchSet(text)}
    except UnidiffParseError as error:
        raise UserError(f"{task.path(part)}: not a unified diff: {error}") from None


def _patched(file: PatchedFile) -> Patched:
    lines = [line.value for hunk in file for line in hunk if not line.is_removed]
    headings = [] if file.is_added_file else [f"{hunk.section_header}\n" for hunk in file]
    text = "".join([*headings, *lines]).encode("utf-8", "surrogateescape")
    hunks = tuple(_change(file, hunk) for hunk in file)
    return Patched(file.path, file.is_added_file, file.is_removed_file, text, hunks)


def _change(file: PatchedFile, hunk: Hunk) -> FileChange:
    is_whole = file.is_added_file or file.is_removed_file
    above = "" if is_whole else f"{_imports(file.path, hunk)}{hunk.section_header}\n"
    old = above + "".join(line.value for line in hunk if line.is_removed or line.is_context)
    new = above + "".join(line.value for line in hunk if line.is_added or line.is_context)
    before, after = (text.encode("utf-8", "surrogateescape") for text in (old, new))
    return FileChange(file.path, None if file.is_added_file else before, None if file.is_removed_file else after)


def _imports(path: str, hunk: Hunk) -> str:
    """Return the lines without which a function of Go is no test, where a hunk doesn't show them."""
    shown = not path.endswith("_test.go") or any('"testing"' in line.value for line in hunk)
    return "" if shown else 'package shown\nimport "testing"\n'


_PATCHES = {REFERENCE: "reference/tests.patch", REMOVAL: "removal.patch"}


async def description_problems(subject: Subject) -> list[Problem]:
    """Return what was read and doesn't count for anything; each remark begins with the file that it is about."""
    found = []
    for remark in published_task(subject.task).remarks:
        file, _, words = remark.partition(": ")
        found.append(_warning(subject.at(file), words))
    return found


async def reference_problems(subject: Subject) -> list[Problem]:
    """Return files of the reference that aren't judged, or that hold no tests.

    Raises:
        UserError: It can't be read.
    """
    task, where = subject.task, subject.at(REFERENCE)
    discovery, listed = language_of(task.repo).discovery, _listed_files(subject)
    found, data = [], []
    for path in patched_files(task, _PATCHES[REFERENCE]):
        if not policy.is_test_path(task.repo, path):
            found.append(_warning(where, f"touches {path}, which is no test: our rules leave it out"))
        elif discovery.is_test_file(path) or path in listed:
            continue  # what no grammar shows, the run script reports
        elif _holds_foreign_tests(path):
            words = f"{path}: not listed, and tests are told by grammar only where {discovery.FILE_RULE}"
            found.append(_warning(where, f"{words}; if its run reports tests, our rules want them listed"))
        else:
            data.append(path)
    if data:
        words = f"files without tests below the test paths, which the published rules run as well: {', '.join(data)}"
        found.append(_warning(where, words))
    return found


async def removal_problems(subject: Subject) -> list[Problem]:
    """Return the problems of the removal.

    Raises:
        UserError: It can't be read.
    """
    return [*_removal(subject)]


async def tree_problems(subject: Subject) -> list[Problem]:
    """Apply each patch to the tree that the agent sees, and take it back; the removal also with the reference."""
    tree, found, applied = GitTree(subject.containers.image.tree), [], 0
    for name, part in _PATCHES.items():
        try:
            changes, is_back = await tree.changes_and_back(subject.task.patch(part))
        except GitError as error:
            words = f"doesn't apply to the agent's tree and back: {error}"
            found.append(Problem(where=subject.at(name), message=words))
            continue
        applied += 1
        if not changes or not is_back:
            words = "changes nothing, or something else than itself when it is taken back"
            found.append(Problem(where=subject.at(name), message=words))
    if applied == len(_PATCHES):
        reference = await tree.apply(subject.task.patch(_PATCHES[REFERENCE]))
        try:
            await tree.apply(subject.task.patch(_PATCHES[REMOVAL]), onto=reference)
        except GitError as error:
            words = f"doesn't apply to the tree with the reference in it: {error}"
            found.append(Problem(where=subject.at(REMOVAL), message=words))
    return found


def _removal(subject: Subject) -> Iterator[Problem]:
    where, files = subject.at(REMOVAL), patched_files(subject.task, _PATCHES[REMOVAL])
    if not files:
        yield Problem(where=where, message="changes no file")
    if len(files) > 1:
        yield _warning(where, f"edits {len(files)} files, where one is expected: {', '.join(files)}")
    for path, file in files.items():
        if file.is_new or file.is_gone:
            yield Problem(where=where, message=f"adds or deletes {path}; our rules take changes of files only")
        if is_test_path(path):
            yield Problem(where=where, message=f"edits {path}, a test file, which submissions write as well")


def _holds_foreign_tests(path: str) -> bool:
    """Return whether it is a test file in some language other than the task's."""
    return path.endswith(".uts") or any(LANGUAGES.get(name).discovery.is_test_file(path) for name in LANGUAGES.names)


def _listed_files(subject: Subject) -> tuple[str, ...]:
    """Return None of them where the manifest can't be read: that is told elsewhere."""
    try:
        return listed_tests(subject.task.patch("reference/manifest.yaml"), language_of(subject.task.repo).ids).files
    except ManifestError:
        return ()


def _warning(where: str, words: str) -> Problem:
    return Problem(where=where, message=words, severity=Severity.WARNING)


async def manifest_problems(subject: Subject) -> list[Problem]:
    """Return the problems of the manifest: absent, names that no test of the reference has, or that several have.

    Raises:
        UserError: It can't be read.
    """
    data = subject.task.patch("reference/manifest.yaml")
    fences = sum(line.strip() == FENCE for line in data.decode(errors="replace").splitlines())
    if fences != 2:
        words = f"no manifest between two {FENCE} lines, of which it has {fences}: oracle has nothing to list"
        return [Problem(where=subject.at(SOLUTION), message=words)]
    try:
        listed = read_lines(data)
    except ManifestError as error:
        return [Problem(where=subject.at(SOLUTION, FENCE), message=f"its manifest, {error.code}: {error}")]
    files = patched_files(subject.task, "reference/tests.patch")
    language = language_of(subject.task.repo)
    written, kept, broken = _surveyed(subject.task, files.values(), language.discovery)
    tests = list(meant(listed, _candidates(written, kept), files, language.ids))
    problems = [
        problem
        for item, test in zip(listed, tests, strict=True)
        if not (isinstance(test, TestId) and test in written)
        for problem in _unclear(subject, item, test, files, language.discovery, kept)
    ]
    meant_here = dict.fromkeys(test for test in tests if isinstance(test, TestId))
    several = {test for name in tests if isinstance(name, Ambiguous) for test in name.tests}
    here = {*meant_here, *several}
    unlisted = [test for test in written if test not in here and not _is_left_out(test, here)]
    problems += _refused(subject, files, unlisted, broken)
    return [*problems, *_shared(subject, meant_here)]


def _surveyed(
    task: Task, files: Iterable[Patched], discovery: Discovery
) -> tuple[dict[TestId, None], dict[TestId, None], dict[TestId, None]]:
    """Return tests that a patch adds or changes, shows and leaves as they were, and removes, as far as it shows them.

    Each hunk is read alone: nothing tells to which test a line between two of them belongs.
    """
    hunks = [hunk for file in files if policy.is_test_path(task.repo, file.path) for hunk in file.hunks]
    texts = [(hunk.path, text) for hunk in hunks for text in (hunk.old, hunk.new) if text is not None]
    campaigns = {(path, text): campaign_tests(text) for path, text in texts if path.endswith(CAMPAIGN)}
    surveys = survey(tuple(hunks), SeenTests(discovery, campaigns))
    written = dict.fromkeys(test for each in surveys for test in (*each.added, *each.changed))
    kept = dict.fromkeys(test for each in surveys for test in (*each.kept, *each.optional) if test not in written)
    broken = dict.fromkeys(test for each in surveys for test in each.deleted if test not in written)
    return written, kept, broken


def _is_left_out(test: TestId, listed: Iterable[TestId]) -> bool:
    """Tell whether a test is in a campaign that isn't listed at all: `reference_problems` has a word on it."""
    return test.file.endswith(CAMPAIGN) and all(other.file != test.file for other in listed)


def _candidates(written: Iterable[TestId], kept: Iterable[TestId]) -> list[Candidate]:
    return [*(Candidate(test, True) for test in written), *(Candidate(test, False) for test in kept)]


def _refused(
    subject: Subject, files: Mapping[str, Patched], unlisted: Iterable[TestId], broken: Iterable[TestId]
) -> Iterator[Problem]:
    """Yield why the static stage of our rules refuses a reference whose names are all known."""
    for test in unlisted:
        words = f"{WEAKNESS}: addition.patch adds or changes {test}, which isn't listed{_sure(files[test.file])}"
        yield _warning(subject.at(REFERENCE), words)
    for test in broken:
        words = f"{WEAKNESS}: addition.patch removes {test}, which was there before{_sure(files[test.file])}"
        yield _warning(subject.at(REFERENCE), words)


def _sure(file: Patched) -> str:
    return ": our rules refuse the reference" if file.is_new else ", as far as it shows the file; oracle tells"


def _unclear(
    subject: Subject,
    item: ListedName,
    test: TestId | Ambiguous,
    files: Mapping[str, Patched],
    discovery: Discovery,
    kept: Collection[TestId],
) -> Iterator[Problem]:
    """Yield a file that isn't new is known in part: what the patch doesn't show of it may still be there."""
    where = f"{subject.at(SOLUTION)}:{item.line}"
    if isinstance(test, Ambiguous):
        yield Problem(where=where, message=f"lists {item.name}; {test.words}", severity=Severity.WARNING)
        return
    file = files.get(test.file)
    if file and test in kept:
        words = f"{WEAKNESS}: lists {test}, which addition.patch neither adds nor changes{_sure(file)}"
        yield Problem(where=where, message=words, severity=Severity.WARNING)
    elif file and test.file.endswith(CAMPAIGN):
        yield Problem(where=where, message=_no_test_of_a_campaign(test, file), severity=Severity.WARNING)
    elif file is None:
        yield Problem(where=where, message=f"{WEAKNESS}: lists {test}, and addition.patch doesn't touch this file")
    elif not discovery.is_test_file(test.file):
        return
    elif file.is_new:
        yield Problem(where=where, message=_absence(test, file, discovery))
    elif not file.shows(test.name):
        words = f"lists {test}, which addition.patch doesn't show; oracle tells whether it adds or changes it"
        yield Problem(where=where, message=words, severity=Severity.WARNING)


def _no_test_of_a_campaign(test: TestId, file: Patched) -> str:
    lines = file.text.decode(errors="replace").splitlines()
    if any(line.startswith(COMMENTS) and " ".join(line.strip("#* ").split()) == test.name for line in lines):
        return f"{WEAKNESS}: lists {test}, which is a comment and no test: our rules refuse the reference"
    if file.is_new:
        near = nearest(test.name, [other.name for other in campaign_tests(file.text).tests])
        return f"{WEAKNESS}: lists {test}, and no `=` line of the file has this name; {near}"
    return f"lists {test}, and no `=` line that addition.patch shows has this name; oracle tells whether one does"


def _absence(test: TestId, file: Patched, discovery: Discovery) -> str:
    found = discovery.discover(file.text, file.path)
    if test.name in found.others:
        return f"{WEAKNESS}: lists {test}, and that is no test function"
    if file.shows(test.name):
        return f"{UNREAD}: lists {test}; its name stands in the file, where our grammar sees no test of it"
    near = nearest(test.name, [other.name for other in found.tests])
    return f"{WEAKNESS}: lists {test}, and the file has no test of this name; {near}"


def _shared(subject: Subject, tests: Iterable[TestId]) -> Iterator[Problem]:
    files = defaultdict(list)
    for test in tests:
        files[test.name].append(test.file)
    for name, places in files.items():
        if len(places) > 1:
            words = f"one name in several files: {name} is in {', '.join(places)}; no log says whose result it has"
            yield Problem(where=subject.at(SOLUTION, name), message=words, severity=Severity.WARNING)
