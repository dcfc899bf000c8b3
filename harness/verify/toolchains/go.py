"""Go: test binaries, built of a variant's code and the suite where no test ever runs.

The contract with a repository's run script: it takes the test binary of the package in `FOLDER` from
`$TESTWRIGHT_TEST_BINARIES/FOLDER.test.gz` where that variable is set, and builds it of the tree elsewhere.
"""

import asyncio
import hashlib
import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import PurePosixPath
from random import Random
from typing import NamedTuple, Self

import tree_sitter_go
from tree_sitter import Language

from harness.sandbox.protocol import Job, JobResult, LimitReached, Limits, PlacedFile
from harness.specs.errors import UserError
from harness.specs.ids import TestId
from harness.specs.variants import Variant
from harness.submission.discovery.go import imports
from harness.verify.toolchains.grafting import Braces, running_text
from harness.verify.toolchains.protocol import Built, CompiledVariant, Site
from harness.verify.variant_source import VariantSource

BINARIES = "/opt/test-binaries"
BUILD = (resources.files("harness.verify.toolchains.in_container") / "build_go.sh").read_text()
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
_VARIANTS = "/tmp/variants"
_LIMITS = Limits(memory_mb=3072, disk_mb=4096)
_SECONDS = 300


@dataclass(frozen=True)
class _Prepared(CompiledVariant):
    """`running` is the text that the code of each file is compiled from."""

    running: Mapping[str, bytes] = field(default_factory=dict)
    made: dict[str, "_Made"] = field(default_factory=dict, compare=False)

    def for_suite(self) -> Self:
        return replace(self, made={})


@dataclass
class _Made:
    """A binary that several arms share: whoever comes first makes it."""

    making: asyncio.Lock = field(default_factory=asyncio.Lock)
    binary: tuple[bytes, str] | None = None


class _Package(NamedTuple):
    """What a test binary is made of, beside the variant: the suite's files, and those that it takes out."""

    folder: str
    files: Mapping[str, bytes]
    removed: tuple[str, ...]

    @property
    def key(self) -> str:
        whole = hashlib.sha256(repr((self.folder, self.removed)).encode())
        for path, data in sorted(self.files.items()):
            whole.update(f"{path}\0{hashlib.sha256(data).hexdigest()}\n".encode())
        return whole.hexdigest()


