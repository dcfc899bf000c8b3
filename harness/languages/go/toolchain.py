"""Go: test binaries, built from a variant's code and the suite in containers where no test ever runs.

The contract with a repository's run script: it takes the test binary of the package in `FOLDER` from
`$TESTWRIGHT_TEST_BINARIES/FOLDER.test.gz` where that variable is set, and builds it of the tree elsewhere.
"""

import hashlib
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from random import Random

import tree_sitter_go
from tree_sitter import Language

from harness.languages.building import refused, run_build
from harness.languages.go.binaries import (
    BUILD,
    BUILD_OPTIONS,
    BUILD_SECONDS,
    VARIANTS,
    Binary,
    Package,
    PreparedVariant,
    build_binaries,
    overlay,
)
from harness.languages.go.discovery import imports
from harness.languages.rewriting import Braces, running_text
from harness.languages.toolchain import BuildContext, Built, CompiledVariant, SuiteBuilder, SuiteFiles
from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import Job, JobResult, PlacedFile
from harness.specs.ids import TestId
from harness.specs.variants import Variant

BINARIES = "/opt/test-binaries"
FORMS = Braces(
    grammar=Language(tree_sitter_go.language()),
    functions=frozenset({"function_declaration", "method_declaration", "func_literal"}),
    blocks=frozenset({"block"}),
    labels=frozenset({"label_name"}),
    declaration="",
    footer="\nvar {name} uint32\n",
    idle="{name} = {number}\n",
    parentheses=("", ""),
)


def is_code(path: str) -> bool:
    return path.endswith(".go")


class GoToolchain:
    """See `Toolchain`. Code and suite make one binary, so everything is built anew for each suite."""

    separates = True

    @property
    def suites(self) -> SuiteBuilder:
        return self

    async def compile(self, context: BuildContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """Finds out in one container which texts compile. The placebo is rewritten in another way each time."""
        chance = Random(secrets.randbits(64))
        texts = [_Texts(source, chance) for source in sources]
        files = [file for number, text in enumerate(texts) for file in text.files(number, context.image.workdir)]
        folders = sorted({_folder(path) for source in sources for path in source.code if is_code(path)})
        job = Job(("bash", "-c", BUILD, "build", "check", VARIANTS, *folders), tuple(files), seconds=BUILD_SECONDS)
        result = await run_build(context, job, BUILD_OPTIONS)
        return [text.prepared(_form(number, text.source, result)) for number, text in enumerate(texts)]

    async def build(
        self, context: BuildContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles, /
    ) -> list[Built]:
        """One binary of each variant for each package that has tests of the suite."""
        prepared = [item for item in compiled if isinstance(item, PreparedVariant)]
        assert len(prepared) == len(compiled)
        binaries: list[dict[str, Binary]] = [{} for _ in prepared]
        for folder in sorted({_folder(test.file) for test in suite.tests}):
            made = await build_binaries(context, prepared, Package(folder, suite.files, tuple(suite.removed)))
            for mine, binary in zip(binaries, made, strict=True):
                mine[folder] = binary
        return [_built(item, suite.tests, mine) for item, mine in zip(prepared, binaries, strict=True)]


def _built(compiled: PreparedVariant, tests: Sequence[TestId], binaries: Mapping[str, Binary]) -> Built:
    code = {f"{BINARIES}/{folder}.test.gz": binary.data for folder, binary in binaries.items()}
    faults = {test.file: binaries[_folder(test.file)].fault for test in tests}
    laid = {**compiled.variant.source, **code}
    built = CompiledVariant(
        variant=replace(compiled.variant, code=code),
        prove=("sha256sum", "--", *sorted(laid)),
        proof=tuple(f"{hashlib.sha256(data).hexdigest()}  {path}" for path, data in sorted(laid.items())),
        env={"TESTWRIGHT_TEST_BINARIES": BINARIES},
    )
    return Built(built, {file: fault for file, fault in faults.items() if fault})


class _Texts:
    """What a variant's code may be compiled from: rewritten, and as it is written."""

    def __init__(self, source: VariantSource, chance: Random) -> None:
        self.source = source
        plain = {path: text for path, text in source.code.items() if path.endswith(".go")}
        self.forms = {"rewritten": {path: _running(source, path, chance) for path in plain}, "plain": plain}

    def files(self, number: int, workdir: str) -> Iterator[PlacedFile]:
        place = f"{VARIANTS}/{number:04d}"
        for form, texts in self.forms.items():
            yield overlay(f"{place}/{form}.json", workdir, {path: f"{place}/{form}/{path}" for path in texts})
            yield from (PlacedFile(f"{place}/{form}/{path}", text) for path, text in texts.items())

    def prepared(self, form: str) -> PreparedVariant:
        source = self.source
        variant = Variant(name=source.name, kind=source.kind, source=source.disk, criterion=source.criterion)
        return PreparedVariant(variant, (), (), running=self.forms[form])


def _running(source: VariantSource, path: str, chance: Random) -> bytes:
    text = running_text(FORMS, source, path, chance)
    return _with_imports(text, source.dead[path]) if path in source.dead else text


def _with_imports(text: bytes, other: bytes) -> bytes:
    """`text` with those imports of the other text that it lacks and uses, now that it has bodies of it."""
    known = {path for _, path, _ in imports(text)}
    missing = [spec for name, path, spec in imports(other) if path not in known and _uses(text, name)]
    added = "".join(f"; import {spec}" for spec in missing).encode()
    return re.sub(rb"^(package \w+)", lambda found: found[1] + added, text, count=1, flags=re.MULTILINE)


def _uses(text: bytes, name: str) -> bool:
    return re.search(rb"\b" + re.escape(name.encode()) + rb"\.", text) is not None


def _form(number: int, source: VariantSource, result: JobResult) -> str:
    """Which of a variant's texts compiles. Raises where none does: see `refused`."""
    name = f"{number:04d}"
    if name in result.outputs:
        return result.outputs[name].decode().strip()
    said = result.outputs.get(f"{name}.error", result.log).decode(errors="replace").strip().splitlines()
    why = next((line for line in said if not line.startswith("#")), "")
    raise refused(f"variant {source.name}", why)


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)
