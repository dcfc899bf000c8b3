"""Variants of a published task: text on disk, which its own run script builds and runs.

There is no split between text and code here. Against tests that look at files this helps: every variant
writes the same files, the history is gone, one placebo has the removal's own lines as comments, and another one
other statements in the functions that the removal touches.
"""

import hashlib
import random
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources

from harness.languages.code import Code
from harness.languages.toolchain import BuildContext, Built, CompiledVariant, SuiteBuilder, SuiteFiles
from harness.languages.variant_source import VariantSource
from harness.specs.variants import Variant
from harness.tracks.swe_atlas.layout import PARSER, RUN_SCRIPT
from harness.tracks.swe_atlas.task import TOOLS, PublishedTask

RUN = (resources.files("harness.tracks.swe_atlas") / "in_container/run_published.sh").read_bytes()


class OnDiskToolchain:
    """See `Toolchain`. `code` is the language's: what is code there, and how it is rewritten."""

    separates = False

    def __init__(self, task: PublishedTask, code: Code) -> None:
        self._task, self._code = task, code

    @property
    def suites(self) -> SuiteBuilder:
        return self

    async def compile(self, _context: BuildContext, sources: Sequence[VariantSource], /) -> list[CompiledVariant]:
        """Nothing is built beforehand. The placebo is rewritten in another way each time: nothing can know how."""
        chance = random.Random(secrets.randbits(64))
        return [self._compiled(source, chance) for source in sources]

    async def build(
        self, _context: BuildContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles, /
    ) -> list[Built]:
        """Files that have a name of a test in common are run one at a time: no parser says whose a name is."""
        files_of = Counter(name for _, name in {(test.file, test.name) for test in suite.tests})
        apart = {"TESTWRIGHT_APART": "1"} if max(files_of.values(), default=0) > 1 else {}
        return [Built(replace(item, env={**item.env, **apart})) for item in compiled]

    def _compiled(self, source: VariantSource, chance: random.Random) -> CompiledVariant:
        disk = {path: self._running(source, path, chance) for path in source.disk}
        tools = {
            f"{TOOLS}/run_tests": RUN,
            f"{TOOLS}/run_script.sh": self._task.patch(RUN_SCRIPT),
            f"{TOOLS}/parse_script.py": self._task.patch(PARSER),
        }
        laid = sorted({**disk, **tools}.items())
        return CompiledVariant(
            variant=Variant(name=source.name, kind=source.kind, source=disk, code=tools, criterion=source.criterion),
            prove=("sha256sum", "--", *(path for path, _ in laid)),
            proof=tuple(f"{hashlib.sha256(data).hexdigest()}  {path}" for path, data in laid),
            env={"TESTWRIGHT_TOUCHED": "\n".join(sorted(disk))},
            executable=frozenset(tools),
        )

    def _running(self, source: VariantSource, path: str, chance: random.Random) -> bytes:
        lines = source.rewritten_lines.get(path)
        if not lines or not self._code.is_code(path):
            return source.disk[path]
        return self._code.rewrite(source.disk[path], lines, chance)
