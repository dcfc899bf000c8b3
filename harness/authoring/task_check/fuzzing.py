"""The touched code called on drawn inputs: twins answer as pristine code does, the removals don't.

A task's `fuzz/FILE` is a test file that writes a line `INPUT => RESULT` for each call into `fuzz.txt` of the report
directory, and calls every input twice in a row. A language may have a file that does that for it, and lies beside it
here and nowhere else. What it draws follows from the number in TESTWRIGHT_FUZZ_SEED alone:
pristine code is run twice with each number first, and no variant is blamed where it disagrees with itself. The
numbers follow from the fuzz files: a second check draws the same inputs, also after a variant was mended.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from harness.authoring.task_check.subject import Subject
from harness.judging.languages.registry import language_of
from harness.judging.languages.toolchain import CompiledVariant
from harness.judging.languages.variant_source import VariantSource
from harness.judging.submission.manifest import ManifestError, parse_manifest
from harness.judging.verify.arms import ArmObserver, ArmRunner, Suite
from harness.judging.verify.evidence import BASELINE
from harness.judging.verify.task_texts import changed_by_each
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import JobResult
from harness.specs.errors import UserError
from harness.specs.problem import Problem, Severity
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import ArmKey, Role, VariantKind

SEEDS = 2
REWRITTEN = 3
"""Machine rewritings of the pristine code that are compared as well."""
MOSTLY = 0.8
"""Share of the inputs that pristine code answers for which the garbage must give two different answers."""
FUZZ_FILE = "fuzz.txt"
_ARROW = " => "
_REMOVALS = ("removal", "garbage")
_STEADY = "what it draws and writes must follow from TESTWRIGHT_FUZZ_SEED alone: sort sets, write no address or time"
_SHOWN = 120
"""Characters of a line that a message shows."""


class FuzzCall(NamedTuple):
    """One call of the code under test; `result` is an answer or an exception, in words."""

    input: str
    result: str


async def fuzz_problems(subject: Subject) -> list[Problem]:
    """Compare every twin, the placebo, rewritings and removals with pristine code; return the differences.

    Pristine code comes first, twice with each seed. Where it disagrees with itself nothing else is run.

    Raises:
        UserError: The file has no test, or fails on pristine code.
        SandboxLost: A container was lost.
    """
    if not subject.task.fuzz_files:
        words = "has no test file: nothing but the suites shows that the twins are equivalent"
        return [Problem(where=subject.at("fuzz"), message=words, severity=Severity.WARNING)]
    chance = random.Random(_drawn_from(subject))
    seeds = [chance.getrandbits(31) for _ in range(SEEDS)]
    texts = await _texts(subject)
    [pristine] = await _compiled(subject, {BASELINE: texts[BASELINE]})
    answers: dict[int, list[FuzzCall]] = {}
    for seed in seeds:
        answers[seed], again = await _twice(subject, pristine, seed)
        if wrong := _disagreeing(subject, answers[seed], again, seed):
            return [wrong]
    variants = await _compiled(subject, texts, chance)
    found: list[Problem] = []
    for seed, expected in answers.items():
        calls = await _calls(subject, [(_key(item.variant.name), item) for item in variants], seed)
        theirs = {key.variant: made for key, made in calls.items()}
        subject.remarks.append(f"seed {seed}: {len(expected)} calls of {len(theirs) + 1} variants")
        different = [
            problem
            for name in theirs
            if name not in _REMOVALS
            for problem in _different(subject, name, expected, theirs[name], seed)
        ]
        if different:  # two runs may agree by chance, so pristine code gets a third before anybody is blamed
            [third] = (await _calls(subject, [(_key(BASELINE), pristine)], seed)).values()
            if wrong := _disagreeing(subject, expected, third, seed):
                return [wrong]
        found += different
        found += [Problem(where=subject.at("garbage.patch"), message=words) for words in removed(expected, theirs)]
    return found


def _drawn_from(subject: Subject) -> bytes:
    texts = [(path.name.encode(), path.read_bytes()) for path in subject.task.fuzz_files]
    if subject.task.drawing:
        texts.append((b"drawing", subject.task.drawing.source))
    return b"\0".join(name + b"\0" + text for name, text in texts)


def _key(variant: str) -> ArmKey:
    return ArmKey(Role.EXISTING_AFTER, variant)


async def _twice(subject: Subject, pristine: CompiledVariant, seed: int) -> tuple[list[FuzzCall], list[FuzzCall]]:
    keys = (_key(BASELINE), _key(BASELINE).again)
    calls = await _calls(subject, [(key, pristine) for key in keys], seed)
    return calls[keys[0]], calls[keys[1]]


def _disagreeing(
    subject: Subject, first: Sequence[FuzzCall], second: Sequence[FuzzCall], seed: int
) -> Problem | None:
    """Return what is wrong with the fuzz file itself, as two runs of pristine code show it."""
    where = subject.at(f"fuzz/{subject.task.fuzz_files[0].name}")
    if not (first or second):
        words = f"writes no line 'INPUT{_ARROW}RESULT' into {FUZZ_FILE} of the report directory"
        return Problem(where=where, message=words)
    words = disagreement(first, second)
    return Problem(where=where, message=f"{words} (seed {seed})") if words else None


def disagreement(first: Sequence[FuzzCall], second: Sequence[FuzzCall]) -> str:
    """Say in which call two runs of the same code differ, with both outputs; empty where they agree. Pure."""
    for mine, other in zip(first, second, strict=False):
        if mine != other:
            one, two = (f"{call.input}{_ARROW}{call.result}" for call in (mine, other))
            at = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
            return (
                "disagrees with itself on pristine code, run twice with one seed: "
                f"{_around(one, at)!r}, then {_around(two, at)!r}; {_STEADY}"
            )
    if len(first) != len(second):
        return (
            "disagrees with itself on pristine code, run twice with one seed: "
            f"{len(first)} calls, then {len(second)}; {_STEADY}"
        )
    return ""


def _around(text: str, at: int) -> str:
    """Return the part of a long line in which a difference lies."""
    start = max(0, at - _SHOWN // 2) if len(text) > _SHOWN else 0
    return ("..." if start else "") + text[start : start + _SHOWN] + ("..." if len(text) > start + _SHOWN else "")


def read_calls(data: bytes) -> list[FuzzCall]:
    """Return the calls that a fuzz file wrote down. What isn't of the form `INPUT => RESULT` is left out."""
    lines = (line.rpartition(_ARROW) for line in data.decode(errors="replace").splitlines())
    return [FuzzCall(line[0], line[2]) for line in lines if line[1]]


