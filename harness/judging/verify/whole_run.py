"""The repository's own run of its tests, with a submission's patch: as somebody starts it who works there.

Arms run tests by their names, and read reports. What a patch does to the rest shows in a run of everything: a red
test that no text shows, a helper or a program that other tests need and that no longer works, an error that belongs
to no test. Here the exit status alone counts: 0 without the patch and not with it. Nothing that a run prints is
believed, and a run that says 0 shows nothing.

Where the baseline isn't the tree that agents see, as for a bug, the baseline's files are put in place.

Where the run loads all files before it runs any test, a new file is also asked for: with a text that can't be loaded
in its place the run must end by that, or it leaves the file out and the tests in it serve nobody.
"""

from collections.abc import Mapping
from dataclasses import replace

from harness.judging.languages.protocol import Language, Unloadable, WholeRun
from harness.judging.languages.toolchain import JobLimit
from harness.judging.languages.variant_source import VariantSource
from harness.judging.testing.arm_job import TestRun, test_job
from harness.judging.verify.arms import ArmContext, Suite, check_not_kept_waiting
from harness.judging.verify.control import is_about_to_be_resolved
from harness.judging.verify.evidence import (
    WHOLE_AFTER,
    WHOLE_BEFORE,
    WHOLE_UNLOADABLE,
    ArmLog,
    Evidence,
    UnkeptArms,
)
from harness.judging.verify.gathering import EXISTING_TIMES, ArmPlan
from harness.judging.verify.mutation import OUT_OF_TIME, WHOLE_RUNS, is_red
from harness.judging.verify.noticed_mutants import Order, run_on_mutants
from harness.judging.verify.submitted_files import SubmittedFiles
from harness.judging.verify.suite_reader import read_apart
from harness.sandbox.git_tree import Entry, GitTree
from harness.sandbox.protocol import JobResult, LimitReached
from harness.specs.errors import Starved
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import Arm, ArmKey, ArmName, ArmStatus, Role, VariantKind

_PLAIN = ("env", "-u", "TESTWRIGHT_REPORT_DIR", "-u", "TESTWRIGHT_TEST_SECONDS")
"""As agents and developers run it: tests see whether there is a report, and how long each may take."""
_KILLED = 137
ENOUGH_FILES = 5
"""Listed files that the run is asked for, and more where these notice less than all do; honest work has three."""
LOADING_TIMES = 0.5
"""A run that is to end before any test may take so much of the time of an arm; one that takes longer runs tests."""


