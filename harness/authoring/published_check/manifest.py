"""Compares the reference's manifest in `solve.sh` with the files of the reference."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from harness.authoring.published_check.nearest import nearest
from harness.authoring.published_check.patched_files import Patched, patched_files
from harness.authoring.task_check.subject import Subject
from harness.languages.protocol import Discovery
from harness.languages.registry import language_of
from harness.specs.ids import TestId
from harness.specs.problem import Problem, Severity
from harness.submission.manifest import FENCE, Manifest, ManifestError, parse_manifest
from harness.tracks.swe_atlas.layout import SOLUTION


async def manifest_problems(subject: Subject) -> list[Problem]:
    """No manifest, names that no test of the reference has, names that several have. Raises UserError."""
    data = subject.task.patch("reference/manifest.yaml")
    fences = sum(line.strip() == FENCE for line in data.decode(errors="replace").splitlines())
    if fences != 2:
        words = f"no manifest between two {FENCE} lines, of which it has {fences}: oracle has nothing to list"
        return [Problem(where=subject.at(SOLUTION), message=words)]
    try:
        manifest = parse_manifest(data, language_of(subject.task.repo).ids)
    except ManifestError as error:
        words = f"our rules can't read its manifest, {error.code}: {error}; the published ones take every line"
        return [Problem(where=subject.at(SOLUTION, FENCE), message=f"{words} that begins with a dash")]
    files = patched_files(subject.task, "reference/tests.patch")
    return [*_unknown(subject, manifest, files), *_shared(subject, manifest)]


def _unknown(subject: Subject, manifest: Manifest, files: Mapping[str, Patched]) -> Iterator[Problem]:
    """A file that isn't new is known in part: what the patch doesn't show of it may still be there."""
    discovery = language_of(subject.task.repo).discovery
    for test in manifest.tests:
        where, file = subject.at(SOLUTION, test.name), files.get(test.file)
        if file is None:
            yield Problem(where=where, message=f"lists {test}, and addition.patch doesn't touch this file")
        elif not discovery.is_test_file(test.file):
            continue
        elif file.is_new and (words := _absence(test, file, discovery)):
            yield Problem(where=where, message=f"lists {test}, and {words}")
        elif not file.is_new and not file.shows(test.name):
            words = f"lists {test}, which addition.patch doesn't show; oracle tells whether it adds or changes it"
            yield Problem(where=where, message=words, severity=Severity.WARNING)


def _absence(test: TestId, file: Patched, discovery: Discovery) -> str:
    found = discovery.discover(file.text, file.path)
    if found.find(test.name):
        return ""
    if test.name in found.others:
        return "that is no test function"
    near = nearest(test.name, [other.name for other in found.tests])
    return f"the file has no test of this name; {near}"


def _shared(subject: Subject, manifest: Manifest) -> Iterator[Problem]:
    files = defaultdict(list)
    for test in manifest.tests:
        files[test.name].append(test.file)
    for name, places in files.items():
        if len(places) > 1:
            words = f"one name in several files: {name} is in {', '.join(places)}; no log says whose result it has"
            yield Problem(where=subject.at(SOLUTION, name), message=words, severity=Severity.WARNING)
