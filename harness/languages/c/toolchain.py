"""C: a library that test programs are linked with, built beforehand from a variant's code.

The contract with a repository's run script: `run_tests --library DIR` makes `library.a` of the tree's sources, by
$CFLAGS, and `sources`, which lists the sha256 of each of them. In the image both lie in LIBRARY; as long as the
sources on disk are those listed, `run_tests` links that library and compiles nothing but the test programs.
"""

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from random import Random

import tree_sitter_c
from tree_sitter import Language

from harness.languages.building import refused, run_build
from harness.languages.rewriting import Braces, running_text
from harness.languages.toolchain import BuildContext, CompiledVariant
from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import Job, JobResult, PlacedFile
from harness.specs.variants import Variant

LIBRARY = "/opt/library"
BUILD = (resources.files("harness.languages.c") / "in_container/build.sh").read_text()
FORMS = Braces(
    grammar=Language(tree_sitter_c.language()),
    functions=frozenset({"function_definition"}),
    blocks=frozenset({"compound_statement"}),
    labels=frozenset({"statement_identifier"}),
    declaration="static volatile unsigned int {name};\n",
    footer="",
    idle="{name} = {number}u;\n",
)
_VARIANTS = "/tmp/variants"
_FLAGS = "-O1"
_OTHER_FLAGS = ("-O2", "-Os")
_MOST_PADDING = 64
"""Of instructions without effect at the start of each function."""
_BUILD_SECONDS = 300


def is_code(path: str) -> bool:
    return path.endswith(".c")


class CToolchain:
    """See `Toolchain`. Test programs are compiled in the arm, against headers on disk and the library of the code."""

    separates = True
    suites = None

    async def compile(self, context: BuildContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """All variants in one container. The placebo is rewritten in another way each time: nothing can know how."""
        chance = Random(secrets.randbits(64))
        files = [file for number, source in enumerate(sources) for file in _placed(number, source, chance)]
        job = Job(
            argv=("bash", "-c", BUILD, "build", _VARIANTS, "run_tests"), files=tuple(files), seconds=_BUILD_SECONDS
        )
        result = await run_build(context, job)
        return [_compiled(source, *_made(number, source, result)) for number, source in enumerate(sources)]


def _placed(number: int, source: VariantSource, chance: Random) -> Iterator[PlacedFile]:
    folder = f"{_VARIANTS}/{number:04d}"
    flags = _FLAGS
    if source.rewritten_lines:
        flags = f"{chance.choice(_OTHER_FLAGS)} -fpatchable-function-entry={chance.randint(1, _MOST_PADDING)}"
    yield PlacedFile(f"{folder}/flags", flags.encode())
    for path, text in source.code.items():
        running = running_text(FORMS, source, path, chance) if path.endswith(".c") else text
        yield PlacedFile(f"{folder}/code/{path}", running)


def _made(number: int, source: VariantSource, result: JobResult) -> tuple[bytes, bytes]:
    """A variant's library and the list of what it is made of. Raises as `refused` says for the first absent one."""
    names = [f"{number:04d}.library", f"{number:04d}.sources"]
    if not all(name in result.outputs for name in names):
        lines = result.log.decode(errors="replace").strip().splitlines()
        why = next((line for line in reversed(lines) if "error" in line), "".join(lines[-1:]))
        raise refused(f"variant {source.name}", why)
    return result.outputs[names[0]], result.outputs[names[1]]


def _compiled(source: VariantSource, library: bytes, sources: bytes) -> CompiledVariant:
    code = {f"{LIBRARY}/library.a": library, f"{LIBRARY}/sources": _as_on_disk(sources, source.disk)}
    variant = Variant(name=source.name, kind=source.kind, source=source.disk, code=code, criterion=source.criterion)
    laid = sorted({**source.disk, **code}.items())
    proof = tuple(f"{_sha256(data)}  {path}" for path, data in laid)
    return CompiledVariant(variant, ("sha256sum", "--", *(path for path, _ in laid)), proof)


def _as_on_disk(sources: bytes, disk: Mapping[str, bytes]) -> bytes:
    """The list of sources that makes `run_tests` take the library for one of these texts."""
    lines = [line.split("  ", 1) for line in sources.decode().splitlines()]
    hashes = {path: _sha256(disk[path]) if path in disk else known for known, path in lines}
    return "".join(f"{known}  {path}\n" for path, known in hashes.items()).encode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
