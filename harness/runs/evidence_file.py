"""The arms' results of a trial, kept so that it can be judged again without running them.

While they run, each is a line of `arms.jsonl` as it ends: a start that is cut short loses those that were at work,
and no other. `evidence.json` takes its place once all are there.

Keeps the output and reports of arms for people to read, within a run's quota.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from harness import PROTOCOL_VERSION
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.evidence import Draw, Evidence
from harness.judging.verify.mutation import judge_mutation
from harness.judging.verify.verdict import decide
from harness.runs.records import append_line, is_there, naming, read_lines, write_whole
from harness.sandbox.protocol import JobResult
from harness.specs.reasons import Verdict
from harness.specs.task import Task
from harness.specs.test_results import TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmName
from harness.specs.yaml_files import FileModel


class Conditions(BaseModel):
    """All that arms depend on. Where one of these differs, what they showed says nothing any more.

    `task` is the digest of the task's files without its rubric, `repo` of what its repository says of judging.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    repo: str = ""
    image: str
    isolation: str
    patch: str
    manifest: str
    protocol_version: int = PROTOCOL_VERSION

    @classmethod
    def of(cls, task: Task, arm_context: ArmContext, submission: Submission) -> "Conditions":
        return cls(
            task=task.digest_without_rubric,
            repo=task.repo.digest,
            image=arm_context.image.digest,
            isolation=arm_context.engine.isolation,
            patch=hashlib.sha256(submission.patch).hexdigest(),
            manifest=hashlib.sha256(submission.manifest).hexdigest(),
        )


class EvidenceFile(FileModel):
    """`evidence.json`: every arm's results, without what tests printed, and what chance decided.

    `evidence_sha256` is of `evidence` as JSON with sorted keys and no spaces; earlier versions didn't write it.
    """

    schema_version: Literal[3] = 3
    conditions: Conditions
    evidence: Evidence
    evidence_sha256: str = ""

    def to_json(self) -> str:
        """Return the file's text, with the sum of its evidence."""
        facts = self.model_dump(mode="json")
        return json.dumps({**facts, "evidence_sha256": _sum(facts["evidence"])}, separators=(",", ":")) + "\n"


def read_evidence(path: Path) -> EvidenceFile | None:
    """Read a trial's `evidence.json`; None where it is absent or damaged: its arms must run again."""
    try:
        text = path.read_bytes()
        found = EvidenceFile.model_validate_json(text)
    except (OSError, ValueError):
        return None
    is_whole = not found.evidence_sha256 or _sum(json.loads(text)["evidence"]) == found.evidence_sha256
    return found if is_whole else None


