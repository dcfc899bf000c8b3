"""The repository's own run of its tests, with a submission's patch: as somebody starts it who works there.

Arms run tests by their names, and read reports. What a patch does to the rest shows in a run of everything: a red
test that no text shows, a helper or a program that other tests need and that no longer works, an error that belongs
to no test. Here the exit status alone counts: 0 without the patch and not with it. Nothing that a run prints is
believed, and a run that says 0 shows nothing.

Where the baseline isn't the tree that agents see, as for a bug, the baseline's files are put in place.

Where the run loads all files before it runs any test, each listed file is also asked for: with a text that can't be
loaded in its place the run must end by that, or it leaves the file out and the tests in it serve nobody.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.judging.languages.protocol import Language, Unloadable, WholeRun
from harness.judging.languages.toolchain import JobLimit
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.control import is_about_to_be_resolved
from harness.judging.verify.evidence import (
    AMONG_ALL,
    BESIDE_OTHERS,
    LISTED_ALONE,
    WHOLE_AFTER,
    WHOLE_BEFORE,
    WHOLE_UNLOADABLE,
    ArmLog,
    Evidence,
    UnkeptArms,
)
from harness.judging.verify.gathering import ArmPlan
from harness.judging.verify.own_runs.command import Runs
from harness.judging.verify.own_runs.noticed_mutants import (
    Order,
    files_asked_for,
    files_held,
    run_on_mutants,
    twin_of_a_mutant,
)
from harness.judging.verify.own_runs.reasons import WHOLE_RUNS, is_broken, is_red, is_red_each_time
from harness.judging.verify.own_runs.submitted_files import SubmittedFiles
from harness.judging.verify.suite_reader import read_apart
from harness.sandbox.git_tree import Entry, GitTree
from harness.specs.task import Task
from harness.specs.variants import Arm, ArmName, Role, VariantKind

LOADING_TIMES = 0.5
"""A run that is to end before any test may take so much of the time of an arm; one that takes longer runs tests."""


async def whole_run(
    context: ArmContext, task: Task, plan: ArmPlan, evidence: Evidence, language: Language, log: ArmLog | None = None
) -> Evidence:
    """Return the evidence with the repository's own runs, where the submission is about to be resolved.

    One run is of all tests at the baseline. Where that isn't green it is repeated, and run without the patch. Where
    the patch has nothing but test files, only those run, and so in any case in a language whose files are by
    themselves (`Language.whole_run`). Where that is no reason, others follow: all tests with a listed file that can't
    be loaded (`Language.unloadable`); the listed files and some small ones, beside all others
    (`Language.env_among_others`); each listed file on a mutant that its tests notice, alone and among others
    (noticed_mutants.py); and all of them on a change that keeps the behaviour.

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
    small_env = await _small_env(files, tree, entries) if with_patch else None
    held = _Held(plan, files, runs, tree, entries, with_patch, without, small_env)
    for step in (held.at_the_baseline, held.unloadable, held.beside_others, held.on_mutants, held.on_a_twin):
        if not is_about_to_be_resolved(task, plan, evidence):
            break
        evidence = replace(evidence, arms={**evidence.arms, **await step(evidence)})
    return evidence


