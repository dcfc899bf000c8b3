"""A check that each probe has its twins, and each twin the place and the size of its probe."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from harness.authoring.function_spans import touched_functions
from harness.authoring.task_check.subject import Subject
from harness.authoring.task_check.task_files import changed_lines
from harness.judging.verify.evidence import Evidence, listed_arm
from harness.judging.verify.verdict import outcome_words
from harness.specs.errors import UserError
from harness.specs.problem import Problem, Severity
from harness.specs.rubric import named
from harness.specs.task import Probe, Twin
from harness.specs.test_results import Outcome
from harness.specs.yaml_files import read_text

LARGER = 4
"""Changed lines by which a twin may be larger or smaller than its probe."""
NEAR = 6
"""Lines of the tree between a twin and its probe: further off, its place would tell which of the two it is."""
SHARE_ON_PLACEBO = 0.5


async def twin_problems(subject: Subject) -> list[Problem]:
    """Return the problems between must-pass and must-fail variants, by their files."""
    return [*_incomplete(subject), *_misnamed(subject), *_unlike(subject), *await _left_as_they_are(subject)]


async def _left_as_they_are(subject: Subject) -> list[Problem]:
    """Return an error where a probe changes a function that the authored placebo leaves as it is."""
    task, tree = subject.task, subject.tree
    if tree is None or not task.has_authored_placebo:
        return []
    try:
        patches = [_read(path) for path in (task.path("placebo.patch"), *(probe.path for probe in task.probes))]
    except (UnidiffParseError, UserError):  # said of the patch itself
        return []
    entries, language = await tree.entries(), task.repo.language
    paths = {file.path for patch in patches for file in patch}
    texts = await tree.read_all({path: entries[path] for path in sorted(paths) if path in entries})
    written, *changed = (touched_functions(language, patch, texts) for patch in patches)
    left = sorted({f"{path}::{name}" for functions in changed for path, name in functions - written})
    if not left:
        return []
    words = f"leaves {named(left)} as it is, which probes change; it must write all of these otherwise"
    return [Problem(where=subject.at("placebo.patch"), message=words)]


def _read(path: Path) -> PatchSet:
    """Return a patch's parts, raising UserError or UnidiffParseError for what is none."""
    return PatchSet(read_text(path))


def _incomplete(subject: Subject) -> Iterator[Problem]:
    task = subject.task
    if not task.has_garbage:
        words = "is missing: a second removal, which gives plausible results that differ from call to call"
        yield Problem(where=subject.at("garbage.patch"), message=words)
    if not task.has_authored_placebo:
        words = "is missing: the same behaviour written differently at large"
        yield Problem(where=subject.at("placebo.patch"), message=words)
    matched = {twin.probe for twin in task.twins}
    for probe in task.probes:
        if probe.name not in matched:
            words = "is missing: an edit of the probe's place, size and form that leaves the behaviour as it is"
            yield Problem(where=subject.at(f"twins/{probe.name}.patch"), message=words)
    there = sum(task.probe_on_placebo(probe) is not None for probe in task.probes)
    if task.has_authored_placebo and there < SHARE_ON_PLACEBO * len(task.probes):
        words = f"has {there} of the {len(task.probes)} probes; at least half must also lie upon placebo.patch"
        yield Problem(where=subject.at("probes-on-placebo"), message=words)


def _misnamed(subject: Subject) -> Iterator[Problem]:
    known = {probe.name for probe in subject.task.probes}
    upon = sorted((subject.task.directory / "probes-on-placebo").glob("*.patch"))
    for path, probe in [*((twin.path, twin.probe) for twin in subject.task.twins), *((p, p.stem) for p in upon)]:
        if probe not in known:
            where = subject.at(path.relative_to(subject.task.directory).as_posix())
            yield Problem(where=where, message=f"there is no probes/{probe}.patch that it could belong to")


def _unlike(subject: Subject) -> Iterator[Problem]:
    probes = {probe.name: probe for probe in subject.task.probes}
    for twin in subject.task.twins:
        if twin.probe in probes:
            for words in _differences(twin, probes[twin.probe]):
                where = subject.at(f"twins/{twin.path.name}")
                yield Problem(where=where, message=words, severity=Severity.WARNING)


def _differences(twin: Twin, probe: Probe) -> Iterator[str]:
    mine, others = changed_lines(twin.path.read_bytes()), changed_lines(probe.path.read_bytes())
    if abs(mine - others) > LARGER:
        yield f"changes {mine} lines and its probe {others}: its size tells them apart"
    try:
        here, there = _places(twin.path), _places(probe.path)
    except (UnidiffParseError, UnicodeDecodeError):  # said where the patches are applied
        return
    if here and there and not any(path == other and _gap(a, b) <= NEAR for path, a in here for other, b in there):
        yield f"lies more than {NEAR} lines from its probe: its place tells them apart"


def _places(path: Path) -> list[tuple[str, tuple[int, int]]]:
    """Return for each hunk its file, and the first and last line of the tree that it changes."""
    found = []
    for file in PatchSet(path.read_text()):
        for hunk in file:
            lines, last = [], hunk.source_start
            for line in hunk:
                last = line.source_line_no or last
                if not line.is_context:
                    lines.append(last)
            found.append((file.path, (min(lines), max(lines))))
    return found


def _gap(a: tuple[int, int], b: tuple[int, int]) -> int:
    return max(a[0], b[0]) - min(a[1], b[1])


def noticed_twins(subject: Subject, evidence: Evidence | None, whose: str) -> Iterator[Problem]:
    """Yield the twins, and the placebo, under which a test failed that is green otherwise: they aren't equivalent."""
    paths = {twin.variant: f"twins/{twin.path.name}" for twin in subject.task.twins}
    paths["placebo-authored"] = "placebo.patch"
    if evidence is None:
        return
    for test, (variant, path) in product(evidence.tests, paths.items()):
        result = evidence.result(listed_arm(variant), test)
        if result and result.outcome is not Outcome.PASSED and evidence.passes_baseline(test):
            words = (
                f"changes behaviour: {test} of {whose} is {outcome_words(result.outcome, result.quality)} under it"
            )
            yield Problem(where=subject.at(path), message=words)
