"""TypeScript, as it is registered. JavaScript is treated the same way.

TypeScript: JavaScript built beforehand from a variant's code, which the run script serves instead of the sources.

The contract with a repository's run script: what lies under $TESTWRIGHT_CODE_DIR at a source's path runs instead of
it, and `run_tests --running PATH...` prints the sha256 of each source's text and of what runs of it.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

import tree_sitter_typescript
from tree_sitter import Language as TreeSitter

from harness.judging.languages.on_disk import Braces, Lending, writer_of
from harness.judging.languages.protocol import Collecting, FuzzSkeleton, IdForm, Language, WholeRun, WorthlessTest
from harness.judging.languages.toolchain import CompiledVariant, JobContext, last_line, refused, run_build
from harness.judging.languages.typescript import discovery, mutants, stubs
from harness.judging.languages.typescript.conduct import CONDUCT
from harness.judging.languages.typescript.made import functions_at, owned
from harness.judging.languages.typescript.rewriting.catalogue import GRAMMAR, running_text
from harness.judging.languages.variant_source import Code, VariantSource
from harness.sandbox.protocol import Job, PlacedFile
from harness.specs.repo import Drawing, Frame
from harness.specs.variants import Variant

COMPILED = "/opt/compiled"
TRANSPILE = (resources.files("harness.judging.languages.typescript") / "in_container/transpile.cjs").read_text()
_REQUEST = "/tmp/request.json"
_COMPILE = 'exec node -e "$1" "$2" "$TESTWRIGHT_REPORT_DIR/compiled.json"'


def is_code(path: str) -> bool:
    """Return whether a path is that of TypeScript code, not of a test."""
    return path.endswith(".ts") and not path.endswith(".d.ts")


class TypeScriptToolchain:
    """See `Toolchain`. Test files are transpiled in the arm, by the run script."""

    separates = True
    replaced = (COMPILED,)
    suites = None

    async def compile(self, context: JobContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """Compile all variants in one container, each rewritten as its seed says."""
        texts = await asyncio.to_thread(lambda: {source.name: _running(source) for source in sources})
        compiled = await _transpiled(context, texts)
        return [_laid_out(source, compiled[source.name]) for source in sources]


def _running(source: VariantSource) -> dict[str, str]:
    """Return path -> the text that is transpiled."""
    texts = {path: running_text(source, path) for path in sorted(source.code) if is_code(path)}
    return {path: text.decode("utf-8", "replace") for path, text in texts.items()}


async def _transpiled(context: JobContext, texts: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    job = Job(
        argv=("bash", "-c", _COMPILE, "compile", TRANSPILE, _REQUEST),
        files=(PlacedFile(_REQUEST, json.dumps(texts).encode()),),
        seconds=60,
    )
    result = await run_build(context, job)
    if result.exit_status != 0 or "compiled.json" not in result.outputs:
        raise refused("a variant", last_line(result.log))
    made: dict[str, dict[str, str]] = json.loads(result.outputs["compiled.json"])
    return made


def _laid_out(source: VariantSource, compiled: Mapping[str, str]) -> CompiledVariant:
    running = {path: compiled[path].encode() if path in compiled else data for path, data in source.disk.items()}
    variant = Variant(
        name=source.name,
        kind=source.kind,
        source=source.disk,
        code={f"{COMPILED}/{path}": running[path] for path in compiled},
        criterion=source.criterion,
    )
    proved = sorted(source.disk)
    proof = tuple(f"running {path} {_sha256(source.disk[path])} {_sha256(running[path])}" for path in proved)
    return CompiledVariant(variant, ("run_tests", "--running", *proved), proof, {"TESTWRIGHT_CODE_DIR": COMPILED})


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


_WORTHLESS = 'import { expect, test } from "vitest";\n\ntest("nothing", () => {\n  expect(true).toBe(true);\n});\n'
_NO_TEST = "testwright asks for the names of all tests"
_ON_DISK = Braces(
    grammar=GRAMMAR,
    functions=frozenset(
        {
            "function_declaration", "function_expression", "generator_function", "generator_function_declaration",
            "arrow_function", "method_definition",
        }
    ),
    blocks=frozenset({"statement_block"}),
    declaration="",
    footer="var {name} = 0;\n",
    idle="{name} = {number};\n",
    lending=Lending(
        hidden="let {name} = {value};",
        refused=frozenset({"variable_declaration", "function_declaration", "generator_function_declaration",
                           "labeled_statement", "super"}),
    ),
    values=frozenset({"binary_expression", "call_expression", "identifier", "member_expression", "number"}),
)  # fmt: skip
_WITH_TAGS = replace(_ON_DISK, grammar=replace(GRAMMAR, language=TreeSitter(tree_sitter_typescript.language_tsx())))
"""For files that may have JSX in them."""


def _forms(path: str) -> Braces:
    return _ON_DISK if path.endswith((".ts", ".mts", ".cts")) else _WITH_TAGS


def test_of(listed: str) -> str:
    """Return the id as it is: a title may have any character, and its cases are listed by the title's own text."""
    return listed


LANGUAGE = Language(
    title="TypeScript",
    suffixes=(".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"),
    report="vitest",
    ids=IdForm(
        words=(
            "the titles of a test and of the blocks it stands in, outermost first: `describe > it`; a test with"
            " cases is named once, a computed name as the source has it: `adds %i`, `of ${kind}`"
        ),
        examples=("something", "something > does something else"),
        test_of=test_of,
    ),
    discovery=discovery,
    code=Code(is_code=is_code, comment="//", write=writer_of(_forms)),
    toolchain=TypeScriptToolchain(),
    worthless=WorthlessTest("testwright-worthless.test.ts", "nothing", _WORTHLESS),
    fuzz=FuzzSkeleton("{task}-drawn.test.ts", (Path(__file__).parent / "skeletons" / "fuzz.txt").read_text()),
    drawing=Drawing(
        "testwright-drawing.ts",
        (Path(__file__).parent / "in_container" / "drawing.ts").read_bytes(),
        used_as=b"/testwright-drawing.ts",
    ),
    declaration=re.compile(r"\b(?:class|function)\s+(\w+)"),
    collecting=Collecting(functions_at, asked=_NO_TEST, separator=discovery.SEPARATOR, owned=owned),
    tests_show=True,
    whole_run=WholeRun.TOUCHED,
    conduct=CONDUCT,
    stubs=stubs,
    mutation=mutants,
    frame=Frame(
        Path(__file__).parent / "frame",
        {"conditions": "", "debian": "", "kept": None, "broken": "", "settings": " settings.mjs"},
    ),
)
