"""Every text of the files in question: the fixed tree's, the buggy one's, and those of other fixes.

As in the behaviour track, with the fixed code as the baseline and the buggy code as the removal.
"""

from collections.abc import Mapping

from harness.judging.languages.registry import code_of
from harness.judging.languages.variant_source import lines_in_question
from harness.judging.verify.task_texts import Files, TaskTexts, changed_by_each, own_texts
from harness.plugins.bug.places import refusing
from harness.plugins.bug.task import FIX, PLAIN, PLAIN_BUG, WRONG, WRONG_FIX, BugTask
from harness.sandbox.git_tree import GitTree
from harness.specs.variants import VariantKind

FIXED = "fixed"


async def read_bug_texts(task: BugTask, tree: GitTree) -> TaskTexts:
    """Apply every patch of the task to the agent's tree.

    Its probes are the partial fixes and, where there is one, the wrong fix.

    Raises:
        UserError: One doesn't apply.
    """
    paths = {
        FIXED: task.path(FIX),
        **{name: task.path(name) for name in (PLAIN, PLAIN_BUG, WRONG) if task.path(name).is_file()},
        **{twin.variant: twin.path for twin in task.twins},
        **{probe.variant: probe.path for probe in task.probes},
    }
    changed = await changed_by_each(tree, paths)
    buggy = await own_texts(tree, sorted({path for files in changed.values() for path in files}))
    whole = {name: {**buggy, **files} for name, files in changed.items()}
    removals: dict[VariantKind, Files] = {VariantKind.REMOVAL: buggy}
    if PLAIN_BUG in whole:
        removals[VariantKind.GARBAGE] = whole[PLAIN_BUG]
    probes = {probe.variant: whole[probe.variant] for probe in task.probes}
    if wrong := whole.get(WRONG) or refusing(whole[FIXED], buggy):
        probes[WRONG_FIX.variant] = wrong
    return TaskTexts(
        pristine=whole[FIXED],
        commented=_commented(task, whole[FIXED], buggy),
        placebo=whole.get(PLAIN),
        removals=removals,
        twins={twin.variant: whole[twin.variant] for twin in task.twins},
        probes=probes,
        on_placebo={},
    )


def _commented(task: BugTask, fixed: Files, buggy: Files) -> Mapping[str, bytes]:
    """Return the fixed code, with every line that the bug takes out or puts in as a comment behind it."""
    found = dict(fixed)
    for path, text in fixed.items():
        code = code_of(task.repo, path)
        if code.is_code(path) and text != buggy[path]:
            found[path] = code.commented(text, lines_in_question([text, buggy[path]]))
    return found
