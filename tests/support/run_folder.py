"""A run's directory as a run leaves it, written by the stores themselves."""

from pathlib import Path

from harness.judging.submission.extraction import Submission
from harness.judging.verify.evidence import AT_BASELINE, Evidence, listed_arm
from harness.judging.verify.rubric_check import CriterionResult
from harness.judging.verify.verdict import (
    ManifestStage,
    MutationStage,
    RubricStage,
    Stages,
    StageStatus,
    VerdictRecord,
)
from harness.runs.additions import AskedRun
from harness.runs.evidence_file import Conditions, EvidenceFile
from harness.runs.finished_work import AgentFile
from harness.runs.plan import RunConfig
from harness.runs.store import RunStore
from harness.runs.trial_store import TrialFile, TrialStore, UsageFile
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.rubric import GradedBy, Importance
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.usage import Usage
from harness.specs.variants import Arm, ArmStatus, VariantKind

TEST = TestId("tests/test_a.py", "test_adds")


def run_folder(directory: Path) -> Path:
    """An empty run."""
    store = RunStore(directory)
    store.describe(AskedRun(RunConfig(), [], "docker"))
    store.close()
    return directory


def begun(run: Path, task: str, scaffold: str, model: str = "", attempt: int = 1) -> TrialStore:
    """A trial that has begun and no more."""
    store = TrialStore(run / "trials" / task / scaffold / (model.replace("/", "-") or "none") / str(attempt))
    store.begin(
        TrialFile(identity="0", task=task, scaffold=scaffold, model=model, attempt=attempt, isolation="docker")
    )
    return store


def worked(store: TrialStore, ending: str = "submitted") -> TrialStore:
    """Its agent has handed in, and was paid."""
    usage = Usage(calls=3, input=100, output=20, cost_usd=0.25)
    agent = AgentFile(ending=ending, steps=3, usage=usage, seconds=9.0, counted_seconds=7.5)
    store.keep_submission(Submission(b"diff", b"[]", ""), agent)
    store.keep_usage(UsageFile(agent=usage, agent_seconds=9.0, verify_seconds=4.0))
    return store


def judged(store: TrialStore, *codes: ReasonCode, record: VerdictRecord | None = None) -> TrialStore:
    """It has a verdict: resolved without a reason."""
    path = store.directory / "verdict.json"
    path.write_text((record or verdict(store, *codes)).to_json())
    return store


def verdict(store: TrialStore, *codes: ReasonCode) -> VerdictRecord:
    """One criterion that a probe has decided, and one that nothing could decide."""
    file = store.trial()
    assert file is not None
    met = CriterionResult(
        id="1.1", axis=1, importance=Importance.MUST, met=not codes, decided_by=GradedBy.PROBE, words="a probe"
    )
    undecided = CriterionResult(
        id="2.1", axis=2, importance=Importance.NICE, met=None, decided_by=None, words="nobody was asked"
    )
    passed = StageStatus.PASSED
    return VerdictRecord(
        task=file.task,
        task_digest="0",
        image_digest="0",
        protocol_version=1,
        isolation="docker",
        verdict=codes[0].verdict if codes else Verdict.RESOLVED,
        reasons=tuple(Reason(code=code, stage=Stage.RUBRIC, subject="1.1", words="because") for code in codes),
        stages=Stages(
            manifest=ManifestStage(status=passed, tests=(str(TEST),)),
            mutation=MutationStage(status=passed),
            rubric=RubricStage(status=StageStatus.FAILED if codes else passed, criteria=(met, undecided)),
        ),
    )


def evidenced(store: TrialStore) -> TrialStore:
    """Its arms were kept: the test passes on the baseline and notices the removal."""
    passed = TestResult(test=TEST, outcome=Outcome.PASSED, cases=2, seconds=0.5)
    killed = TestResult(test=TEST, outcome=Outcome.FAILED, quality=Quality.ASSERTION, cases=2, seconds=0.5)
    arms = {
        AT_BASELINE: Arm(VariantKind.BASELINE, ArmStatus.FINISHED, 0, (passed,), 1.5),
        listed_arm("removal-1"): Arm(VariantKind.REMOVAL, ArmStatus.FINISHED, 1, (killed,), 1.5),
    }
    conditions = Conditions(task="0", image="0", isolation="docker", patch="0", manifest="0")
    file = EvidenceFile(conditions=conditions, evidence=Evidence((TEST,), arms))
    (store.directory / "evidence.json").write_text(file.model_dump_json())
    return store
