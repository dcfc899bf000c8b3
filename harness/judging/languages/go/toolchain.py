"""Go: test binaries, built from a variant's code and the suite in containers where no test ever runs.

The contract with a repository's run script: it takes the test binary of the package in `FOLDER` from
`$TESTWRIGHT_TEST_BINARIES/FOLDER.test.gz` where that variable is set, and builds it of the tree elsewhere.

Builds test binaries of Go packages, in containers where no test ever runs.

Rewrites Go variants in a container: a small program of ours, on go/ast and go/types, does it there.

The program is text here (in_container/rewriter), and is built in the container, in half a second.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from harness.judging.languages.toolchain import (
    Built,
    CompiledVariant,
    JobContext,
    SuiteBuilder,
    SuiteFiles,
    last_line,
    refused,
    run_build,
)
from harness.judging.languages.variant_source import VariantSource
from harness.sandbox.archives import MAX_OUTPUTS_BYTES
from harness.sandbox.protocol import Job, JobResult, LimitReached, Limits, PlacedFile, SandboxOptions
from harness.specs.test_results import TestId
from harness.specs.variants import Variant

BUILD = (resources.files("harness.judging.languages.go") / "in_container/build.sh").read_text()
VARIANTS = "/tmp/variants"
BUILD_OPTIONS = SandboxOptions(Limits(memory_mb=3072, disk_mb=4096))
SECONDS_EACH = 60
"""For one package of one variant; those of this repository's largest package take less than ten."""
AT_ONCE = 8
"""Variants that one container builds, where what they leave fits into a job's outputs."""


@dataclass(frozen=True)
class PreparedVariant(CompiledVariant):
    """A variant before it is built. `running` is the text that the code of each file is compiled from."""

    running: Mapping[str, bytes] = field(default_factory=dict)


class Package(NamedTuple):
    """Parts of a test binary beside the variant: the suite's files, and those that it takes out."""

    folder: str
    files: Mapping[str, bytes]
    removed: tuple[str, ...]


class Binary(NamedTuple):
    """gzipped, or empty and why it can't be had. `cut_short`: a limit of its container ended the building."""

    data: bytes
    fault: str = ""
    cut_short: bool = False


async def build_binaries(context: JobContext, variants: Sequence[PreparedVariant], package: Package) -> list[Binary]:
    """Return a package's test binary of each variant.

    The first one is built by itself: its size says how many others one container may leave. Where a container comes
    to
    one of its limits, no variant has a binary of this package, and nothing more is built of it.

    Raises:
        SandboxLost: A container was lost.
    """
    made: dict[int, Binary] = {}
    together = [number for number, variant in enumerate(variants) if not _data_files(variant)]
    batches = [[number] for number, variant in enumerate(variants) if _data_files(variant)]
    batches += [together[:1]]
    room, rest = 1, together[1:]
    while batches:
        batch = batches.pop(0)
        if batch:
            binaries = await _build(context, [variants[number] for number in batch], package)
            if cut := next((binary for binary in binaries if binary.cut_short), None):
                return [cut] * len(variants)
            made |= zip(batch, binaries, strict=True)
            room = _room(binaries)
        if rest and not batches:
            batches, rest = [rest[:room]], rest[room:]
    return [made[number] for number in range(len(variants))]


