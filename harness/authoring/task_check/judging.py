"""Judges one submission of a check, with the same verifier as everywhere."""

from dataclasses import replace

from harness.authoring.task_check.subject import Subject
from harness.sandbox.protocol import JobResult
from harness.specs.variants import ArmKey
from harness.submission.extraction import Submission
from harness.verify.judgement import Judgement
from harness.verify.verification import verify


async def judge(subject: Subject, submission: Submission) -> Judgement:
    """Notes in `subject.slowest` how long arms took. Raises SandboxLost where a container was lost."""

    def keep(key: ArmKey, result: JobResult) -> None:
        subject.slowest[str(key)] = max(result.seconds, subject.slowest.get(str(key), 0.0))

    return await verify(subject.task, submission, replace(subject.containers, keep=keep))