def removed(pristine: Sequence[FuzzCall], calls: Mapping[str, Sequence[FuzzCall]]) -> Iterator[str]:
    """Yield what is wrong with the removals, in words. Pure.

    Where neither changes an answer, a test of that answer survives both; where garbage is the same twice, tests of
    properties survive it: same input same output, round trip, idempotence.
    """
    others = [calls[name] for name in _REMOVALS if name in calls]
    kept = [
        mine.input
        for number, mine in enumerate(pristine)
        if others and all(number < len(theirs) and theirs[number] == mine for theirs in others)
    ]
    if kept:
        yield f"neither it nor removal.patch changes the answer to {_shown(kept)}"
    garbage = calls.get("garbage", ())
    pairs = [(a, b) for a, b in pairwise(garbage) if a.input == b.input]
    same = [a.input for a, b in pairs if a.result == b.result]
    if pairs and len(same) > (1 - MOSTLY) * len(pairs):
        yield f"gives the same answer twice to {len(same)} of {len(pairs)} inputs, as to {_shown(same)}"
    echoed = [call.input for call in garbage if call.result == call.input]
    if len(echoed) > (1 - MOSTLY) * len(garbage):
        yield f"gives back what it was given, as for {_shown(echoed)}: a test of a round trip would not notice it"


def _shown(inputs: Sequence[str]) -> str:
    return f"{inputs[0][:100]!r}" + (f" and {len(inputs) - 1} more" if len(inputs) > 1 else "")


def _different(
    subject: Subject, name: str, pristine: Sequence[FuzzCall], theirs: Sequence[FuzzCall], seed: int
) -> Iterator[Problem]:
    where = _where(subject, name)
    if len(pristine) != len(theirs):
        words = f"is called {len(theirs)} times where pristine code is called {len(pristine)} times (seed {seed})"
        yield Problem(where=where, message=words)
    for mine, other in zip(pristine, theirs, strict=False):
        if mine != other:
            words = f"changes behaviour: {mine.input[:100]!r} gives {other.result[:100]!r}, not {mine.result[:100]!r}"
            yield Problem(where=where, message=f"{words} (seed {seed})")
            return


