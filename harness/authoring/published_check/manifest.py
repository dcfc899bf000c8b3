"""Compares the reference's manifest in `solve.sh` with the files of the reference."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from harness.authoring.published_check.nearest import nearest
from harness.authoring.published_check.patched_files import Patched, patched_files
from harness.authoring.task_check.subject import Subject
from harness.languages.protocol import Discovery
from harness.languages.registry import language_of
from harness.specs.ids import TestId
from harness.specs.problem import Problem, Severity
from harness.submission.line_manifest import read_lines
from harness.submission.manifest import FENCE, ManifestError
from harness.tracks.swe_atlas.layout import SOLUTION
from harness.verify.listed_names import Ambiguous, Candidate, meant


async def manifest_problems(subject: Subject) -> list[Problem]:
    """No manifest, names that no test of the reference has, names that several have. Raises UserError."""
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
    found = {path: language.discovery.discover(file.text, path) for path, file in files.items()}
    candidates = [Candidate(TestId(path, test.name), True) for path, item in found.items() for test in item.tests]
    known = {candidate.test for candidate in candidates}
    tests = list(meant(listed, candidates, files, language.ids))
    lines = [item.name for item in listed]
    problems = [
        problem
        for name, test in zip(lines, tests, strict=True)
        if not (isinstance(test, TestId) and test in known)
        for problem in _unclear(subject, name, test, files, language.discovery)
    ]
    return [*problems, *_shared(subject, dict.fromkeys(test for test in tests if isinstance(test, TestId)))]


def _unclear(
    subject: Subject, name: str, test: TestId | Ambiguous, files: Mapping[str, Patched], discovery: Discovery
) -> Iterator[Problem]:
    """A file that isn't new is known in part: what the patch doesn't show of it may still be there."""
    where = subject.at(SOLUTION, name)
    if isinstance(test, Ambiguous):
        yield Problem(where=where, message=f"lists {name}; {test.words}", severity=Severity.WARNING)
        return
    file = files.get(test.file)
    if file is None:
        yield Problem(where=where, message=f"lists {test}, and addition.patch doesn't touch this file")
    elif not discovery.is_test_file(test.file):
        return
    elif file.is_new:
        yield Problem(where=where, message=f"lists {test}, and {_absence(test, file, discovery)}")
    elif not file.shows(test.name):
        words = f"lists {test}, which addition.patch doesn't show; oracle tells whether it adds or changes it"
        yield Problem(where=where, message=words, severity=Severity.WARNING)


def _absence(test: TestId, file: Patched, discovery: Discovery) -> str:
    found = discovery.discover(file.text, file.path)
    if test.name in found.others:
        return "that is no test function"
    near = nearest(test.name, [other.name for other in found.tests])
    return f"the file has no test of this name; {near}"


def _shared(subject: Subject, tests: Iterable[TestId]) -> Iterator[Problem]:
    files = defaultdict(list)
    for test in tests:
        files[test.name].append(test.file)
    for name, places in files.items():
        if len(places) > 1:
            words = f"one name in several files: {name} is in {', '.join(places)}; no log says whose result it has"
            yield Problem(where=subject.at(SOLUTION, name), message=words, severity=Severity.WARNING)
