"""C, as it is registered.

C: a library that test programs are linked with, built beforehand from a variant's code.

The contract with a repository's run script: `run_tests --library DIR` makes `library.a` of the tree's sources, by
$CFLAGS, and `sources`, which lists the sha256 of each of them. In the image both lie in LIBRARY; as long as the
sources on disk are those listed, `run_tests` links that library and compiles nothing but the test programs.
"""

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from harness.judging.languages.c import discovery, mutants, stubs
from harness.judging.languages.c.catalogue import GRAMMAR, running_text
from harness.judging.languages.c.conduct import CONDUCT
from harness.judging.languages.on_disk import Braces, Lending, writer_of
from harness.judging.languages.protocol import FuzzSkeleton, IdForm, Language, WorthlessTest
from harness.judging.languages.toolchain import CompiledVariant, JobContext, refused, run_build
from harness.judging.languages.variant_source import Code, VariantSource
from harness.sandbox.protocol import Job, JobResult, PlacedFile
from harness.specs.repo import Drawing, Frame
from harness.specs.variants import Variant

LIBRARY = "/opt/library"
BUILD = (resources.files("harness.judging.languages.c") / "in_container/build.sh").read_text()
_FUZZ = (resources.files("harness.judging.languages.c") / "skeletons/fuzz.txt").read_text()
_VARIANTS = "/tmp/variants"
_FLAGS = "-O1 -w"
"""Options without warnings, of which a compiler has many for rewritten text. They are the same for every variant,
pristine ones included, so that `run_tests` compiles what none of them changes once."""
_MOST_ATTEMPTS = 3
"""There is no preprocessor in front of the rules: a macro of a header may make other text of one than it seems."""
_BUILD_SECONDS = 300


def is_code(path: str) -> bool:
    """Return whether a path is that of C code, not of a test."""
    return path.endswith(".c")


class CToolchain:
    """See `Toolchain`. Test programs are compiled in the arm, against headers on disk and the library of the code."""

    separates = True
    replaced = (LIBRARY,)
    suites = None

    async def compile(self, context: JobContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """Compile all variants in one container.

        One whose rewriting isn't C is rewritten another way, a few times.
        """
        attempts = dict.fromkeys(range(len(sources)), 0)
        placed = {number: await asyncio.to_thread(_placed, number, source) for number, source in enumerate(sources)}
        while True:
            files = tuple(file for number in attempts for file in placed[number])
            job = Job(("bash", "-c", BUILD, "build", _VARIANTS, "run_tests"), files, seconds=_BUILD_SECONDS)
            result = await run_build(context, job)
            failed = next((number for number in attempts if not _is_made(number, result)), None)
            if failed is None or sources[failed].seed is None or attempts[failed] == _MOST_ATTEMPTS:
                return [_compiled(source, *_made(number, source, result)) for number, source in enumerate(sources)]
            attempts[failed] += 1
            placed[failed] = await asyncio.to_thread(_placed, failed, sources[failed], attempts[failed])


def _placed(number: int, source: VariantSource, attempt: int = 0) -> list[PlacedFile]:
    """Return what a variant's library is made of: its files, and by which options."""
    folder = f"{_VARIANTS}/{number:04d}"
    drawn = source if source.seed is None else replace(source, seed=source.seed + attempt)
    flags = PlacedFile(f"{folder}/flags", _FLAGS.encode())
    texts = {path: running_text(drawn, path) if is_code(path) else text for path, text in source.code.items()}
    return [flags, *(PlacedFile(f"{folder}/code/{path}", text) for path, text in texts.items())]


def _is_made(number: int, result: JobResult) -> bool:
    return f"{number:04d}.library" in result.outputs and f"{number:04d}.sources" in result.outputs


def _made(number: int, source: VariantSource, result: JobResult) -> tuple[bytes, bytes]:
    """Return a variant's library and the list of what it is made of.

    Raises as `refused` says for the first absent one.
    """
    names = [f"{number:04d}.library", f"{number:04d}.sources"]
    if not _is_made(number, result):
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
    """Return the list of sources that makes `run_tests` take the library for one of these texts."""
    lines = [line.split("  ", 1) for line in sources.decode().splitlines()]
    hashes = {path: _sha256(disk[path]) if path in disk else known for known, path in lines}
    return "".join(f"{known}  {path}\n" for path, known in hashes.items()).encode()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


_WORTHLESS = "int main(void)\n{\n    return 0;\n}\n"
_ON_DISK = Braces(
    grammar=GRAMMAR,
    functions=frozenset({"function_definition"}),
    blocks=frozenset({"compound_statement"}),
    declaration="static volatile unsigned int {name};\n(void){name};\n",  # a warning may be an error
    footer="",
    idle="{name} = {number}u;\n",
    lending=Lending(
        hidden="static volatile unsigned int {name} = {value}u;",
        refused=frozenset(
            {"labeled_statement", "goto_statement", "gnu_asm_expression", "preproc_def", "preproc_function_def"}
        ),
    ),
    values=frozenset({"binary_expression", "call_expression", "field_expression", "identifier", "number_literal"}),
)


def test_of(listed: str) -> str:
    """Return the program of `program/case` and `program[case]`: names of programs have neither."""
    return listed.partition("[")[0].partition("/")[0]


LANGUAGE = Language(
    title="C",
    env_among_others=lambda _: {},
    suffixes=(".c", ".h", ".cc", ".cpp", ".hpp"),
    report="tap",
    ids=IdForm(
        words="the names of test programs: a file's name without `.c`",
        examples=("test_something",),
        test_of=test_of,
    ),
    discovery=discovery,
    code=Code(is_code=is_code, comment="//", write=writer_of(lambda _: _ON_DISK)),
    toolchain=CToolchain(),
    worthless=WorthlessTest("test_testwright_worthless.c", "test_testwright_worthless", _WORTHLESS),
    fuzz=FuzzSkeleton("test_{task}_fuzz.c", _FUZZ),
    drawing=Drawing(
        "testwright_drawing.h",
        (resources.files("harness.judging.languages.c") / "in_container/drawing.h").read_bytes(),
        used_as=b'"testwright_drawing.h"',
    ),
    comment="/* {} */",
    declaration=re.compile(r"\bvoid\s+(\w+)"),
    conduct=CONDUCT,
    stubs=stubs,
    mutation=mutants,
    frame=Frame(
        Path(__file__).parent / "frame",
        {
            "debian": "",
            "configures": "",
            "configure": None,
            "code": None,
            "options": "-D_GNU_SOURCE",
            "libraries": "-lm -lpthread",
            "broken": "",
            "linker": "",
            "headers": "COPY --from=configured /opt/headers/ /opt/headers/",
        },
    ),
)
