"""The published verifier's two test runs, each in a fresh container."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath

from harness.sandbox.protocol import Job, LimitReached, PlacedFile
from harness.specs.variants import ArmKey
from harness.testing.published import ParsedTest, parsed_tests
from harness.testing.report import ReportError
from harness.tracks.swe_atlas.on_disk import tools
from harness.tracks.swe_atlas.task import TOOLS, PublishedTask
from harness.verify.arms import ArmContext, run_job

ARM = (resources.files("harness.tracks.swe_atlas") / "in_container" / "published_arm.sh").read_bytes()
_CHANGED = f"{TOOLS}/changed"
_LIST = "1.json"


@dataclass(frozen=True)
class AgentsTree:
    """What the agent has made of the tree: files to write (path -> bytes) and to take out, executable ones named."""

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
    """What the task's parser finds in the log of its run script over `files`; nothing where there is no log.

    `changed` is laid over the agent's tree after the published verifier has looked at its diff. Raises SandboxLost.
    """
    if not files:
        return []
    try:
        result = await run_job(context, task, log_job(task, context.image.workdir, tree, changed, files))
    except LimitReached:
        return []
    context.keep(key, result)
    try:
        return parsed_tests(result.outputs[_LIST])
    except (KeyError, ReportError):
        return []


def log_job(
    task: PublishedTask, workdir: str, tree: AgentsTree, changed: Mapping[str, bytes], files: Sequence[str]
) -> Job:
    """Its one output is `1.json`, what the parser made of the log."""
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
