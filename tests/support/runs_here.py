"""Whole runs in this process without containers: a small catalog, an engine of subprocesses, agents from outside."""

import asyncio
import itertools
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from harness.agents.protocol import AgentContext, Finish
from harness.agents.registry import AGENTS
from harness.agents.trajectory import Trajectory
from harness.runs.command import FinishedRun, configure, execute
from harness.runs.outcome import Progress, Stand
from harness.runs.plan import Trial
from harness.runs.trial_store import TrialStore
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Sandbox
from harness.sandbox.registry import SANDBOXES
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode
from tests.support.fake_engine import FakeEngine
from tests.support.subprocess_sandbox import SubprocessSandbox
from tests.support.tiny_catalog import tiny_catalog
from tests.support.tiny_repo import TREE

TASK = "tiny-add"
SUBMITS = "messages:" + "\n  - text: I am done.\n    commands: ['echo TESTWRIGHT_SUBMIT']" * 2 + "\n"
"""Twice, since the first is answered that there is no manifest."""
Work = Callable[[AgentContext, Sandbox, Trajectory], Any]


@dataclass
class RunsHere:
    """A catalog of one task in `directory/catalog`, and runs of it in `directory/run` on `engine`."""

    directory: Path
    engine: FakeEngine
    steps: list[tuple[str, str]] = field(default_factory=list)

    @property
    def catalog(self) -> Catalog:
        """Read anew, as each command does."""
        return Catalog(self.directory / "catalog")

    @property
    def output(self) -> Path:
        return self.directory / "run"

    def run(self, scaffold: str = "nop", extend: bool = True, **options: Any) -> FinishedRun:
        """What `testwright run --extend` does with these options."""
        given = {"tasks": (TASK,), "scaffolds": (scaffold,), "sandbox": "here", "retry_seconds": 0, **options}
        config = configure(given, None)
        self.steps.clear()

        def observe(trial: Trial, progress: Progress, message: str, stand: Stand | None) -> None:
            self.steps.append((progress, str(stand) if stand else message))

        watch = lambda _: nullcontext(observe)  # noqa: E731
        return execute(self.catalog, config, self.output, watch, lambda _: None, extend)

    def store(self, scaffold: str = "nop", attempt: int = 1) -> TrialStore:
        """Of the one model's trial."""
        [model] = (path for path in (self.output / "trials" / TASK / scaffold).iterdir())
        return TrialStore(model / str(attempt))

    def agent(self, name: str, work: Work) -> None:
        """Offer an agent from outside, with a scaffold of its name."""

        class FromOutside:
            needs_model = False

            def __init__(self, context: AgentContext) -> None:
                self.context = context

            async def work(self, sandbox: Sandbox, trajectory: Trajectory) -> Finish:
                finish: Finish = await work(self.context, sandbox, trajectory)
                return finish

        folder = self.directory / "catalog" / "scaffolds" / name
        folder.mkdir()
        facts = {"name": name, "kind": "control", "title": name, "version": "1.0"}
        (folder / "scaffold.yaml").write_text(yaml.safe_dump(facts))
        AGENTS.register(name, FromOutside)

    def script(self, text: str = SUBMITS) -> str:
        """The name of a model that says this."""
        path = self.directory / "script.yaml"
        path.write_text(text)
        return f"scripted:{path}"

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace text in a file of the catalog, which must have it."""
        file = self.directory / "catalog" / path
        text = file.read_text()
        assert old in text, text
        file.write_text(text.replace(old, new))


@contextmanager
def runs_here(directory: Path) -> Iterator[RunsHere]:
    """Everything that was registered is taken back at the end."""
    catalog, tree = directory / "catalog", directory / "tree"
    tiny_catalog(catalog, nonce="")
    (catalog / "tasks" / TASK / "removal.patch").write_text("")  # nobody comes as far as to apply it
    for path, text in TREE.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    asyncio.run(GitTree.create(directory / "tree.git", tree))
    numbers = itertools.count(1)

    def sandbox() -> SubprocessSandbox:
        place = directory / "sandboxes" / str(next(numbers))
        shutil.copytree(tree, place / "app")
        return SubprocessSandbox(place)

    engine = FakeEngine(lambda _run, _test: "passes", tree=directory / "tree.git", make_sandbox=sandbox)
    before = set(AGENTS.names)
    runs = RunsHere(directory, engine)
    SANDBOXES.register("here", lambda _argument, _images: runs.engine)
    try:
        yield runs
    finally:
        SANDBOXES.unregister("here")
        for name in set(AGENTS.names) - before:
            AGENTS.unregister(name)


def codes(run: FinishedRun) -> list[list[ReasonCode]]:
    """The reasons of each trial."""
    return [[reason.code for reason in item.reasons] for item in run.outcomes]
