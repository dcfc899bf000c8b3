"""Stages without containers: a fake engine's companions, and variants that it knows by their markers."""

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.judging.languages.toolchain import CompiledVariant, JobContext, Toolchain
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.arms import ArmContext
from harness.plugins.browser.application import data_directory
from harness.plugins.browser.stage import LOG, BrowserStage
from harness.sandbox.git_tree import GitTree
from harness.sandbox.protocol import Companion, Image, Job, JobResult, SandboxOptions
from tests.support.fake_engine import FakeEngine, scripted_variant

IMAGE = Image("fake", "digest", "/app", Path())
COMPANION = Companion(IMAGE, Job(("true",)), SandboxOptions())
PLAIN = BrowserStage(COMPANION)


def ended(seconds: float = 1.0, outputs: Mapping[str, bytes] | None = None, log: bytes = b"") -> JobResult:
    beside = JobResult(0, False, False, b"", {LOG: log}, True, seconds)
    result = JobResult(0, False, False, b"", dict(outputs or {}), True, seconds, own_seconds=seconds)
    return replace(result, companion=beside)


def context(engine: FakeEngine, toolchain: Toolchain) -> ArmContext:
    image, options = replace(IMAGE, tree=engine.tree), SandboxOptions()
    return ArmContext(engine, image, {}, slots=asyncio.Semaphore(2), toolchain=toolchain, options=options)


async def app_tree(place: Path) -> GitTree:
    shutil.copytree(data_directory() / "deskapp" / "app", place / "app", ignore=shutil.ignore_patterns("__pycache__"))
    return await GitTree.create(place / "tree.git", place / "app")


@dataclass(frozen=True)
class ScriptedStages:
    """See `Toolchain`. An engine knows each variant by its marker, and each has a stage."""

    stage: BrowserStage = PLAIN

    separates = False
    replaced = ()
    suites = None

    async def compile(self, _context: JobContext, sources: list[VariantSource], /) -> list[CompiledVariant]:
        return [self._compiled(source) for source in sources]

    def _compiled(self, source: VariantSource) -> CompiledVariant:
        compiled = scripted_variant(source.name, source.kind)
        variant = replace(compiled.variant, criterion=source.criterion)
        return replace(compiled, variant=variant, stage=self.stage)


class Staged(FakeEngine):
    """One whose companions log that the application ended in the variants named here."""

    dead: frozenset[str] = frozenset()

    async def run_job(self, *arguments: object) -> JobResult:  # type: ignore[override]
        result = await super().run_job(*arguments)  # type: ignore[arg-type]
        log = b'{"ended": 0}\n' if self.finished[-1].variant in self.dead else b""
        return replace(result, companion=ended(log=log).companion)
