"""Builds test binaries of Go packages, in containers where no test ever runs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import NamedTuple

from harness.languages.toolchain import BuildContext, CompiledVariant
from harness.sandbox.archives import MAX_OUTPUTS_BYTES
from harness.sandbox.protocol import Job, JobResult, LimitReached, Limits, PlacedFile, SandboxOptions

BUILD = (resources.files("harness.languages.go") / "in_container/build.sh").read_text()
VARIANTS = "/tmp/variants"
BUILD_OPTIONS = SandboxOptions(Limits(memory_mb=3072, disk_mb=4096))
SECONDS_EACH = 60
"""For one package of one variant; those of this repository's largest package take less than ten."""
AT_ONCE = 8
"""Variants that one container builds, where what they leave fits into a job's outputs."""


@dataclass(frozen=True)
class PreparedVariant(CompiledVariant):
    """`running` is the text that the code of each file is compiled from."""

    running: Mapping[str, bytes] = field(default_factory=dict)


class Package(NamedTuple):
    """What a test binary is made of, beside the variant: the suite's files, and those that it takes out."""

    folder: str
    files: Mapping[str, bytes]
    removed: tuple[str, ...]


class Binary(NamedTuple):
    """gzipped, or empty and why it can't be had. `cut_short`: a limit of its container ended the building."""

    data: bytes
    fault: str = ""
    cut_short: bool = False


async def build_binaries(
    context: BuildContext, variants: Sequence[PreparedVariant], package: Package
) -> list[Binary]:
    """A package's test binary of each variant. Raises SandboxLost.

    The first one is built by itself: its size says how many others one container may leave. Where a container comes
    to one of its limits, no variant has a binary of this package, and nothing more is built of it.
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
    """How many binaries of this size fit into the outputs of one container."""
    largest = max(len(binary.data) for binary in binaries)
    return max(1, min(AT_ONCE, MAX_OUTPUTS_BYTES // max(1, largest + largest // 8)))


def _data_files(variant: PreparedVariant) -> dict[str, bytes]:
    """What is part of the tree and not compiled; it differs from variant to variant."""
    return {path: data for path, data in variant.variant.source.items() if path not in variant.running}


async def _build(context: BuildContext, variants: Sequence[PreparedVariant], package: Package) -> list[Binary]:
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
        result = await context.engine.run_job(context.image, job, BUILD_OPTIONS, context.labels)
    except LimitReached as limit:
        words = f"building its package takes more {limit.limit} than its container has"
        return [Binary(b"", words, cut_short=True) for _ in variants]
    return [_read(number, variant, package, result) for number, variant in enumerate(variants)]


def _placed(number: int, variant: PreparedVariant, workdir: str) -> Iterator[PlacedFile]:
    place = f"{VARIANTS}/{number:04d}"
    yield overlay(f"{place}/overlay.json", workdir, {path: f"{place}/code/{path}" for path in variant.running})
    yield from (PlacedFile(f"{place}/code/{path}", text) for path, text in variant.running.items())


def overlay(path: str, workdir: str, texts: Mapping[str, str]) -> PlacedFile:
    """`go help build` says what it is; `texts` maps files of the tree to where their text lies."""
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