def _where(subject: Subject, variant: str) -> str:
    files = {twin.variant: f"twins/{twin.path.name}" for twin in subject.task.twins}
    return subject.at({**files, "placebo": "placebo.patch"}.get(variant, "task.yaml"))


async def _texts(subject: Subject) -> dict[str, dict[str, bytes]]:
    """Return the touched files of pristine code, both removals, placebo and twins as they are written.

    Raises UserError.
    """
    task = subject.task
    tree = GitTree(subject.containers.image.tree)
    patches = {name: task.path(f"{name}.patch") for name in (*_REMOVALS, "placebo")}
    patches = {name: path for name, path in patches.items() if path.is_file()}
    patches |= {twin.variant: twin.path for twin in task.twins}
    changed = await changed_by_each(tree, patches)
    entries = await tree.entries()
    touched = sorted({path for files in changed.values() for path in files})
    pristine = await tree.read_all({path: entries[path] for path in touched})
    return {BASELINE: pristine, **{name: {**pristine, **files} for name, files in changed.items()}}


async def _compiled(
    subject: Subject, texts: Mapping[str, Mapping[str, bytes]], chance: random.Random | None = None
) -> list[CompiledVariant]:
    """Compile these texts, and with `chance` drawn rewritings of pristine code.

    Raises UserError, SandboxLost.
    """
    context = subject.containers
    sources = [
        VariantSource(name, VariantKind.BASELINE if name == BASELINE else VariantKind.PROBE, text, text)
        for name, text in texts.items()
    ]
    if chance and context.toolchain.separates:
        pristine = texts[BASELINE]
        family = {path: tuple({text[path]: None for text in texts.values()}) for path in pristine}
        sources += [
            VariantSource(
                f"rewritten-{number}",
                VariantKind.PROBE,
                pristine,
                pristine,
                family=family,
                seed=chance.getrandbits(64),
            )
            for number in range(1, REWRITTEN + 1)
        ]
    compiled = await context.toolchain.compile(context, sources)
    return [item for item in compiled if chance is None or item.variant.name != BASELINE]


async def _calls(
    subject: Subject, arms: Sequence[tuple[ArmKey, CompiledVariant]], seed: int
) -> dict[ArmKey, list[FuzzCall]]:
    """Return the calls of each arm, raising UserError where the file has no test or fails on pristine code."""
    reports = _Reports()
    runner = ArmRunner(replace(subject.containers, observer=reports), subject.task)
    seeded = [(key, replace(item, env={**item.env, "TESTWRIGHT_FUZZ_SEED": str(seed)})) for key, item in arms]
    await runner.run_suite(drawn_suite(subject.task), seeded)
    return {key: read_calls(reports.written.get(key, b"")) for key, _ in seeded}


class _Reports(ArmObserver):
    """An observer that keeps what the fuzz file wrote in each arm."""

    def __init__(self) -> None:
        self.written: dict[ArmKey, bytes] = {}

    def printed(self, key: ArmKey, result: JobResult) -> None:
        self.written[key] = result.outputs.get(FUZZ_FILE, b"")


def drawn_suite(task: Task) -> Suite:
    """Return the fuzz files with what lies beside them, in the folder of the first file that the reference lists.

    Raises:
        UserError: There is no test in them, or the manifest can't be read.
    """
    language = language_of(task.repo)
    try:
        neighbour = parse_manifest(task.patch("reference/manifest.yaml"), language.ids).files[0]
    except ManifestError as error:
        raise UserError(f"{task.path('reference/manifest.yaml')}: {error}") from None
    folder = PurePosixPath(neighbour).parent
    files = {(folder / path.name).as_posix(): path.read_bytes() for path in task.fuzz_files}
    tests = [
        TestId(path, test.name)
        for path, text in files.items()
        for test in language.discovery.discover(text, path).tests
    ]
    if not tests:
        where = (*task.fuzz_files, task.directory / "fuzz")[0]
        raise UserError(f"{where}: has no test; {language.discovery.FILE_RULE}")
    if drawing := task.drawing:
        place = PurePosixPath() if drawing.at_root else folder
        files[(place / drawing.name).as_posix()] = drawing.beside(next(iter(files.values())))
    return Suite(tuple(tests), files)
