"""Results as typed rows: a trial, a criterion of a trial, a test in an arm.

Tables, JSON, CSV and whatever else tells results read these rows and never the files behind them.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from harness.judging.verify.verdict import StageStatus, VerdictRecord
from harness.runs.attempts import AttemptRecord
from harness.runs.trial_store import UsageFile
from harness.specs.model_file import called
from harness.specs.reasons import Note, Reason, Verdict
from harness.specs.rubric import GradedBy, Importance
from harness.specs.test_results import Outcome, Quality
from harness.specs.tracks import BEHAVIOUR
from harness.specs.variants import ArmStatus, Role, VariantKind

Cell = str | int | float | bool | None
"""A signal's value for one trial."""


class TrialState(StrEnum):
    """States of a trial."""

    JUDGED = "judged"
    """It has a verdict, whichever."""
    AGENT_DONE = "agent-done"
    """The submission is there and not judged yet."""
    ENDED = "ended"
    """It ended without a verdict; its reason says why."""
    BEGUN = "begun"
    DAMAGED = "damaged"
    """A file of it can't be read."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TrialRow(_Row):
    """One trial. `trial` is its place TASK/SCAFFOLD/MODEL/ATTEMPT; `model` is empty for scaffolds without one.

    `model_name` is what tables and exports call the model: a model file's name without its path. `repository` is
    the upstream of the task's, empty where the run doesn't say. `track` is the task's. `verdict` is None where there
    is none; then `problem` says why in a sentence. From `ending` to `format_errors` are facts about the agent;
    `agent_seconds` don't count what it waited for its provider, `failed_requests` are those of all tries, also where
    no try came to an end. `attempts` are those of all starts, in the order of their ends. `record` is the whole
    verdict, `published` the published verifier's where both were asked for. `signals` are what plugins tell beside
    the verdict, by their names (`harness/results/signals.py`).
    """

    trial: str
    task: str
    scaffold: str
    model: str
    model_name: str = ""
    attempt: int
    repository: str = ""
    track: str = BEHAVIOUR
    isolation: str = ""
    state: TrialState
    verdict: Verdict | None = None
    reasons: tuple[Reason, ...] = ()
    notes: tuple[Note, ...] = ()
    ending: str = ""
    ending_message: str = ""
    steps: int | None = None
    agent_seconds: float | None = None
    waiting_seconds: float | None = None
    failed_requests: int | None = None
    format_errors: int | None = None
    usage: UsageFile | None = None
    problem: str = ""
    remarks: tuple[str, ...] = ()
    attempts: tuple[AttemptRecord, ...] = ()
    record: VerdictRecord | None = None
    published: VerdictRecord | None = None
    signals: Mapping[str, Cell] = {}

    @property
    def label(self) -> str:
        """The trial in a line of text: task, scaffold, model and number."""
        return f"{self.task} {self.scaffold}{f' {called(self.model)}' if self.model else ''} #{self.attempt}"

    @property
    def is_scored(self) -> bool:
        """Return whether it counts in rates."""
        return self.verdict not in (None, Verdict.UNSCORED)

    @property
    def stages(self) -> Mapping[str, StageStatus]:
        """Stage -> status, for a trial that has a verdict."""
        if self.record is None:
            return {}
        stages = self.record.stages
        return {
            "manifest": stages.manifest.status,
            "mutation": stages.mutation.status,
            "rubric": stages.rubric.status,
        }


class CriterionRow(_Row):
    """One criterion of one judged trial. `met` is None where nothing could decide it.

    `judge` is a judge's answer as met or unmet; `agrees` says whether it is what probes or code decided.
    """

    trial: str
    task: str
    scaffold: str
    model: str
    attempt: int
    criterion: str
    axis: int
    importance: Importance
    met: bool | None
    decided_by: GradedBy | None
    judge: bool | None
    agrees: bool | None
    explanation: str


class ArmTestRow(NamedTuple):
    """One test in one arm. `seconds` are the test's own; `killed` says that it noticed the variant.

    A run has a hundred thousand of them, hence no model: the file that they come from was checked whole.
    """

    trial: str
    task: str
    scaffold: str
    model: str
    attempt: int
    arm: str
    role: Role
    variant: str
    kind: VariantKind
    repetition: int
    part: int
    arm_status: ArmStatus
    arm_seconds: float
    test: str
    outcome: Outcome
    quality: Quality | None
    killed: bool
    cases: int
    seconds: float


def is_below(row: TrialRow, prefix: str) -> bool:
    """Return whether a trial is at `prefix` or below it."""
    wanted = prefix.rstrip("/")
    return row.trial == wanted or row.trial.startswith(f"{wanted}/")
