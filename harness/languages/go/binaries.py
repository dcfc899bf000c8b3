"""Builds test binaries of Go packages, in containers where no test ever runs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import NamedTuple

from harness.languages.toolchain import BuildContext, CompiledVariant
from harness.sandbox.protocol import Job, JobResult, LimitReached, Limits, PlacedFile, SandboxOptions

BUILD = (resources.files("harness.languages.go") / "in_container/build.sh").read_text()
VARIANTS = "/tmp/variants"
BUILD_OPTIONS = SandboxOptions(Limits(memory_mb=3072, disk_mb=4096))
BUILD_SECONDS = 300
AT_ONCE = 6
"""Variants that one container builds: what they leave must fit into a job's outputs."""


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
    """A package's test binary of each variant. Raises SandboxLost."""
    made: dict[int, Binary] = {}
    together = [number for number, variant in enumerate(variants) if not _data_files(variant)]
    for start in range(0, len(together), AT_ONCE):
        batch = together[start : start + AT_ONCE]
        binaries = await _build(context, [variants[number] for number in batch], package)
        if len(batch) == 1 or not any(binary.cut_short for binary in binaries):
            made |= zip(batch, binaries, strict=True)
    # What came to a limit beside others is built by itself: only then it is its own fault.
    for number, variant in enumerate(variants):
        if number not in made:
            (made[number],) = await _build(context, [variant], package)
    return [made[number] for number in range(len(variants))]


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
        seconds=BUILD_SECONDS,
    )
    try:
        result = await context.engine.run_job(context.image, job, BUILD_OPTIONS, context.labels)
    except LimitReached as limit:
        return [Binary(b"", f"building its package took {limit}", cut_short=True) for _ in variants]
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
    if f"{number:04d}.gz" not in result.outputs:
        cut_short = result.timed_out or result.out_of_memory or not result.complete
        return Binary(b"", "its package's tests do not compile", cut_short)
    return Binary(result.outputs[f"{number:04d}.gz"])
