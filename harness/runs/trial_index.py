"""`.index`: what is known of a run's finished trials, so that a large run is scanned without opening their files.

The files say what is true. An entry counts only as long as size and time of change of each file that it was read from
are what they were; another is read anew. An index that is damaged, or of another version, is made anew.

The trials of a large run that need nothing any more, told from its index: none of them is opened or begun.
"""

import gc
import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from pydantic_core import from_json

from harness import PROTOCOL_VERSION
from harness.judging.verify.judge.judge import Judge
from harness.judging.verify.judge.questions import JudgeIdentity
from harness.runs.additions import AskedRun
from harness.runs.judges import is_controlled
from harness.runs.plan import Trial
from harness.runs.records import write_whole
from harness.runs.trial_store import TrialReading, TrialStore
from harness.specs.grading import ControlRound, GradingRules

_FORMAT = 3
MANY = 2_000
"""Trials of which an index is made: nobody reads a table of more lines, or waits for each to be opened."""
_READ = ("", "/trial.json", "/verdict.json", "/agent.json", "/usage.json")
"""Files that an entry is read from, behind the attempt's number. The first is the directory: it notices each new
name."""
_log = logging.getLogger(__name__)


class Finished(NamedTuple):
    """A trial that has a verdict. `lost` has a `STAGE:CODE` for each reason, with commas between.

    `identity` is that of the agent's work, empty where the trial's files don't agree in it; `under` is what
    `reached_under` says of the verdict. Costs are in USD, None where unknown: of the agent with what was set aside,
    and of the judge.
    """

    stamp: int
    identity: str
    under: str
    verdict: str
    lost: str
    agent_usd: float | None
    judge_usd: float | None


_Entries = dict[str, dict[str, Finished]]
"""TASK/SCAFFOLD/MODEL -> attempt -> what is known of it."""


class TrialIndex:
    """The index of one run. `scan` must have gone through all trials before `keep` writes it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / ".index"
        self._known = _read(self._path)
        self._found: _Entries = {}
        self._changed = False

    def scan(self) -> Iterator[tuple[str, dict[str, Finished | None]]]:
        """Yield TASK/SCAFFOLD/MODEL by path, with its attempts and what is known of each that has a verdict."""
        for group, stamps in _stamps(self._directory / "trials"):
            known = self._known.get(group, {})
            found: dict[str, Finished | None] = {}
            for name, stamp in stamps.items():
                entry = known.get(name)
                found[name] = entry if entry and entry[0] == stamp else self._read_anew(group, name, stamp)
            self._found[group] = {name: entry for name, entry in found.items() if entry}
            yield group, found

    def _read_anew(self, group: str, name: str, stamp: int) -> Finished | None:
        entry = _finished(TrialReading(self._directory / "trials" / group / name), stamp)
        self._changed = self._changed or entry is not None
        return entry

    def keep(self) -> None:
        """Write it where something has changed. A directory that can't be written stays without."""
        if self._changed or _count(self._known) != _count(self._found):
            with suppress(OSError):
                write_whole(self._path, _text(self._found))


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Let the garbage collector rest: of what is made of 100,000 trials it would look at each again and again."""
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            gc.enable()


def _read(path: Path) -> _Entries:
    """Return the entries of an index; none where there is none that can be trusted."""
    try:
        head, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return {}
    if head != _head(body):
        _log.info("%s is damaged or of another version; it is made anew", path)
        return {}
    with _collector_at_rest():
        groups = from_json(body, cache_strings="all")
        return {group: {name: Finished(*entry) for name, entry in each.items()} for group, each in groups.items()}


def _count(entries: _Entries) -> int:
    return sum(map(len, entries.values()))


def _text(found: _Entries) -> bytes:
    body = json.dumps(found, separators=(",", ":")).encode()
    return _head(body) + b"\n" + body


def _head(body: bytes) -> bytes:
    return f"testwright index {_FORMAT} sha256:{hashlib.sha256(body).hexdigest()}".encode()


def _stamps(trials: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield TASK/SCAFFOLD/MODEL and the stamp of each attempt, also of one that never got as far as a directory."""
    for group in _folders(_folders(_folders([str(trials)]))):
        names = sorted({name.partition(".")[0] for name in os.listdir(group)})  # noqa: PTH208 - no path object for each of 100,000
        below = group.removeprefix(f"{trials}/")
        descriptor = os.open(group, os.O_RDONLY | os.O_DIRECTORY)  # paths are looked up from here: half the time
        try:
            yield below, {name: _stamp(name, descriptor) for name in names if name.isdigit()}
        finally:
            os.close(descriptor)


def _folders(parents: Iterable[str]) -> Iterator[str]:
    for parent in parents:
        with suppress(OSError), os.scandir(parent) as entries:
            yield from sorted(entry.path for entry in entries if entry.is_dir())


def _stamp(name: str, descriptor: int) -> int:
    try:
        own, trial, verdict, agent, usage = [os.stat(name + end, dir_fd=descriptor) for end in _READ]
    except OSError:
        return _stamp_of_some(name, descriptor)
    return hash(
        (
            *(own.st_mtime_ns, own.st_size, own.st_ino),
            *(trial.st_mtime_ns, trial.st_size, trial.st_ino),
            *(verdict.st_mtime_ns, verdict.st_size, verdict.st_ino),
            *(agent.st_mtime_ns, agent.st_size, agent.st_ino),
            *(usage.st_mtime_ns, usage.st_size, usage.st_ino),
        )
    )


