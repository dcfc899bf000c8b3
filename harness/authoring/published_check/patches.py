"""Checks a published task's description and patches, and whether the patches apply to the image's tree."""

from collections.abc import Iterator

from harness.authoring.published_check.patched_files import patched_files
from harness.authoring.task_check.subject import Subject
from harness.languages.registry import LANGUAGES, language_of
from harness.sandbox.git import GitError
from harness.sandbox.git_tree import GitTree
from harness.specs.problem import Problem, Severity
from harness.submission import policy
from harness.submission.line_manifest import listed_tests
from harness.submission.manifest import ManifestError
from harness.tracks.swe_atlas.layout import REFERENCE, REMOVAL
from harness.tracks.swe_atlas.rule import is_test_path
from harness.tracks.swe_atlas.task import published_task

_PATCHES = {REFERENCE: "reference/tests.patch", REMOVAL: "removal.patch"}


async def description_problems(subject: Subject) -> list[Problem]:
    """What was read and doesn't count for anything; each remark begins with the file that it is about."""
    found = []
    for remark in published_task(subject.task).remarks:
        file, _, words = remark.partition(": ")
        found.append(_warning(subject.at(file), words))
    return found


async def reference_problems(subject: Subject) -> list[Problem]:
    """Files of the reference that aren't judged, or that hold no tests. Raises UserError."""
    task, where = subject.task, subject.at(REFERENCE)
    discovery, listed = language_of(task.repo).discovery, _listed_files(subject)
    found, data = [], []
    for path in patched_files(task, _PATCHES[REFERENCE]):
        if not policy.is_test_path(task.repo, path):
            found.append(_warning(where, f"touches {path}, which is no test: our rules leave it out"))
        elif discovery.is_test_file(path) or path in listed:
            continue  # what no grammar shows, the run script reports
        elif _holds_foreign_tests(path):
            words = f"{path}: not listed, and tests are told by grammar only where {discovery.FILE_RULE}"
            found.append(_warning(where, f"{words}; if its run reports tests, our rules want them listed"))
        else:
            data.append(path)
    if data:
        words = f"files without tests below the test paths, which the published rules run as well: {', '.join(data)}"
        found.append(_warning(where, words))
    return found


async def removal_problems(subject: Subject) -> list[Problem]:
    """Raises UserError."""
    return [*_removal(subject)]


async def tree_problems(subject: Subject) -> list[Problem]:
    """Each patch on the tree that the agent sees, and back; the removal with the reference in place as well."""
    tree, made, found = GitTree(subject.containers.image.tree), {}, []
    for name, part in _PATCHES.items():
        patch = subject.task.patch(part)
        try:
            made[name] = await tree.apply(patch)
            back = await tree.apply(patch, onto=made[name], reverse=True)
        except GitError as error:
            words = f"doesn't apply to the agent's tree and back: {error}"
            found.append(Problem(where=subject.at(name), message=words))
            continue
        if not await tree.changes(made[name]) or await tree.changes(back):
            words = "changes nothing, or something else than itself when it is taken back"
            found.append(Problem(where=subject.at(name), message=words))
    if len(made) == len(_PATCHES):
        try:
            await tree.apply(subject.task.patch(_PATCHES[REMOVAL]), onto=made[REFERENCE])
        except GitError as error:
            words = f"doesn't apply to the tree with the reference in it: {error}"
            found.append(Problem(where=subject.at(REMOVAL), message=words))
    return found


def _removal(subject: Subject) -> Iterator[Problem]:
    where, files = subject.at(REMOVAL), patched_files(subject.task, _PATCHES[REMOVAL])
    if not files:
        yield Problem(where=where, message="changes no file")
    if len(files) > 1:
        yield _warning(where, f"edits {len(files)} files, where one is expected: {', '.join(files)}")
    for path, file in files.items():
        if file.is_new or file.is_gone:
            yield Problem(where=where, message=f"adds or deletes {path}; our rules take changes of files only")
        if is_test_path(path):
            yield Problem(where=where, message=f"edits {path}, a test file, which submissions write as well")


def _holds_foreign_tests(path: str) -> bool:
    """Whether it is a test file in some language other than the task's."""
    return path.endswith(".uts") or any(LANGUAGES.get(name).discovery.is_test_file(path) for name in LANGUAGES.names)


def _listed_files(subject: Subject) -> tuple[str, ...]:
    """None of them where the manifest can't be read: that is told elsewhere."""
    try:
        return listed_tests(subject.task.patch("reference/manifest.yaml"), language_of(subject.task.repo).ids).files
    except ManifestError:
        return ()


def _warning(where: str, words: str) -> Problem:
    return Problem(where=where, message=words, severity=Severity.WARNING)