def _room(binaries: Sequence[Binary]) -> int:
    """Return how many binaries of this size fit into the outputs of one container."""
    largest = max(len(binary.data) for binary in binaries)
    return max(1, min(AT_ONCE, MAX_OUTPUTS_BYTES // max(1, largest + largest // 8)))


def _data_files(variant: PreparedVariant) -> dict[str, bytes]:
    """Return what is part of the tree and not compiled; it differs from variant to variant."""
    return {path: data for path, data in variant.variant.source.items() if path not in variant.running}


async def _build(context: JobContext, variants: Sequence[PreparedVariant], package: Package) -> list[Binary]:
    laid = dict(package.files)
    if len(variants) == 1:
        laid = {**_data_files(variants[0]), **laid}
    placed = [PlacedFile(f"{context.image.workdir}/{path}", data) for path, data in laid.items()]
    for number, variant in enumerate(variants):
        placed += _placed(number, variant, context.image.workdir)
    job = Job(
        argv=("bash", "-c", BUILD, "build", "suite", VARIANTS, package.folder, *package.removed),
        files=tuple(placed),
        seconds=SECONDS_EACH * len(variants),
    )
    try:
        result = await context.run_job(job, BUILD_OPTIONS)
    except LimitReached as limit:
        words = f"building its package takes more {limit.limit} than its container has"
        return [Binary(b"", words, cut_short=True) for _ in variants]
    return [_read(number, variant, package, result) for number, variant in enumerate(variants)]


def _placed(number: int, variant: PreparedVariant, workdir: str) -> Iterator[PlacedFile]:
    place = f"{VARIANTS}/{number:04d}"
    yield overlay(f"{place}/overlay.json", workdir, {path: f"{place}/code/{path}" for path in variant.running})
    yield from (PlacedFile(f"{place}/code/{path}", text) for path, text in variant.running.items())


def overlay(path: str, workdir: str, texts: Mapping[str, str]) -> PlacedFile:
    """Return an overlay file (see `go help build`); `texts` maps files of the tree to where their text lies."""
    replaced = {f"{workdir}/{file}": text for file, text in texts.items()}
    return PlacedFile(path, json.dumps({"Replace": replaced}).encode())


def _read(number: int, variant: PreparedVariant, package: Package, result: JobResult) -> Binary:
    names = result.outputs.get("embedded", b"").decode(errors="replace").split("\n")
    if {f"{package.folder}/{name}" for name in names} & variant.running.keys():
        return Binary(b"", "its package's tests embed the code that they test")
    if result.timed_out or result.out_of_memory or not result.complete:
        limit = "time" if result.timed_out else "memory" if result.out_of_memory else "disk"
        return Binary(b"", f"building its package takes more {limit} than its container has", cut_short=True)
    if f"{number:04d}.gz" not in result.outputs:
        return Binary(b"", "its package's tests do not compile")
    return Binary(result.outputs[f"{number:04d}.gz"])


OPTIONS = SandboxOptions(Limits(memory_mb=3072, disk_mb=4096))
SECONDS = 300
_FOLDER = resources.files("harness.judging.languages.go") / "in_container" / "rewriter"
_PLACE = "/tmp/rewriter"
_TEXTS = "/tmp/texts"
_PLAN = "/tmp/plan.json"
_RESULT = "rewritten.json"
_MAIN = """\
export GOGC=400 GOMEMLIMIT=1GiB  # half of the time would be spent on finding garbage
go build -o /tmp/rewrite "$1"/*.go && exec /tmp/rewrite "$2" "$3" "$TESTWRIGHT_REPORT_DIR/$4"
"""


class Rewritten(NamedTuple):
    """The texts that a variant's code is compiled from.

    `rules` says how often each rule was applied. `dropped` counts changes that were left out since the file would
    not have compiled with them, `lost_bodies` inert bodies.
    """

    texts: Mapping[str, bytes]
    rules: Mapping[str, int]
    dropped: int = 0
    lost_bodies: int = 0


@dataclass(frozen=True)
class Request:
    """One variant: its source, and the texts of its Go files before any seed changes them.

    `rules` are those of the catalogue that may be used, all if none is named.
    """

    source: VariantSource
    texts: Mapping[str, bytes]
    rules: tuple[str, ...] = ()

    @property
    def seed(self) -> int | None:
        """A number of 63 bits, of whatever size the source's is."""
        if self.source.seed is None:
            return None
        return int.from_bytes(hashlib.sha256(str(self.source.seed).encode()).digest()[:8]) >> 1


async def rewrite_variants(context: JobContext, requests: Sequence[Request]) -> list[Rewritten]:
    """Return every variant's texts, checked as the compiler would, in one container.

    Raises:
        UserError: A variant doesn't compile as it is written.
        SandboxLost: The container was lost.
    """
    texts: dict[str, bytes] = {}

    def kept(text: bytes) -> str:
        name = hashlib.sha256(text).hexdigest()
        texts[name] = text
        return name

    variants = [_wanted(number, request, kept) for number, request in enumerate(requests)]
    program = [entry for entry in _FOLDER.iterdir() if entry.name.endswith(".go")]
    files = [PlacedFile(f"{_PLACE}/{entry.name}", entry.read_bytes()) for entry in program]
    files += [PlacedFile(f"{_TEXTS}/{name}", text) for name, text in sorted(texts.items())]
    files.append(PlacedFile(_PLAN, json.dumps({"variants": variants}).encode()))
    job = Job(("bash", "-c", _MAIN, "rewrite", _PLACE, _PLAN, _TEXTS, _RESULT), tuple(files), seconds=SECONDS)
    result = await run_build(context, job, OPTIONS)
    if _RESULT not in result.outputs:
        raise refused("every variant", last_line(result.log))
    answers = json.loads(result.outputs[_RESULT])
    return [_rewriting_read(request.source, answers[f"{number:04d}"]) for number, request in enumerate(requests)]


def _wanted(number: int, request: Request, kept: Any) -> dict[str, Any]:
    source = request.source
    files = {
        path: {
            "code": kept(text),
            "family": [kept(other) for other in source.family.get(path, ())],
            "inert": [kept(other) for other in source.inert.get(path, ())],
        }
        for path, text in request.texts.items()
    }
    return {"name": f"{number:04d}", "seed": request.seed, "files": files, "rules": request.rules}


def _rewriting_read(source: VariantSource, answer: Mapping[str, Any]) -> Rewritten:
    if answer["error"]:
        raise refused(f"variant {source.name}", answer["error"].splitlines()[0])
    texts = {path: text.encode() for path, text in answer["files"].items()}
    return Rewritten(texts, answer["rules"], answer["dropped"], answer["lost_bodies"])


BINARIES = "/opt/test-binaries"


_AS_GO_TEST = """\
work=$(mktemp -d) status=0
GOROOT=$(readlink -f /usr/lib/go)  # as the go command sets both
export GOROOT PATH=$GOROOT/bin:$PATH
while [[ $# -gt 0 ]]; do
    binary=$work/$(basename -- "$1").test
    gzip -dc "$TESTWRIGHT_TEST_BINARIES/$1.test.gz" > "$binary" && chmod 755 "$binary" || exit 125
    (cd -- "$1" && exec "$binary" -test.paniconexit0 -test.timeout=10m0s "-test.run=$2") || status=1
    shift 2
done
exit "$status"
"""


def package_command(tests: Iterable[TestId]) -> tuple[str, ...]:
    """Return the command that runs tests as `go test ./FOLDER -run NAMES` does, of binaries that came along."""
    names: dict[str, list[str]] = {}
    for test in tests:
        names.setdefault(_folder(test.file), []).append(test.name)
    patterns = (word for folder, listed in sorted(names.items()) for word in (folder, f"^({'|'.join(listed)})$"))
    return ("bash", "-c", _AS_GO_TEST, "packages", *patterns)


def is_code(path: str) -> bool:
    """Return whether a path is that of Go code, not of a test."""
    return path.endswith(".go")


class GoToolchain:
    """See `Toolchain`. Code and suite make one binary, so everything is built anew for each suite."""

    separates = True
    replaced = (BINARIES,)

    @property
    def suites(self) -> SuiteBuilder:
        return self

    def programs(self, tests: Iterable[TestId], /) -> frozenset[str]:
        """Return the folders of their packages."""
        return frozenset(_folder(test.file) for test in tests)

    async def compile(self, context: JobContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """Rewrite each variant's Go files, or check them where it has no seed, in one container."""
        requests = [Request(source, _code(source)) for source in sources]
        made = await rewrite_variants(context, requests)
        return [_prepared(source, item.texts) for source, item in zip(sources, made, strict=True)]

    async def build(
        self, context: JobContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles, /
    ) -> list[Built]:
        """Build one binary of each variant for each package that has tests of the suite."""
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
