"""`mutants.json` beside a verdict: a mutation score, which never touches the verdict."""

from collections.abc import Mapping
from pathlib import Path

from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext
from harness.judging.verify.mutants.candidates import removed_code
from harness.judging.verify.mutants.records import MutantsFile
from harness.judging.verify.mutants.running import MutantOrder, run_mutants
from harness.runs.records import read_record, write_whole
from harness.sandbox.git_tree import GitTree
from harness.specs.task import Task

MUTANTS_FILE = "mutants.json"


async def mutants_beside(task: Task, submission: Submission, context: ArmContext, order: MutantOrder) -> MutantsFile:
    """Return what became of a suite's mutants, or why there are none.

    What goes wrong here never touches the verdict.
    """
    try:
        return await run_mutants(task, submission, context, order)
    except Exception as error:  # whatever it is: the verdict is kept, and stays
        why = str(error) or type(error).__name__
        return MutantsFile(task=task.id, seed=order.seed, asked=order.count, candidates=0, why_none=why)


async def mutated_sources(task: Task, context: ArmContext) -> Mapping[str, bytes]:
    """Return the files that mutants are made of, as they are before. Raises UserError."""
    return (await removed_code(task, GitTree(context.image.tree))).texts


def keep_mutants(folder: Path, mutants: MutantsFile) -> None:
    """Write `mutants.json` beside the verdict."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / MUTANTS_FILE, mutants.model_dump_json(indent=2) + "\n")


def read_mutants(folder: Path) -> MutantsFile | None:
    """Return None where no mutation score was asked for."""
    return read_record(folder / MUTANTS_FILE, MutantsFile)
