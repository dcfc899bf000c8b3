"""A submission's verdict as a score of Inspect, reached as `testwright verify` reaches it."""

from typing import Any
from uuid import uuid4

from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState
from inspect_ai.util import sandbox

from harness.judging.submission.extraction import Submission
from harness.judging.verify.verdict import VerdictRecord
from harness.plugins.frameworks.inspect_sandbox import SandboxConfig, TestwrightSandbox
from harness.results.report.tables import printable
from harness.runs.engine_session import EngineSession, engine_session
from harness.runs.judges import judge_for
from harness.runs.submissions import Bench, Case, JudgingOrder
from harness.specs.catalog import Catalog
from harness.specs.errors import InfrastructureError
from harness.specs.reasons import Verdict
from harness.specs.task import Task

_SUBMISSION = "testwright_submission"
"""The key of a sample's store under which the submission is."""


def score_with(judge: str | None) -> Scorer:
    """Return a scorer that kills the agent's sandbox, reads the submission and judges it in fresh containers.

    Once it has done that the sample's store has the submission, which is then judged again without a sandbox.
    """

    async def score(state: TaskState, target: Target) -> Score:
        if kept := state.store.get(_SUBMISSION):
            config = SandboxConfig.model_validate({name: state.metadata[name] for name in SandboxConfig.model_fields})
            patch, manifest = (kept[name].encode("latin-1") for name in ("patch", "manifest"))
            submission = Submission(patch, manifest, kept["refusal"])
            async with engine_session(config.engine, uuid4().hex) as session:
                return _score(await _judged(session, config.load(), submission, judge))
        place = sandbox().as_type(TestwrightSandbox).place
        submission = await place.hand_in()
        state.store.set(_SUBMISSION, _kept(submission))
        return _score(await _judged(place.session, place.task, submission, judge))

    return score


async def _judged(session: EngineSession, task: Task, submission: Submission, judge: str | None) -> VerdictRecord:
    named = judge_for(Catalog(), judge, cached=True) if judge else None
    return (await Bench(session, order=JudgingOrder(named)).judge(Case(task.id, task, submission))).record


def _kept(submission: Submission) -> dict[str, str]:
    """Return it as text that JSON can hold and that gives each byte back."""
    return {
        "patch": submission.patch.decode("latin-1"),
        "manifest": submission.manifest.decode("latin-1"),
        "refusal": submission.refusal,
    }


def _score(record: VerdictRecord) -> Score:
    """Return a verdict as a score.

    Raises:
        InfrastructureError: There is no verdict: the sample is an error then, and counts nowhere.
    """
    explanation = "; ".join(f"{reason.code}: {printable(reason.words)}" for reason in record.reasons)
    if record.verdict is Verdict.UNSCORED:
        raise InfrastructureError(explanation)
    told: dict[str, Any] = record.model_dump(mode="json")
    return Score(
        value=1.0 if record.verdict is Verdict.RESOLVED else 0.0,
        answer=record.verdict.value,
        explanation=explanation or record.verdict.value,
        metadata=told,
    )
