"""Variants of a published task: text on disk, which its own run script builds and runs.

There is no split between text and code here. Against tests that look at files this helps: every variant
writes the same files, the history is gone, every variant but the baseline has other statements in the functions that
the removal touches, and some that behave the same have the removal's own lines as comments.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import resources

from harness.languages.toolchain import BuildContext, Built, CompiledVariant, SuiteBuilder, SuiteFiles
from harness.languages.variant_source import VariantSource
from harness.specs.ids import TestId
from harness.specs.variants import Variant
from harness.tracks.swe_atlas.layout import PARSER, RUN_SCRIPT
from harness.tracks.swe_atlas.task import TOOLS, PublishedTask

_IN_CONTAINER = resources.files("harness.tracks.swe_atlas") / "in_container"


def tools(task: PublishedTask) -> dict[str, bytes]:
    """What runs and reads a published task's tests, by its path in an arm."""
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
        """The task's own script runs the tests from their sources."""
        return frozenset()

    async def compile(self, _context: BuildContext, sources: Sequence[VariantSource], /) -> list[CompiledVariant]:
        """Nothing is built beforehand."""
        return [self._compiled(source) for source in sources]

    async def build(
        self, _context: BuildContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles, /
    ) -> list[Built]:
        """Files that have a name of a test in common are run one at a time: no parser says whose a name is."""
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
