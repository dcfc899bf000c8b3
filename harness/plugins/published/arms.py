"""The published verifier's two test runs, each in a fresh container.

Variants of a published task: text on disk, which its own run script builds and runs.

There is no split between text and code here. Against tests that look at files this helps: every variant
writes the same files, the history is gone, every variant but the baseline has other statements in the functions that
the removal touches, and some that behave the same have the removal's own lines as comments.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import PurePosixPath

from harness.judging.languages.toolchain import Built, CompiledVariant, JobContext, SuiteBuilder, SuiteFiles
from harness.judging.languages.variant_source import VariantSource
from harness.judging.testing.readers import ReportError
from harness.judging.verify.arms import ArmContext
from harness.plugins.published.layout import PARSER, RUN_SCRIPT
from harness.plugins.published.parsed_log import ParsedTest, parsed_tests
from harness.plugins.published.task import TOOLS, PublishedTask
from harness.sandbox.protocol import Job, LimitReached, PlacedFile
from harness.specs.test_results import TestId
from harness.specs.variants import ArmKey, Variant

_IN_CONTAINER = resources.files("harness.plugins.published") / "in_container"


def tools(task: PublishedTask) -> dict[str, bytes]:
    """Return what runs and reads a published task's tests, by its path in an arm."""
    found = {
        "run_tests": (_IN_CONTAINER / "run_published.sh").read_bytes(),
        "parse_log.py": (_IN_CONTAINER / "parse_log.py").read_bytes(),
        "run_script.sh": task.patch(RUN_SCRIPT),
        "parse_script.py": task.patch(PARSER),
    }
    return {f"{TOOLS}/{name}": data for name, data in found.items()}


class OnDiskToolchain:
    """See `Toolchain`."""

    separates = False
    replaced = ()

    def __init__(self, task: PublishedTask) -> None:
        self._task = task

    @property
    def suites(self) -> SuiteBuilder:
        return self

    def programs(self, _tests: Iterable[TestId], /) -> frozenset[str]:
        """Return none: the task's own script runs the tests from their sources."""
        return frozenset()

    async def compile(self, _context: JobContext, sources: Sequence[VariantSource], /) -> list[CompiledVariant]:
        """See `Toolchain`. Nothing is built beforehand."""
        return [self._compiled(source) for source in sources]

    async def build(
        self, _context: JobContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles, /
    ) -> list[Built]:
        """See `SuiteBuilder`.

        Files with a test's name in common run one at a time: no parser says whose a name is.
        """
        files_of = Counter(name for _, name in {(test.file, test.name) for test in suite.tests})
        apart = {"TESTWRIGHT_APART": "1"} if max(files_of.values(), default=0) > 1 else {}
        return [Built(replace(item, env={**item.env, **apart})) for item in compiled]

    def _compiled(self, source: VariantSource) -> CompiledVariant:
        disk = dict(source.disk)
        code = tools(self._task)
        laid = sorted({**disk, **code}.items())
        return CompiledVariant(
            variant=Variant(name=source.name, kind=source.kind, source=disk, code=code, criterion=source.criterion),
            prove=("sha256sum", "--", *(path for path, _ in laid)),
            proof=tuple(f"{hashlib.sha256(data).hexdigest()}  {path}" for path, data in laid),
            env={"TESTWRIGHT_TOUCHED": "\n".join(sorted(disk))},
            executable=frozenset(code),
        )


ARM = (resources.files("harness.plugins.published") / "in_container" / "published_arm.sh").read_bytes()
_CHANGED = f"{TOOLS}/changed"
_LIST = "1.json"


@dataclass(frozen=True)
class AgentsTree:
    """The agent's changes of the tree: files to write (path -> bytes) and to take out, executable ones named."""

    files: Mapping[str, bytes]
    removed: tuple[str, ...]
    executable: frozenset[str]


async def run_log(
    context: ArmContext,
    task: PublishedTask,
    tree: AgentsTree,
    changed: Mapping[str, bytes],
    files: Sequence[str],
    key: ArmKey,
) -> list[ParsedTest]:
    """Return what the task's parser finds in the log of its run script over `files`; nothing where there is no log.

    `changed` is laid over the agent's tree after the published verifier has looked at its diff.

    Raises:
        SandboxLost: The container was lost.
    """
    if not files:
        return []
    try:
        result = await context.run_arm(log_job(task, context.image.workdir, tree, changed, files))
    except LimitReached:
        return []
    context.observer.printed(key, result)
    try:
        return parsed_tests(result.outputs[_LIST])
    except (KeyError, ReportError):
        return []


def log_job(
    task: PublishedTask, workdir: str, tree: AgentsTree, changed: Mapping[str, bytes], files: Sequence[str]
) -> Job:
    """Return the job of one test run. Its one output is `1.json`, what the parser made of the log."""
    placed = [
        *(PlacedFile(path, data, 0o755) for path, data in {f"{TOOLS}/arm": ARM, **tools(task)}.items()),
        *_placed(workdir, tree),
        *(PlacedFile(f"{_CHANGED}/{path}", data) for path, data in sorted(changed.items())),
    ]
    return Job(
        argv=(f"{TOOLS}/arm", _CHANGED, str(len(tree.removed)), *tree.removed, *(f"{file}::all" for file in files)),
        files=tuple(placed),
        env={"TESTWRIGHT_TOUCHED": "\n".join(sorted({*changed, *tree.files}))},
        seconds=task.file.limits.arm_seconds,
    )


def _placed(workdir: str, tree: AgentsTree) -> Iterable[PlacedFile]:
    for path, data in sorted(tree.files.items()):
        mode = 0o755 if path in tree.executable else 0o644
        yield PlacedFile(str(PurePosixPath(workdir, path)), data, mode)