def _sum(evidence: object) -> str:
    return hashlib.sha256(json.dumps(evidence, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


LineT = TypeVar("LineT", bound="_Summed")


class _Summed(FileModel):
    """A line that says its own sum: one that is damaged is none. Earlier versions wrote no sums."""

    sha256: str = ""

    def summed(self: LineT) -> LineT:
        """Return the line with the sum of all the rest of it."""
        return self.model_copy(update={"sha256": self._sum()})

    def _sum(self) -> str:
        return _sum(self.model_dump(mode="json", exclude={"sha256"}))

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.sha256 and self.sha256 != self._sum():
            raise ValueError("the line is damaged: its sum is another one")
        return self


class ArmsBegun(_Summed):
    """First line of `arms.jsonl`: what its arms depend on, and what chance decided."""

    schema_version: Literal[1] = 1
    conditions: Conditions
    tests: tuple[TestId, ...]
    draw: Draw


class EndedArm(_Summed):
    """Another line of `arms.jsonl`. `seconds` is what all jobs of the judging had taken when it ended."""

    key: ArmName
    arm: Arm
    seconds: float


ArmLine = ArmsBegun | EndedArm


@dataclass(frozen=True)
class ArmFile:
    """`arms.jsonl` of a judging that has begun, and what it had when this start began. See `ArmLog`."""

    path: Path
    known: Mapping[ArmKey, Arm]
    seconds: float

    def add(self, key: ArmKey, arm: Arm, seconds: float) -> None:
        line = EndedArm(key=key, arm=_quiet(arm), seconds=round(seconds, 3)).summed()
        append_line(self.path, line.model_dump_json())


@dataclass(frozen=True)
class EvidenceFileCache:
    """The cache of one trial. `path` is that of `evidence.json`."""

    path: Path
    conditions: Conditions

    def draw(self) -> Draw | None:
        """Return the draw of a judging under these conditions which was cut short."""
        begun = self._begun()
        return begun.draw if begun else None

    def begin(self, tests: tuple[TestId, ...], draw: Draw) -> ArmFile:
        begun = ArmsBegun(conditions=self.conditions, tests=tests, draw=draw).summed()
        if self._begun() != begun:
            write_whole(self._arms, begun.model_dump_json() + "\n")
            return ArmFile(self._arms, {}, 0.0)
        ended = read_lines(self._arms, EndedArm)
        seconds = max((line.seconds for line in ended), default=0.0)
        return ArmFile(self._arms, {line.key: line.arm for line in ended}, seconds)

    def ended_arms(self) -> int:
        """Return how many arms a judging had run that was cut short and goes on from there."""
        if self._begun() is None or self._evidence():
            return 0
        return len(read_lines(self._arms, EndedArm))

    @property
    def _arms(self) -> Path:
        return self.path.with_name("arms.jsonl")

    def _begun(self) -> ArmsBegun | None:
        """Return None where nothing was begun that these conditions allow to go on with."""
        try:
            with self._arms.open("rb") as file:
                begun = ArmsBegun.model_validate_json(file.readline())
        except (OSError, ValueError):
            return None
        return begun if begun.conditions == self.conditions else None

    def read(self) -> Evidence | None:
        """Return what is kept under these conditions; its `arms.jsonl` goes if the end of `keep` was cut short."""
        found = self._evidence()
        if self._has_all_of(self._begun(), found):
            self._arms.unlink()
        return found

    def _evidence(self) -> Evidence | None:
        found = read_evidence(self.path)
        return found.evidence if found and found.conditions == self.conditions else None

    def _has_all_of(self, begun: ArmsBegun | None, evidence: Evidence | None) -> bool:
        """Return whether it is the evidence of this judging, and not of an earlier one."""
        return bool(begun and evidence and (begun.tests, begun.draw) == (evidence.tests, evidence.draw))

    def last_draw(self) -> Draw | None:
        """Return what chance decided when the arms ran last, under whatever conditions.

        Returns:
            None where that isn't known.
        """
        found = read_evidence(self.path)
        return found.evidence.draw if found else None

    def missing(self) -> str:
        """Return why nothing can be read, in words; empty where it can."""
        found = read_evidence(self.path)
        if found is None:
            return _not_kept(self.path)
        then, now = found.conditions.model_dump(), self.conditions.model_dump()
        changed = [name.replace("_", " ") for name in now if then[name] != now[name]]
        return f"since its arms ran, this has changed: {', '.join(changed)}" if changed else ""

    def keep(self, evidence: Evidence) -> None:
        """Keep evidence, unless arms are missing or show nothing: then all of them are to be run again."""
        if decide(judge_mutation(evidence)) is not Verdict.UNSCORED:
            file = EvidenceFile(conditions=self.conditions, evidence=_without_output(evidence))
            write_whole(self.path, file.to_json())
        self._arms.unlink(missing_ok=True)


def _not_kept(path: Path) -> str:
    return f"{path.name} is damaged" if is_there(path) else "what its arms showed was not kept"


def _without_output(evidence: Evidence) -> Evidence:
    return replace(evidence, arms={key: _quiet(arm) for key, arm in evidence.arms.items()})


def _quiet(arm: Arm) -> Arm:
    return replace(arm, results=tuple(map(_without_message, arm.results)))


def _without_message(result: TestResult) -> TestResult:
    return result.model_copy(update={"message": ""})


class ArmQuota:
    """Bytes of arms' output that a run may keep; what an earlier start has kept counts. `limit` None: no limit.

    `pattern` finds the kept files below `directory`.
    """

    def __init__(self, directory: Path, limit: int | None, pattern: str = "trials/*/*/*/*/arms/*/*") -> None:
        self._directory = directory
        self._limit = limit
        self._pattern = pattern
        self._used: int | None = None

    def take(self, size: int) -> bool:
        """Return whether so many bytes more may be kept; they count from now on if so."""
        if self._limit is None:
            return True
        if self._used is None:
            kept = self._directory.glob(self._pattern)
            self._used = sum(path.stat().st_size for path in kept if path.is_file())
        if self._used + size > self._limit:
            return False
        self._used += size
        return True

    def give_back(self, size: int) -> None:
        """Note that so many kept bytes are gone."""
        if self._used is not None:
            self._used -= size


def remove_arm(place: Path, quota: ArmQuota | None) -> None:
    """Remove what an arm has left, also before it runs again: old output would be taken for that of new facts."""
    if place.is_dir():
        size = sum(path.stat().st_size for path in place.iterdir() if path.is_file())
        shutil.rmtree(place)
        if quota:
            quota.give_back(size)


def keep_arm(folder: Path, key: ArmKey, result: JobResult, quota: ArmQuota | None = None) -> bool:
    """Keep all that one arm printed and reported; False where the quota left no room and only its facts are kept."""
    place = folder / str(key)
    remove_arm(place, quota)
    place.mkdir(parents=True)
    files = {path: data for path, data in result.outputs.items() if "/" not in path and not path.startswith(".")}
    files["output.txt"] = result.log
    is_kept = quota is None or quota.take(sum(map(len, files.values())))
    for path, data in files.items() if is_kept else ():
        with naming(place / path):
            (place / path).write_bytes(data)
    facts: dict[str, object] = {
        "exit_status": result.exit_status,
        "timed_out": result.timed_out,
        "seconds": round(result.seconds, 3),
        "out_of_memory": result.out_of_memory,
    }
    write_whole(
        place / "arm.json", json.dumps(facts if is_kept else {**facts, "output": "over quota"}, indent=2) + "\n"
    )
    return is_kept
