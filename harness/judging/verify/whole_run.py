"""The repository's own run of its tests, with a submission's patch: as somebody starts it who works there.

Arms run tests by their names, and read reports. What a patch does to the rest shows in a run of everything: a red
test that no text shows, a helper or a program that other tests need and that no longer works, an error that belongs
to no test. Here the exit status alone counts: 0 without the patch and not with it. Nothing that a run prints is
believed, and a run that says 0 shows nothing.
"""

from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from harness.judging.languages.protocol import Language, WholeRun
from harness.judging.languages.toolchain import JobLimit
from harness.judging.testing.arm_job import TestRun, test_job
from harness.judging.verify.arms import ArmContext, Suite, check_not_kept_waiting
from harness.judging.verify.control import is_about_to_be_resolved
from harness.judging.verify.evidence import WHOLE_AFTER, WHOLE_BEFORE, ArmLog, Evidence, UnkeptArms
from harness.judging.verify.gathering import EXISTING_TIMES, ArmPlan
from harness.judging.verify.mutation import WHOLE_RUNS, is_red
from harness.judging.verify.suite_reader import read_apart
from harness.sandbox.deadline import seconds_per_test
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import JobResult, LimitReached
from harness.specs.errors import Starved
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmKey, ArmName, ArmStatus, VariantKind

_PLAIN = ("env", "-u", "TESTWRIGHT_REPORT_DIR")
"""As agents and developers run it: a run script may let pass in a report what it otherwise doesn't."""
_KILLED = 137


async def whole_run(
    context: ArmContext, task: Task, plan: ArmPlan, evidence: Evidence, language: Language, log: ArmLog | None = None
) -> Evidence:
    """Return the evidence with a run of all tests at the baseline, where the submission is about to be resolved.

    Where that isn't green it is repeated, and run without the patch. Where the patch has nothing but test files, only
    those run, and so in any case in a language whose files are by themselves (`Language.whole_run`).

    Args:
        context: Where arms run.
        task: The task.
        plan: What ran before. A stage has no such run: its tests need an application beside them.
        evidence: What that came to.
        language: The repository's language.
        log: Keeps each arm as it ends, and knows those of an earlier start; None keeps nothing.

    Raises:
        SandboxLost: An arm was lost again and again; that says nothing of the submission.
    """
    on_stage = not any(source.kind is VariantKind.REWRITTEN for source in plan.sources)
    if WHOLE_AFTER in evidence.arms or on_stage or language.whole_run is WholeRun.NONE:
        return evidence
    if not is_about_to_be_resolved(task, plan, evidence):
        return evidence
    runs = _Runs(replace(context, limit=JobLimit()), task, log or UnkeptArms())
    with_patch, without = await _arguments(context, plan.suite, language)
    arms: dict[ArmName, Arm] = {}
    after, before = WHOLE_AFTER, WHOLE_BEFORE
    for _ in range(WHOLE_RUNS):
        arms[after] = await runs.run(after, plan.suite, with_patch)
        if not is_red(arms[after]) or without is None:
            break
        if after != WHOLE_AFTER:
            arms[before] = await runs.run(before, Suite((), {}), without)
            if is_red(arms[before]):
                break
            before = before.again
        after = after.again
    return replace(evidence, arms={**evidence.arms, **arms})


async def _arguments(
    context: ArmContext, suite: Suite, language: Language
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Return the files to run with the patch and without it; () for all tests, None where nothing can run.

    Where all of them are new, a neighbour stands for them without the patch: it shows that the run script can run a
    file by itself.
    """
    discovery, touched = language.discovery, {*suite.files, *suite.removed}
    if language.whole_run is WholeRun.ALL and not all(map(discovery.is_test_file, touched)):
        return (), ()
    listed = {test.file for test in suite.tests}
    texts = {path: text for path, text in suite.files.items() if path not in listed and discovery.is_test_file(path)}
    found = await read_apart(lambda: {path for path, text in texts.items() if discovery.discover(text, path).tests})
    there = {path for path in await GitTree(context.image.tree).entries() if discovery.is_test_file(path)}
    before = sorted((listed | found) & there) or sorted(there, key=partial(_distance, min(listed)))[:1]
    return tuple(sorted(listed | found)), tuple(before) or None


def _distance(file: str, other: str) -> tuple[bool, str]:
    return PurePosixPath(file).parent != PurePosixPath(other).parent, other


class _Runs:
    """A runner of a repository's test command, which keeps each run as it ends."""

    def __init__(self, context: ArmContext, task: Task, log: ArmLog) -> None:
        self._context, self._task, self._log = context, task, log

    async def run(self, key: ArmKey, suite: Suite, arguments: tuple[str, ...]) -> Arm:
        """Return how the test command ends with these arguments."""
        if known := self._log.known.get(key):
            return known
        self._context.observer.planned(1)
        arm = await self._ended(key, suite, arguments)
        self._log.add(key, arm, self._context.limit.used)
        self._context.observer.ended(key, arm)
        return arm

    async def _ended(self, key: ArmKey, suite: Suite, arguments: tuple[str, ...]) -> Arm:
        run = TestRun(
            tests=(),
            files=suite.files,
            executable=suite.executable,
            removed=suite.removed,
            prove=(),
            seconds=EXISTING_TIMES * self._task.file.limits.arm_seconds,
            whole=arguments,
        )
        job = test_job(self._task.repo, self._context.image, run)
        try:
            result = await self._context.run_arm(replace(job, argv=(*_PLAIN, *job.argv)), own_user=False)
        except LimitReached:
            return _arm(ArmStatus.OVER_LIMIT, _KILLED)
        self._context.observer.printed(key, result)
        return replace(_arm(self._status(result), result.exit_status), seconds=result.seconds)

    def _status(self, result: JobResult) -> ArmStatus:
        """Return how a run ended: one that others may have ended, or kept waiting, shows nothing."""
        if result.timed_out or result.was_terminated:
            return ArmStatus.TIMED_OUT
        try:
            check_not_kept_waiting(result, seconds_per_test(self._task.repo.limits.test_seconds))
        except Starved:
            return ArmStatus.TIMED_OUT
        return ArmStatus.FINISHED


def _arm(status: ArmStatus, exit_status: int) -> Arm:
    return Arm(VariantKind.BASELINE, status, exit_status, (), 0.0)
