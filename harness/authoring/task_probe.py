"""`testwright task probe`: which reference tests kill which mutants of the removed code, and one kept as a probe."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from harness.authoring.file_diff import file_diff
from harness.runs.engine_session import engine_session
from harness.runs.interruption import run_to_end
from harness.sandbox.git_tree import GitTree
from harness.specs.errors import UserError
from harness.specs.task import Task
from harness.submission.extraction import Submission
from harness.verify.mutants.candidates import Candidate, removed_code
from harness.verify.mutants.records import MutantsFile
from harness.verify.mutants.running import MutantOrder, run_mutants


def reference_mutants(task: Task, order: MutantOrder) -> MutantsFile:
    """The reference on mutants of the code that the removal takes out. Raises UserError, SandboxLost."""
    return run_to_end(_reference_mutants(task, order))


async def _reference_mutants(task: Task, order: MutantOrder) -> MutantsFile:
    patch, manifest = task.patch("reference/tests.patch"), task.patch("reference/manifest.yaml")
    async with engine_session("docker", uuid4().hex) as session:
        image = await session.engine.image(task)
        context = session.arm_context(task, image, lambda _key, _result: None)
        return await run_mutants(task, Submission(patch, manifest), context, order)


def tests_for(task: Task, criterion: str) -> frozenset[str]:
    """The reference tests that covers.yaml names for a criterion. Raises UserError for one that isn't there."""
    known = [item.id for item in task.rubric.criteria]
    if criterion not in known:
        raise UserError(f"{task.id}: its rubric has no criterion {criterion}; it has {', '.join(known)}")
    return frozenset(str(test) for test, criteria in task.covers.items() if criterion in criteria)


def take_mutant(task: Task, criterion: str, mutant: str, anew: bool) -> Path:
    """Store a mutant as the probe of a criterion, and say where. Starts no container but to build the image.

    Raises UserError for a mutant that isn't there, and where a probe is there already.
    """
    tests_for(task, criterion)
    path = task.directory / "probes" / f"{criterion}.patch"
    if path.exists() and not anew:
        raise UserError(f"{path}: is there already; --replace writes it anew")
    found = run_to_end(_candidates(task))
    chosen = next((each for each in found if each.id == mutant), None)
    if chosen is None:
        near = difflib.get_close_matches(mutant, [each.id for each in found], n=3)
        raise UserError(f"{task.id}: no mutant {mutant}{f'; did you mean {near[0]}?' if near else ''}")
    path.parent.mkdir(exist_ok=True)
    diff = file_diff(chosen.path, chosen.text, chosen.mutation.of(chosen.text))
    path.write_bytes(diff.encode("utf-8", "surrogateescape"))
    return path


async def _candidates(task: Task) -> Sequence[Candidate]:
    async with engine_session("docker", uuid4().hex) as session:
        image = await session.engine.image(task)
        return (await removed_code(task, GitTree(image.tree))).mutants