def _stamp_of_some(name: str, descriptor: int) -> int:
    """Return the stamp of an attempt of which a file is missing."""
    facts: list[int] = []
    for end in _READ:
        try:
            found = os.stat(name + end, dir_fd=descriptor)
        except OSError:
            facts += (0, -1)
        else:
            facts += (found.st_mtime_ns, found.st_size, found.st_ino)
    return hash(tuple(facts))


def _finished(store: TrialStore, stamp: int) -> Finished | None:
    record = store.verdict()
    if record is None:
        return None
    usage = store.usage()
    return Finished(
        stamp=stamp,
        identity=_identity(store),
        under=reached_under(
            is_ours=record.protocol.is_ours,
            digests=(record.task_digest, record.repo_digest, record.image_digest),
            isolation=record.isolation,
            version=record.protocol_version,
            judge=record.judge.identity if record.judge else None,
            is_without_judge=bool(record.judge) and record.is_without_judge,
            controlled=[control for control in ControlRound if is_controlled(record, control)],
        ),
        verdict=record.verdict.value,
        lost=",".join(f"{reason.stage}:{reason.code}" for reason in record.reasons),
        agent_usd=(usage.agent + usage.lost).cost_usd,
        judge_usd=usage.judge.cost_usd,
    )


def _identity(store: TrialStore) -> str:
    trial, agent = store.trial(), store.agent()
    return trial.identity if trial and agent and agent.identity == trial.identity and not store.damaged() else ""


def reached_under(
    is_ours: bool,
    digests: tuple[str, str, str],
    isolation: str,
    version: int,
    judge: JudgeIdentity | None,
    is_without_judge: bool,
    controlled: Sequence[ControlRound],
) -> str:
    """Return a short digest of all that makes a verdict final or not.

    `digests` are of task, repository and image, `controlled` all choices of a control round that the verdict
    satisfies.
    """
    told = judge.model_dump(mode="json") if judge else None
    facts = [is_ours, digests, isolation, version, told, is_without_judge, controlled]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def has_index(directory: Path) -> bool:
    """Return whether a run has an index, which may say that some of its trials need nothing."""
    return (directory / ".index").exists()


def count_trials(directory: Path) -> int:
    """Return how many of a run's trials have a directory. Quick, also for 100,000."""
    groups = _folders(_folders(_folders([str(directory / "trials")])))
    return sum(name.isdigit() for group in groups for name in os.listdir(group))  # noqa: PTH208


class Sorted(NamedTuple):
    """Trials that a start asks for: `rest` has something left to do, or may have; `finished` has nothing."""

    rest: list[Trial]
    finished: Sequence[tuple[Trial, Finished]] = ()


def sort_out(directory: Path, asked: AskedRun, judge: Judge | None) -> Sorted:
    """Sort trials into those that are finished and those that need something.

    That is done only of many trials, by the rules of our own verdicts; otherwise each is looked at when its turn
    comes.
    A trial counts as finished where a start would find by its files that its agent's work and its verdict are what
    is asked for: the same identity, reached under the same conditions. Where an image's digest isn't known without
    making it, nothing of its task does.
    """
    if len(asked.trials) <= MANY or asked.config.protocol is not GradingRules.TESTWRIGHT:
        return Sorted(asked.trials)
    with _collector_at_rest():
        index = TrialIndex(directory)
        known = dict(index.scan())
        index.keep()
        return _sorted(known, asked, judge)


def _sorted(known: Mapping[str, Mapping[str, Finished | None]], asked: AskedRun, judge: Judge | None) -> Sorted:
    rest: list[Trial] = []
    finished: list[tuple[Trial, Finished]] = []
    for trials in _groups(asked.trials):
        first = trials[0]
        image = asked.images.get(first.task.id)
        found = known.get(first.place.parent.as_posix(), {})
        if image is None or not found:
            rest += trials
            continue
        identity = _identities(first, image, asked)
        under = _conditions(first, image, asked, judge)
        for trial in trials:
            entry = found.get(str(trial.attempt))
            if entry and entry.under in under and entry.identity == identity(trial.attempt):
                finished.append((trial, entry))
            else:
                rest.append(trial)
    return Sorted(rest, finished)


def _groups(trials: Sequence[Trial]) -> Iterator[list[Trial]]:
    """Yield groups of trials that differ in nothing but the attempt's number, in the order of a plan."""
    for _, group in groupby(trials, lambda trial: (trial.task.id, trial.scaffold.name, trial.model)):
        yield list(group)


def _identities(first: Trial, image: str, asked: AskedRun) -> Callable[[int], str]:
    """Return a function from an attempt's number to `Trial.identity`, which computes once what all have in common."""
    texts = first.identity_text(image, asked.isolation, asked.scaffolds[first.scaffold.name])
    head, tail = (text.encode() for text in texts)

    def identity(attempt: int) -> str:
        return hashlib.sha256(b"%b%d%b" % (head, attempt, tail)).hexdigest()

    return identity


def _conditions(trial: Trial, image: str, asked: AskedRun, judge: Judge | None) -> frozenset[str]:
    """Return what `Judging.is_done` asks of a verdict, as the index has it."""
    every = list(ControlRound)
    return frozenset(
        reached_under(
            is_ours=GradingRules.TESTWRIGHT.is_ours,
            digests=(trial.task.digest, trial.task.repo.digest, image),
            isolation=asked.isolation,
            version=PROTOCOL_VERSION,
            judge=judge.identity if judge else None,
            is_without_judge=False,
            controlled=every[: every.index(most) + 1],
        )
        for most in every
        if most.covers(asked.config.control)
    )