async def whole_run(
    context: ArmContext, task: Task, plan: ArmPlan, evidence: Evidence, language: Language, log: ArmLog | None = None
) -> Evidence:
    """Return the evidence with a run of all tests at the baseline, where the submission is about to be resolved.

    Where that isn't green it is repeated, and run without the patch. Where the patch has nothing but test files, only
    those run, and so in any case in a language whose files are by themselves (`Language.whole_run`). Where that is no
    reason, runs of all tests follow in which one listed file can't be loaded (`Language.unloadable`), and then the
    listed files on mutants that their tests notice (noticed_mutants.py): alone, and with all other test files beside
    them (`Language.env_among_others`). Some small ones of these run as well, first at the baseline; or all of them,
    where the patch has more than test files.

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
    tree = GitTree(context.image.tree)
    entries = await tree.entries()
    own = await _own_code(tree, entries, plan.sources[0])
    runs = Runs(replace(context, limit=JobLimit()), task, log or UnkeptArms(), own)
    files = SubmittedFiles(plan.suite, language, frozenset(entries))
    with_patch, without = await _arguments(files)
    arms = await _with_and_without(runs, plan.suite, with_patch, without)
    evidence = replace(evidence, arms={**evidence.arms, **arms})
    if language.unloadable is not None and is_about_to_be_resolved(task, plan, evidence):
        loading = await _unloadable(files, _asked(evidence), language.unloadable, runs)
        evidence = replace(evidence, arms={**evidence.arms, **loading})
    if not is_about_to_be_resolved(task, plan, evidence):
        return evidence
    envs = await _envs_among_others(files, tree, entries) if with_patch else ({},)
    if len(envs) > 1:
        beside = runs.on(VariantKind.BASELINE, own, envs[-1])
        arms = await _with_and_without(beside, plan.suite, (), (), 1)
        evidence = replace(evidence, arms={**evidence.arms, **arms})
        if not is_about_to_be_resolved(task, plan, evidence):
            return evidence
    among_others = language.env_among_others is not None
    orders = [Order(Role.WHOLE_MUTANT, evidence.tests, evidence.listed_files, least=1 if among_others else 2)]
    # What is red each time shows nothing on a mutant.
    if among_others and not all(is_red(arm) for key, arm in arms.items() if key.role is Role.WHOLE_AFTER):
        orders.append(Order(Role.EVERYTHING_MUTANT, _loaded(evidence, language), (), envs))
    arms = {}
    for order in orders:

        async def run(key: ArmKey, mutant: VariantSource, order: Order = order) -> Arm:
            on_it = runs.on(mutant.kind, await _own_code(tree, entries, mutant), order.env(key))
            return await on_it.run(key, plan.suite, order.arguments)

        arms |= await run_on_mutants(plan.sources, evidence, order, run)
    return replace(evidence, arms={**evidence.arms, **arms})


async def _envs_among_others(
    files: SubmittedFiles, tree: GitTree, entries: Mapping[str, Entry]
) -> tuple[Mapping[str, str], ...]:
    """Return the variables of runs of the listed files among all others: none of these runs, and some small ones do.

    There is one kind where the language can't leave out any, or where nothing is small.
    """
    among_others = files.language.env_among_others
    found = [among_others(each) for each in await files.left_out(tree, entries)] if among_others else []
    return tuple(env for number, env in enumerate(found) if env not in found[:number])


async def _with_and_without(
    runs: "Runs", suite: Suite, with_patch: tuple[str, ...], without: tuple[str, ...] | None, part: int = 0
) -> dict[ArmName, Arm]:
    """Return runs at the baseline: one with the patch, and more of both kinds where that is red.

    `part` is 1 for runs of the listed files among others, else 0.
    """
    arms: dict[ArmName, Arm] = {}
    first, before = (replace(key, part=part) for key in (WHOLE_AFTER, WHOLE_BEFORE))
    after = first
    for _ in range(WHOLE_RUNS):
        arms[after] = await runs.run(after, suite, with_patch)
        if not is_red(arms[after]) or without is None:
            break
        if after != first:
            arms[before] = await runs.run(before, Suite((), {}), without)
            if is_red(arms[before]):
                break
            before = before.again
        after = after.again
    return arms


def _asked(evidence: Evidence) -> dict[int, str]:
    """Return the listed files that the run is asked for, each under its number among all of them.

    Those come first whose tests notice most that others before them don't: `ENOUGH_FILES`, or more where something is
    noticed by none of these.
    """
    left = dict(enumerate(evidence.listed_files, 1))
    noticed = {part: set[str]() for part in left}
    for part, path in left.items():
        tests = [test for test in evidence.tests if test.file == path]
        noticed[part] = {key.variant for key in evidence.listed if any(evidence.kills(key, test) for test in tests)}
    chosen: dict[int, str] = {}
    seen: set[str] = set()
    while left:
        best = max(left, key=lambda part: (len(noticed[part] - seen), -part))
        if len(chosen) >= ENOUGH_FILES and not noticed[best] - seen:
            break
        chosen[best] = left.pop(best)
        seen |= noticed[best]
    return dict(sorted(chosen.items()))


def _loaded(evidence: Evidence, language: Language) -> tuple[TestId, ...]:
    """Return the listed tests whose files a run of all tests is known to load: it may leave out a folder."""
    if language.unloadable is None:
        return evidence.tests
    loaded = set[str]()
    for part, path in enumerate(evidence.listed_files, start=1):
        arm = evidence.arms.get(replace(WHOLE_UNLOADABLE, part=part))
        loaded |= {path} if arm and arm.exit_status == language.unloadable.exit_status else set()
    return tuple(test for test in evidence.tests if test.file in loaded)


async def _own_code(tree: GitTree, entries: Mapping[str, Entry], baseline: VariantSource) -> Mapping[str, bytes]:
    """Return the baseline's files that differ from those of the tree: of a bug, where it is mended; else none."""
    there = await tree.read_all({path: entries[path] for path in baseline.code if path in entries})
    return {path: text for path, text in baseline.code.items() if there.get(path) != text}


async def _arguments(files: SubmittedFiles) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Return the files to run with the patch and without it; () for all tests, None where nothing can run.

    Where all of them are new, a neighbour stands for them without the patch: it shows that the run script can run a
    file by itself.
    """
    suite, discovery = files.suite, files.language.discovery
    if files.language.whole_run is WholeRun.ALL and files.reach_others:
        return (), ()
    listed = files.listed
    texts = {path: text for path, text in suite.files.items() if path not in listed and discovery.is_test_file(path)}
    found = await read_apart(lambda: {path for path, text in texts.items() if discovery.discover(text, path).tests})
    before = sorted((listed | found) & files.tests_there) or files.nearest()
    return tuple(sorted(listed | found)), tuple(before) or None


async def _unloadable(
    files: SubmittedFiles, asked: Mapping[int, str], unloadable: Unloadable, runs: "Runs"
) -> dict[ArmName, Arm]:
    """Return runs of all tests, each with one listed file that can't be loaded.

    Where such a run doesn't end by that, there is another without the patch, and with a file that was there in that
    state: it shows how the run ends by it, also in this folder where it has others. Then the first one is repeated.
    """
    suite = files.suite
    arms: dict[ArmName, Arm] = {}
    for part, path in asked.items():
        key = replace(WHOLE_UNLOADABLE, part=part)
        text = b"\n".join(filter(None, [suite.files.get(path), unloadable.text]))
        broken = replace(suite, files={**suite.files, path: text})
        arms[key] = await runs.run(key, broken, (), LOADING_TIMES)
        if arms[key].exit_status == unloadable.exit_status:
            continue
        for other in files.held_against(path):
            arms[key.again] = await runs.run(key.again, Suite((), {other: unloadable.text}), (), LOADING_TIMES)
            if arms[key.again].exit_status == unloadable.exit_status:
                arms[key.again.again] = await runs.run(key.again.again, broken, (), LOADING_TIMES)
    return arms


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
        self._context, self._task, self._log, self._code, self._kind = context, task, log, code, kind
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
            files={**suite.files, **self._code},
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
            result = await self._context.run_arm(job, own_user=False)
            if result.was_terminated:  # perhaps by somebody on the engine's machine; a second time it counts
                result = await self._context.run_arm(job, own_user=False)
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
