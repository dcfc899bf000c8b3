"""The `names` arm: a suite on the code as it is, in one container more, where absent names are noted."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path, PurePosixPath

from pydantic import TypeAdapter, ValidationError

from harness.judging.languages.registry import language_of
from harness.judging.submission.extraction import Submission
from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.intake import FileChange
from harness.judging.verify.verification import read_submission, suite_of
from harness.plugins.names.compilers import c_findings, go_findings
from harness.plugins.names.findings import Finding, NamesFile, digest_of
from harness.plugins.names.texts import Vocabulary, c_text_findings, go_tags, go_text_findings, vocabulary
from harness.sandbox.abilities import ToolboxEngine
from harness.sandbox.deadline import seconds_per_test
from harness.sandbox.git_tree import GitTree
from harness.sandbox.options import repo_options
from harness.sandbox.protocol import Job, LimitReached, PlacedFile, SandboxOptions
from harness.specs.errors import UserError
from harness.specs.scaffold import Install, Installer, Scaffold, ScaffoldKind
from harness.specs.task import Task

Added = Mapping[str, frozenset[int]]
"""Path -> the lines, from 1, that a patch adds to a file."""
PLACE = "/tmp/names"
_PARTS = ("added", "mocks", "names", "plugin", "static", "things", "trace")
_PLACED = {
    "python": ("sitecustomize.py", *(f"testwright_{part}.py" for part in _PARTS)),
    "c": ("gcc",),
    "go": (),
    "typescript": ("names.cjs",),
}
_COMPILER = Scaffold(
    name="names-typescript",
    kind=ScaffoldKind.CLI,
    title="TypeScript's compiler, for a look at names",
    version="5.9.3",
    install=Install(installer=Installer.NPM),
    directory=Path(__file__).parent / "typescript",
)
"""Its toolbox is made and mounted as those of native scaffolds are: repositories' images have no such compiler."""
_SLOWER, _BUILDING = 4.0, 60.0
"""The arm may take so many times as long as another, and so many seconds more."""
_FOUND = TypeAdapter(list[Finding])
_MOST = 500


@dataclass(frozen=True)
class Looked:
    """Findings of one container, or why there are none, and its processor seconds."""

    findings: tuple[Finding, ...] = ()
    why_none: str = ""
    seconds: float = 0.0


async def look_at(task: Task, submission: Submission, context: ArmContext) -> NamesFile:
    """Return the absent names of a submission's suite.

    Raises:
        UserError: The task itself is wrong.
        SandboxLost: The container was lost.
    """
    found = await read_submission(task, submission, context)
    names = NamesFile(task=task.id, submission=digest_of(submission.patch, submission.manifest))
    if found.is_refused:
        return names.model_copy(update={"why_none": "the submission is refused before anything of it runs"})
    looked = await look_at_suite(task, suite_of(found), found.intake.changes, context)
    facts = {"findings": looked.findings, "why_none": looked.why_none, "seconds": round(looked.seconds, 3)}
    return names.model_copy(update=facts)


async def look_at_suite(task: Task, suite: Suite, changes: Sequence[FileChange], context: ArmContext) -> Looked:
    """Return the absent names in the lines that changes add. For errors see `look_at`."""
    language, added = task.repo.language, added_lines(changes)
    if language not in _READERS:
        return Looked(why_none=f"nothing looks for absent names in {language}")
    if not context.engine.capabilities.separate_user:
        return Looked(why_none=f"the sandbox {context.engine.name!r} has no place for what looks at names")
    try:
        options = await _options(task, context)
        async with context.slots:
            # As what builds variants: an arm's container has no compiler.
            result = await context.run_job(names_job(task, suite, added, context.image.workdir), options)
    except LimitReached as error:
        return Looked(why_none=str(error))
    if result.timed_out:
        return Looked(why_none="the tests took too long where names are looked at", seconds=result.own_seconds)
    reports = [data for name, data in sorted(result.outputs.items()) if name.rpartition("/")[2].startswith("names")]
    if not reports:
        return Looked(why_none="the tests left no word of the names that they use", seconds=result.own_seconds)
    texts = {change.path: change.new for change in changes if change.new is not None}
    try:
        said = [finding for data in reports for finding in _READERS[language](data, texts)]
    except ValidationError:
        return Looked(why_none="the report of names can't be read", seconds=result.own_seconds)
    if read_text := _TEXTS.get(language):
        said += read_text(texts, await _vocabulary(task, GitTree(context.image.tree), texts))
    return Looked(_in_lines(said, added), "", result.own_seconds)


