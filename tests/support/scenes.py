"""Whole runs in this process, arms included, on an engine without containers that does what it is told."""

import asyncio
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from harness.judging.languages.registry import LANGUAGES
from harness.runs.attempts import AttemptRecord
from harness.runs.command import FinishedRun, execute
from harness.runs.plan import RunConfig
from harness.runs.store import find_trials
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Sandbox
from harness.sandbox.registry import SANDBOXES
from harness.specs.catalog import Catalog
from harness.specs.test_results import TestId
from tests.support import scripted_language
from tests.support.fake_engine import Event, FakeEngine, Run
from tests.support.sound_catalog import KEPT, PRODUCT, TASK, sound_catalog
from tests.support.subprocess_sandbox import SubprocessSandbox


def as_good_tests_do(run: Run, _test: TestId) -> str:
    """Every test notices every mutant, and nothing else."""
    return "fails" if run.variant.startswith(("removal", "garbage", "probe")) else "passes"


def is_right(code: bytes) -> bool:
    """Whether code of the one task does what it is to do."""
    names: dict[str, Any] = {}
    exec(code, names)
    try:
        return [names["total_of"]([1, 2, 4], 8, (2,)), names["total_of"]([5, 7])] == [13, 12]
    except SystemError:
        return False


@dataclass
class Scene:
    catalog: Catalog
    engine: FakeEngine
    output: Path
    name: str
    sandboxes: list[SubprocessSandbox]

    def run(self, extend: bool = False, **config: object) -> FinishedRun:
        given = {"tasks": (TASK,), "scaffolds": ("oracle",), "sandbox": self.name, "retry_seconds": 0, **config}
        silent = lambda _count: nullcontext(lambda *_: None)  # noqa: E731
        return execute(self.catalog, RunConfig.model_validate(given), self.output, silent, lambda _: None, extend)

    def attempts(self) -> list[AttemptRecord]:
        [store] = find_trials(self.output)
        return store.attempts.read()


@contextmanager
def scenes(directory: Path, scaffolds: Mapping[str, str]) -> Iterator[Callable[..., Scene]]:
    """A catalog in `directory` whose task the engine knows how to run; each scene has an engine of its own.

    `scaffolds` are more controls: name -> agent.
    """
    catalog = sound_catalog(directory / "catalog")
    LANGUAGES.register(scripted_language.NAME, scripted_language.SCRIPTED)
    _say_in_yaml(catalog.directory / "repos" / "tiny" / "repo.yaml", language=scripted_language.NAME, report="junit")
    for name, agent in scaffolds.items():
        folder = catalog.directory / "scaffolds" / name
        folder.mkdir()
        facts = {"schema_version": 1, "name": name, "kind": "control", "title": name, "version": "1"}
        (folder / "scaffold.yaml").write_text(yaml.safe_dump({**facts, "agent": agent}))
    tree = directory / "tree"
    (tree / "tests").mkdir(parents=True)
    (tree / "sums.py").write_text(PRODUCT)
    (tree / "tests" / "test_sums.py").write_text(KEPT)
    asyncio.run(GitTree.create(directory / "tree.git", tree))
    numbers = itertools.count()
    known: list[str] = []

    def sandbox(sandboxes: list[SubprocessSandbox]) -> Sandbox:
        made = SubprocessSandbox(directory / f"sandbox-{os.getpid()}-{next(numbers)}")
        sandboxes.append(made)
        (made.tree / "tests").mkdir(parents=True)
        (made.tree / "sums.py").write_text(PRODUCT)
        (made.tree / "tests" / "test_sums.py").write_text(KEPT)
        return made

    def made(events: list[Event] | None = None, unavailable: str = "", output: str = "out") -> Scene:
        sandboxes: list[SubprocessSandbox] = []
        make = partial(sandbox, sandboxes)
        engine = FakeEngine(as_good_tests_do, events or (), directory / "tree.git", make, unavailable, alike=is_right)
        known.append(f"fake-{len(known)}")
        SANDBOXES.register(known[-1], lambda _argument, _images: engine)
        return Scene(Catalog(catalog.directory), engine, directory / output, known[-1], sandboxes)

    try:
        yield made
    finally:
        for name in known:
            SANDBOXES.unregister(name)
        LANGUAGES.unregister(scripted_language.NAME)


def _say_in_yaml(path: Path, **facts: str) -> None:
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **facts}))
