"""Variants of a published task: text on disk, which its own run script builds and runs.

No split between text and code is to be had there. What remains against tests that look at files: every variant
writes the same files, the history is gone, one placebo has the removal's own lines as comments, and another one
other statements in the functions that the removal touches.
"""

import hashlib
import random
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources

from harness.languages.python.rewriting import rewrite_python
from harness.languages.rewriting import Braces, fresh_name, rewrite
from harness.languages.toolchain import BuildContext, Built, CompiledVariant, Toolchain
from harness.languages.variant_source import VariantSource
from harness.specs.ids import TestId
from harness.specs.repo import Language
from harness.specs.swe_atlas.layout import PARSER, RUN_SCRIPT
from harness.specs.swe_atlas.task import TOOLS, PublishedTask
from harness.specs.variants import Variant

RUN = (resources.files("harness.verify.published") / "in_container/run_published.sh").read_bytes()


class OnDiskToolchain:
    """See `Toolchain`. Comments and what is code are as the language's own toolchain, `own`, knows them."""

    separates = False

    def __init__(self, task: PublishedTask, own: Toolchain) -> None:
        self._task, self._own = task, own

    def is_compiled(self, path: str) -> bool:
        return self._own.is_compiled(path)

    def commented(self, text: bytes, lines: Sequence[str]) -> bytes:
        return self._own.commented(text, lines)

    async def compile(self, context: BuildContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:  # noqa: ARG002
        """Nothing is built beforehand. The placebo is rewritten in another way each time: nothing can know how."""
        chance = random.Random(secrets.randbits(64))
        return [self._compiled(source, chance) for source in sources]

    async def build(
        self,
        context: BuildContext,  # noqa: ARG002
        compiled: Sequence[CompiledVariant],
        tests: Sequence[TestId],
        files: Mapping[str, bytes],  # noqa: ARG002
        removed: Sequence[str],  # noqa: ARG002
    ) -> list[Built]:
        """Files that have a name of a test in common are run one at a time: no parser says whose a name is."""
        files_of = Counter(name for _, name in {(test.file, test.name) for test in tests})
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
        if not lines or not self.is_compiled(path):
            return source.disk[path]
        forms = _forms(self._task.repo.language)
        if forms is None:
            return rewrite_python(source.disk[path], lines, chance, fresh_name(chance))
        return rewrite(forms, source.disk[path], lines, chance, fresh_name(chance))


def _forms(language: Language) -> Braces | None:
    """None for the language whose blocks have no braces."""
    match language:
        case Language.PYTHON:
            return None
        case Language.C:
            from harness.languages.c.toolchain import FORMS
        case Language.GO:
            from harness.languages.go.toolchain import FORMS
        case Language.TYPESCRIPT:
            from harness.languages.typescript.toolchain import FORMS
    return FORMS