async def _options(task: Task, context: ArmContext) -> SandboxOptions:
    """Return what the container may use. Raises UserError, ImageUnavailable for a toolbox that can't be made."""
    options = repo_options(task.repo)
    if task.repo.language != "typescript":
        return options
    if not isinstance(context.engine, ToolboxEngine):
        raise UserError(f"sandbox {context.engine.name!r} mounts no toolbox; names of TypeScript need Docker")
    return replace(options, mounts=(await context.engine.toolbox(_COMPILER),))


async def _vocabulary(task: Task, tree: GitTree, texts: Mapping[str, bytes]) -> Vocabulary:
    """Return the words of a tree's sources, other tests among them, but not of the suite's files."""
    suffixes = (*language_of(task.repo).suffixes, ".h", ".in")
    wanted = {path: entry for path, entry in (await tree.entries()).items() if path.endswith(suffixes)}
    return vocabulary(await tree.read_all({path: entry for path, entry in wanted.items() if path not in texts}))


def names_job(task: Task, suite: Suite, added: Added, workdir: str) -> Job:
    """Return the job that runs a suite where absent names are noted, on the code as it is in the image."""
    repo, here = task.repo, files(__package__) / "in_container"
    own = here / repo.language
    placed = [PlacedFile(f"{PLACE}/{name}", (own / name).read_bytes(), 0o755) for name in _PLACED[repo.language]]
    for path, data in sorted(suite.files.items()):
        mode = 0o755 if path in suite.executable else 0o644
        placed.append(PlacedFile(str(PurePosixPath(workdir, path)), data, mode))
    folders = sorted({f"./{PurePosixPath(path).parent}" for path in added})
    env = {
        "TESTWRIGHT_TEST_COMMAND": repo.test_command,
        "TESTWRIGHT_TEST_SECONDS": str(seconds_per_test(repo.limits.test_seconds)),
        "TESTWRIGHT_ADDED": json.dumps({path: sorted(lines) for path, lines in sorted(added.items())}),
        "TESTWRIGHT_FOLDERS": " ".join(folders),
        "TESTWRIGHT_TAGS": " ".join(go_tags(suite.files.values())),
    }
    script = (here / "look.sh").read_text()
    words = (str(len(suite.removed)), *suite.removed, repo.language, *map(str, suite.tests))
    seconds = _BUILDING + _SLOWER * task.file.limits.arm_seconds
    return Job(argv=("bash", "-c", script, "names", *words), files=tuple(placed), env=env, seconds=seconds)


def added_lines(changes: Iterable[FileChange]) -> dict[str, frozenset[int]]:
    """Return the lines that a patch adds: those of a changed file whose text it didn't have before. Pure."""
    return {
        change.path: frozenset(
            number for number, line in enumerate(change.new.splitlines(), start=1) if line not in _known(change)
        )
        for change in changes
        if change.new is not None
    }


def _known(change: FileChange) -> frozenset[bytes]:
    return frozenset((change.old or b"").splitlines())


def _in_lines(findings: Iterable[Finding], added: Added) -> tuple[Finding, ...]:
    """Return findings in added lines, each once, in the order of the text."""
    each = {
        (item.file, item.line, item.kind, item.name): item
        for item in findings
        if item.line in added.get(item.file, frozenset())
    }
    return tuple(each[key] for key in sorted(each))[:_MOST]


def _of_trace(data: bytes, _texts: Mapping[str, bytes]) -> list[Finding]:
    return _FOUND.validate_json(data)


_READERS: Mapping[str, Callable[[bytes, Mapping[str, bytes]], Iterable[Finding]]] = {
    "python": _of_trace,
    "go": go_findings,
    "c": c_findings,
    "typescript": _of_trace,
}

_TEXTS: Mapping[str, Callable[[Mapping[str, bytes], Vocabulary], Iterable[Finding]]] = {
    "go": go_text_findings,
    "c": c_text_findings,
}
