"""The parts of the check of a catalog's task, by level."""

from collections.abc import Mapping
from dataclasses import replace

from harness.authoring.task_check import (
    controls,
    honest_corpus,
    known_matrices,
    prompt_lint,
    reference_files,
    rubric_lint,
    task_files,
    twins,
)
from harness.authoring.task_check.agent_view import view_problems
from harness.authoring.task_check.context import Part, TrackChecks
from harness.authoring.task_check.conventions import convention_problems
from harness.authoring.task_check.fuzzing import fuzz_problems
from harness.authoring.task_check.subject import Subject
from harness.authoring.task_check.upstream_tests import upstream_problems
from harness.authoring.task_image_check import other_copies, task_image_check
from harness.specs.problem import Problem
from harness.specs.task_facts import Level, StepId


async def _reference_once(subject: Subject) -> list[Problem]:
    """Judge the reference as a submission is, with one drawn twin for each probe.

    A whole check has tried them all.
    """
    drawn = replace(subject, arm_context=replace(subject.containers, every_twin=False))
    return await controls.reference_problems(drawn, times=1)


async def _image(subject: Subject) -> list[Problem]:
    return await task_image_check(subject.task)


async def _other_copies(subject: Subject) -> list[Problem]:
    return await other_copies(subject.task)


STATIC: Mapping[StepId, Part] = {
    StepId.FILES: task_files.file_problems,
    StepId.RUBRIC: rubric_lint.rubric_problems,
    StepId.PROMPT: prompt_lint.prompt_problems,
    StepId.PATCHES: task_files.patch_problems,
    StepId.TWINS: twins.twin_problems,
    StepId.REFERENCE_FILES: reference_files.reference_problems,
    StepId.HONEST_SUITES_PRESENT: honest_corpus.corpus_problems,
}
_CHEAP: Mapping[StepId, Part] = {
    StepId.NOP: controls.nop_problems,
    StepId.AGENT_VIEW: view_problems,
    StepId.IMAGE: _image,
    StepId.OTHER_COPIES: _other_copies,
    StepId.WORTHLESS_SUBMISSIONS: controls.worthless_problems,
    StepId.CONVENTIONS: convention_problems,
}
_DEAR: Mapping[StepId, Part] = {
    StepId.REFERENCE: known_matrices.reference_problems,
    StepId.HONEST_SUITES: known_matrices.honest_problems,
}
"""Judgings of good suites run every arm; they take four fifths of a check."""
DYNAMIC: Mapping[Level, Mapping[StepId, Part]] = {
    Level.QUICK: {},
    Level.BRIEF: {
        StepId.AGENT_VIEW: view_problems,
        StepId.REFERENCE_ONCE: _reference_once,
        StepId.NOP: controls.nop_problems,
    },
    Level.GATE: {**_CHEAP, **_DEAR},
    Level.FULL: {
        StepId.FUZZ: fuzz_problems,
        **_CHEAP,
        StepId.UPSTREAM_TESTS: upstream_problems,
        **_DEAR,
    },
}
CHECKS = TrackChecks(STATIC, DYNAMIC, elsewhere=lambda _task, _step: "", needs_tree=True)