@dataclass(frozen=True)
class _Held:
    """Own runs of one submission.

    `with_patch` are the files to run with it, () for all tests, `without` those without it, None for no such run;
    `small_env` the variables of a run of listed files and small ones, beside all others, None for no such run.
    """

    plan: ArmPlan
    files: SubmittedFiles
    runs: Runs
    tree: GitTree
    entries: Mapping[str, Entry]
    with_patch: tuple[str, ...]
    without: tuple[str, ...] | None
    small_env: Mapping[str, str] | None

    async def at_the_baseline(self, _evidence: Evidence) -> dict[ArmName, Arm]:
        return await _with_and_without(self.runs, self.plan.suite, self.with_patch, self.without)

    async def unloadable(self, evidence: Evidence) -> dict[ArmName, Arm]:
        unloadable = self.files.language.unloadable
        return await _unloadable(self.files, files_asked_for(evidence), unloadable, self.runs) if unloadable else {}

    async def beside_others(self, _evidence: Evidence) -> dict[ArmName, Arm]:
        """Return runs at the baseline of the listed files and small ones beside all others, where only they ran.

        Where these are red with the patch alone, all tests run with it and without it: only these can be a reason.
        """
        if self.small_env is None:
            return {}
        suite, runs = self.plan.suite, self.runs.on(VariantKind.BASELINE, self.runs.code, self.small_env)
        arms = await _with_and_without(runs, suite, (), (), BESIDE_OTHERS)
        if is_broken(arms, BESIDE_OTHERS):
            arms |= await _with_and_without(self.runs, suite, (), (), AMONG_ALL)
        return arms

    async def on_mutants(self, evidence: Evidence) -> dict[ArmName, Arm]:
        """Return runs of each listed file on mutants that its tests notice: alone, and among others."""
        language, held = self.files.language, files_held(evidence)
        orders = [Order(Role.WHOLE_MUTANT, part, file, (file,)) for part, file in enumerate(held)]
        loaded = [file for file in held if file in _loaded(evidence, language)]
        # What is red each time shows nothing on a mutant.
        if language.env_among_others and loaded and not is_red_each_time(evidence.arms, 0):
            # Which tests run may be the patch's choice where it has more than test files: there all run.
            envs = [language.env_among_others(self.files.others) if self.with_patch else {}]
            if self.small_env is not None and not is_red_each_time(evidence.arms, BESIDE_OTHERS):
                envs.append(self.small_env)
            for part in range(max(len(loaded), len(envs))):
                file, env = loaded[min(part, len(loaded) - 1)], envs[min(part, len(envs) - 1)]
                orders.append(Order(Role.EVERYTHING_MUTANT, part, file, (), env))

        async def runs_on(mutant: VariantSource, order: Order) -> Runs:
            return self.runs.on(mutant.kind, await _own_code(self.tree, self.entries, mutant), order.env)

        return await run_on_mutants(self.plan, evidence, orders, runs_on)

    async def on_a_twin(self, evidence: Evidence) -> dict[ArmName, Arm]:
        """Return runs of all listed files on a change that keeps the behaviour.

        What is red on mutants for their text alone is red here.
        """
        twin, listed = twin_of_a_mutant(self.plan.sources, evidence), self.files.listed
        if twin is None or is_red_each_time(evidence.arms, 0):
            return {}
        runs = self.runs.on(twin.kind, await _own_code(self.tree, self.entries, twin), {})
        suite, there, arms = self.plan.suite, sorted(listed & self.files.tests_there), dict[ArmName, Arm]()
        key, before = (replace(each, variant=twin.name) for each in (WHOLE_AFTER, WHOLE_BEFORE))
        for _ in range(WHOLE_RUNS):
            arms[key] = await runs.run(key, suite, tuple(sorted(listed)))
            if not is_red(arms[key]):
                return arms
            key = key.again
        # Perhaps these files are red without all others, whatever the code is, or were so on this change before.
        alone = replace(WHOLE_AFTER, part=LISTED_ALONE)
        arms[alone] = await self.runs.run(alone, suite, tuple(sorted(listed)))
        if there:
            arms[before] = await runs.run(before, Suite((), {}), tuple(there))
        return arms


async def _with_and_without(
    runs: Runs, suite: Suite, with_patch: tuple[str, ...], without: tuple[str, ...] | None, part: int = 0
) -> dict[ArmName, Arm]:
    """Return runs at the baseline: one with the patch, and more of both kinds where that is red."""
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


def _loaded(evidence: Evidence, language: Language) -> frozenset[str]:
    """Return the listed files that a run of all tests is known to load: it may leave out a folder."""
    if language.unloadable is None:
        return frozenset(evidence.listed_files)
    arms = (
        (path, evidence.arms.get(replace(WHOLE_UNLOADABLE, part=part)))
        for part, path in enumerate(evidence.listed_files, start=1)
    )
    return frozenset(path for path, arm in arms if arm and arm.exit_status == language.unloadable.exit_status)


async def _own_code(tree: GitTree, entries: Mapping[str, Entry], source: VariantSource) -> Mapping[str, bytes]:
    """Return a variant's files that differ from those of the tree; the baseline's do where a bug is mended in it."""
    there = await tree.read_all({path: entries[path] for path in source.code if path in entries})
    return {path: text for path, text in source.code.items() if there.get(path) != text}


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


async def _small_env(files: SubmittedFiles, tree: GitTree, entries: Mapping[str, Entry]) -> Mapping[str, str] | None:
    """Return the variables of a run of listed files and small ones, beside all others; None for no such run."""
    among_others, others = files.language.env_among_others, files.others
    if among_others is None or not among_others(others):
        return None
    small = await files.small_ones(tree, entries)
    return among_others([path for path in others if path not in small]) if small else None


async def _unloadable(
    files: SubmittedFiles, asked: Mapping[int, str], unloadable: Unloadable, runs: Runs
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
