"""Runs of a repository's own test command on one variant, as somebody starts it who works there."""

from collections.abc import Mapping
from dataclasses import replace

from harness.judging.testing.arm_job import TestRun, test_job
from harness.judging.verify.arms import ArmContext, Suite, check_not_kept_waiting
from harness.judging.verify.evidence import ArmLog
from harness.judging.verify.gathering import EXISTING_TIMES
from harness.judging.verify.own_runs.reasons import OUT_OF_TIME
from harness.sandbox.protocol import JobResult, LimitReached
from harness.specs.errors import Starved
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind

_PLAIN = ("env", "-u", "TESTWRIGHT_REPORT_DIR", "-u", "TESTWRIGHT_TEST_SECONDS")
"""As agents and developers run it: tests see whether there is a report, and how long each may take."""
_KILLED = 137


class Runs:
    """A runner of a repository's test command on one variant, which keeps each run as it ends.

    `code` are the variant's files that the tree has in another form, `env` variables of its runs. `command` takes the
    place of the repository's.
    """

    def __init__(
        self,
        context: ArmContext,
        task: Task,
        log: ArmLog,
        code: Mapping[str, bytes],
        kind: VariantKind = VariantKind.BASELINE,
        env: Mapping[str, str] | None = None,
        command: str = "",
    ) -> None:
        self._context, self._task, self._log, self.code, self._kind = context, task, log, code, kind
        self._env, self._command = env or {}, {"TESTWRIGHT_TEST_COMMAND": command} if command else {}

    def on(self, kind: VariantKind, code: Mapping[str, bytes], env: Mapping[str, str], command: str = "") -> "Runs":
        """Return a runner on another variant."""
        return Runs(self._context, self._task, self._log, code, kind, env, command)

    async def run(self, key: ArmKey, suite: Suite, arguments: tuple[str, ...], times: float = EXISTING_TIMES) -> Arm:
        """Return how the test command ends with these arguments, within so many times as long as an arm may take."""
        if known := self._log.known.get(key):
            return known
        self._context.observer.planned(1)
        arm = await self._ended(key, suite, arguments, times * self._task.file.limits.arm_seconds)
        self._log.add(key, arm, self._context.limit.used)
        self._context.observer.ended(key, arm)
        return arm

    async def _ended(self, key: ArmKey, suite: Suite, arguments: tuple[str, ...], seconds: float) -> Arm:
        run = TestRun(
            tests=(),
            files={**suite.files, **self.code},
            executable=suite.executable,
            removed=suite.removed,
            prove=(),
            seconds=seconds,
            env=self._env,
            whole=arguments,
        )
        job = test_job(self._task.repo, self._context.image, run)
        try:
            job = replace(job, argv=(*_PLAIN, *job.argv), env={**job.env, **self._command})
            result = await self._context.run_arm(job, own_user=False, hides=False)
            if result.was_terminated:  # perhaps by somebody on the engine's machine; a second time it counts
                result = await self._context.run_arm(job, own_user=False, hides=False)
        except LimitReached:
            return _arm(self._kind, ArmStatus.OVER_LIMIT, _KILLED)
        self._context.observer.printed(key, result)
        exit_status = OUT_OF_TIME if result.timed_out else result.exit_status
        return replace(_arm(self._kind, self._status(result), exit_status), seconds=result.seconds)

    def _status(self, result: JobResult) -> ArmStatus:
        """Return how a run ended: one that others kept waiting shows nothing."""
        if result.timed_out:
            return ArmStatus.TIMED_OUT
        try:
            check_not_kept_waiting(result, self._task.repo.limits.test_seconds)
        except Starved:
            return ArmStatus.TIMED_OUT
        return ArmStatus.FINISHED


def _arm(kind: VariantKind, status: ArmStatus, exit_status: int) -> Arm:
    return Arm(kind, status, exit_status, (), 0.0)
