"""Our verdict as Harbor's reward, reached as `testwright verify` reaches it, on this machine."""

from harbor.models.verifier.result import VerifierResult
from harbor.verifier.base import BaseVerifier

from harness.plugins.frameworks.harbor_environment import TestwrightEnvironment
from harness.runs.records import MANIFEST, PATCH
from harness.runs.submissions import Bench, Case
from harness.specs.errors import InfrastructureError, UserError
from harness.specs.reasons import Verdict


class TestwrightVerifier(BaseVerifier):
    """Verifier of Harbor that kills the agent's sandbox, reads the submission and judges it in fresh containers.

    The trial's folder `verifier` gets the submission and its verdict.
    """

    async def verify(self) -> VerifierResult:
        """Return the reward 1 for a submission that is resolved, else 0.

        Raises:
            UserError: The agent works in another environment, whose processes we can't end.
            InfrastructureError: There is no verdict: the trial has no reward then.
        """
        if not isinstance(self.environment, TestwrightEnvironment):
            raise UserError("testwright judges what was made in its own sandbox: harbor run -c job.yaml")
        place, folder = self.environment.place, self.trial_paths.verifier_dir
        submission = await place.hand_in()
        (folder / PATCH).write_bytes(submission.patch)
        (folder / MANIFEST).write_bytes(submission.manifest)
        record = (await Bench(place.session).judge(Case(place.task.id, place.task, submission))).record
        (folder / "verdict.json").write_text(record.model_dump_json(indent=2) + "\n")
        if record.verdict is Verdict.UNSCORED:
            raise InfrastructureError("; ".join(reason.words for reason in record.reasons))
        return VerifierResult(rewards={"reward": 1.0 if record.verdict is Verdict.RESOLVED else 0.0})
