"""Go: test binaries, built from a variant's code and the suite in containers where no test ever runs.

The contract with a repository's run script: it takes the test binary of the package in `FOLDER` from
`$TESTWRIGHT_TEST_BINARIES/FOLDER.test.gz` where that variable is set, and builds it of the tree elsewhere.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from harness.languages.go.binaries import Binary, Package, PreparedVariant, build_binaries
from harness.languages.go.rewriting import Request, rewrite_variants
from harness.languages.toolchain import BuildContext, Built, CompiledVariant, SuiteBuilder, SuiteFiles
from harness.languages.variant_source import VariantSource
from harness.specs.ids import TestId
from harness.specs.variants import Variant

BINARIES = "/opt/test-binaries"


def is_code(path: str) -> bool:
    return path.endswith(".go")


class GoToolchain:
    """See `Toolchain`. Code and suite make one binary, so everything is built anew for each suite."""

    separates = True
    replaced = (BINARIES,)

    @property
    def suites(self) -> SuiteBuilder:
        return self

    def programs(self, tests: Iterable[TestId], /) -> frozenset[str]:
        """The folders of their packages."""
        return frozenset(_folder(test.file) for test in tests)

    async def compile(self, context: BuildContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """Rewrites each variant's Go files, or checks them where it has no seed, in one container."""
        requests = [Request(source, _code(source)) for source in sources]
        made = await rewrite_variants(context, requests)
        return [_prepared(source, item.texts) for source, item in zip(sources, made, strict=True)]

    async def build(
        self, context: BuildContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles, /
    ) -> list[Built]:
        """One binary of each variant for each package that has tests of the suite."""
        prepared = [item for item in compiled if isinstance(item, PreparedVariant)]
        assert len(prepared) == len(compiled)
        binaries: list[dict[str, Binary]] = [{} for _ in prepared]
        for folder in sorted(self.programs(suite.tests)):
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
        env={**compiled.env, "TESTWRIGHT_TEST_BINARIES": BINARIES},
    )
    return Built(built, {file: fault for file, fault in faults.items() if fault})


def _code(source: VariantSource) -> dict[str, bytes]:
    return {path: text for path, text in source.code.items() if is_code(path)}


def _prepared(source: VariantSource, texts: Mapping[str, bytes]) -> PreparedVariant:
    variant = Variant(name=source.name, kind=source.kind, source=source.disk, criterion=source.criterion)
    return PreparedVariant(variant, (), (), running=texts)


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)
