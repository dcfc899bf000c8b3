"""The arms' results of a trial, kept so that it can be judged again without running them."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from harness import PROTOCOL_VERSION
from harness.runs.records import read_record, write_whole
from harness.specs.loading import FileModel
from harness.specs.reasons import Verdict
from harness.specs.results import TestResult
from harness.specs.task import Task
from harness.specs.variants import Arm
from harness.submission.extraction import Submission
from harness.verify.arms import ArmContext
from harness.verify.draw import Draw
from harness.verify.evidence import Evidence
from harness.verify.mutation import judge_mutation
from harness.verify.verdict import decide


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
    """`evidence.json`: every arm's results, without what tests printed, and what chance decided."""

    schema_version: Literal[3] = 3
    conditions: Conditions
    evidence: Evidence


@dataclass(frozen=True)
class EvidenceFileCache:
    """The cache of one trial."""

    path: Path
    conditions: Conditions

    def draw(self) -> Draw | None:
        return None

    def read(self) -> Evidence | None:
        found = read_record(self.path, EvidenceFile)
        return found.evidence if found and found.conditions == self.conditions else None

    def last_draw(self) -> Draw | None:
        """What chance decided when the arms ran last, under whatever conditions; None where that isn't known."""
        found = read_record(self.path, EvidenceFile)
        return found.evidence.draw if found else None

    def missing(self) -> str:
        """Why nothing can be read, in words; empty where it can."""
        found = read_record(self.path, EvidenceFile)
        if found is None:
            return "what its arms showed was not kept"
        then, now = found.conditions.model_dump(), self.conditions.model_dump()
        changed = [name.replace("_", " ") for name in now if then[name] != now[name]]
        return f"since its arms ran, this has changed: {', '.join(changed)}" if changed else ""

    def keep(self, evidence: Evidence) -> None:
        """Unless arms were lost: those are to be run again."""
        if decide(judge_mutation(evidence)) is not Verdict.UNSCORED:
            file = EvidenceFile(conditions=self.conditions, evidence=_without_output(evidence))
            write_whole(self.path, file.model_dump_json() + "\n")


def _without_output(evidence: Evidence) -> Evidence:
    return replace(evidence, arms={key: _quiet(arm) for key, arm in evidence.arms.items()})


def _quiet(arm: Arm) -> Arm:
    return replace(arm, results=tuple(map(_without_message, arm.results)))


def _without_message(result: TestResult) -> TestResult:
    return result.model_copy(update={"message": ""})