class GoToolchain:
    """See `Toolchain`. Code and suite make one binary, so everything is built anew for each suite."""

    separates = True

    def is_compiled(self, path: str) -> bool:
        return path.endswith(".go")

    def commented(self, text: bytes, lines: Sequence[str]) -> bytes:
        comments = "".join(f"// {line}\n" for line in lines)
        return text.rstrip(b"\n") + b"\n" + comments.encode("utf-8", "surrogateescape")

    async def compile(self, site: Site, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """Finds out in one container which texts compile. The placebo's disguise is another one each time."""
        chance = Random(secrets.randbits(64))
        texts = [_Texts(source, chance) for source in sources]
        files = [file for number, text in enumerate(texts) for file in text.files(number, site.image.workdir)]
        folders = sorted({_folder(path) for source in sources for path in source.code if self.is_compiled(path)})
        job = Job(("bash", "-c", BUILD, "build", "check", _VARIANTS, *folders), tuple(files), seconds=_SECONDS)
        result = await site.engine.run_job(site.image, job, _LIMITS, site.labels)
        return [text.prepared(_form(number, text.source, result)) for number, text in enumerate(texts)]

    async def build(
        self,
        site: Site,
        compiled: CompiledVariant,
        tests: Sequence[TestId],
        files: Mapping[str, bytes],
        removed: Sequence[str],
    ) -> Built:
        """One binary for each package that has tests of the suite."""
        assert isinstance(compiled, _Prepared)
        code, broken = {}, {}
        for folder in sorted({_folder(test.file) for test in tests}):
            binary, fault = await _binary_once(site, compiled, _Package(folder, files, tuple(removed)))
            code[f"{BINARIES}/{folder}.test.gz"] = binary
            broken.update({test.file: fault for test in tests if fault and _folder(test.file) == folder})
        laid = {**compiled.variant.source, **code}
        built = CompiledVariant(
            variant=replace(compiled.variant, code=code),
            prove=("sha256sum", "--", *sorted(laid)),
            proof=tuple(f"{hashlib.sha256(data).hexdigest()}  {path}" for path, data in sorted(laid.items())),
            env={"TESTWRIGHT_TEST_BINARIES": BINARIES},
        )
        return Built(built, broken)


class _Texts:
    """What a variant's code may be compiled from: disguised, and as it is written."""

    def __init__(self, source: VariantSource, chance: Random) -> None:
        self.source = source
        plain = {path: text for path, text in source.code.items() if path.endswith(".go")}
        self.forms = {"disguised": {path: _running(source, path, chance) for path in plain}, "plain": plain}

    def files(self, number: int, workdir: str) -> Iterator[PlacedFile]:
        place = f"{_VARIANTS}/{number:04d}"
        for form, texts in self.forms.items():
            yield _overlay(f"{place}/{form}.json", workdir, {path: f"{place}/{form}/{path}" for path in texts})
            yield from (PlacedFile(f"{place}/{form}/{path}", text) for path, text in texts.items())

    def prepared(self, form: str) -> _Prepared:
        source = self.source
        variant = Variant(name=source.name, kind=source.kind, source=source.disk, criterion=source.criterion)
        return _Prepared(variant, (), (), running=self.forms[form])


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


def _overlay(path: str, workdir: str, texts: Mapping[str, str]) -> PlacedFile:
    replaced = {f"{workdir}/{file}": text for file, text in texts.items()}
    return PlacedFile(path, json.dumps({"Replace": replaced}).encode())


def _form(number: int, source: VariantSource, result: JobResult) -> str:
    """Which of a variant's texts compiles. Raises UserError where none does."""
    name = f"{number:04d}"
    if name in result.outputs:
        return result.outputs[name].decode().strip()
    said = result.outputs.get(f"{name}.error", result.log).decode(errors="replace").strip().splitlines()
    why = next((line for line in said if not line.startswith("#")), "")
    raise UserError(f"variant {source.name} of this task does not compile: {why}")


async def _binary_once(site: Site, compiled: _Prepared, package: _Package) -> tuple[bytes, str]:
    made = compiled.made.setdefault(package.key, _Made())
    async with made.making:
        if made.binary is None:
            made.binary = await _binary(site, compiled, package)
    return made.binary


async def _binary(site: Site, compiled: _Prepared, package: _Package) -> tuple[bytes, str]:
    """A package's test binary, or nothing and why it can't be had."""
    place = f"{_VARIANTS}/code"
    overlay = _overlay(f"{_VARIANTS}/overlay.json", site.image.workdir, {p: f"{place}/{p}" for p in compiled.running})
    data_files = {path: data for path, data in compiled.variant.source.items() if path not in compiled.running}
    placed = [
        overlay,
        *(PlacedFile(f"{place}/{path}", text) for path, text in compiled.running.items()),
        *(PlacedFile(f"{site.image.workdir}/{path}", data) for path, data in {**data_files, **package.files}.items()),
    ]
    job = Job(
        argv=("bash", "-c", BUILD, "build", "suite", overlay.path, package.folder, *package.removed),
        files=tuple(placed),
        seconds=_SECONDS,
    )
    try:
        result = await site.engine.run_job(site.image, job, _LIMITS, site.labels)
    except LimitReached as limit:
        return b"", f"building its package took more {limit} than there is"
    embedded = {
        f"{package.folder}/{path}"
        for path in result.outputs.get("embedded", b"").decode(errors="replace").split("\n")
    }
    if embedded & compiled.running.keys():
        return b"", "its package's tests embed the code that they test"
    if result.exit_status != 0 or "test.gz" not in result.outputs:
        return b"", "its package's tests do not compile"
    return result.outputs["test.gz"], ""


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)
