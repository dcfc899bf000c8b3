"""TypeScript: JavaScript built beforehand from a variant's code, which the run script serves instead of the sources.

The contract with a repository's run script: what lies under $TESTWRIGHT_CODE_DIR at a source's path runs instead of
it, and `run_tests --running PATH...` prints the sha256 of each source's text and of what runs of it.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from random import Random

import tree_sitter_typescript
from tree_sitter import Language

from harness.languages.building import last_line, refused, run_build
from harness.languages.found import every_node
from harness.languages.rewriting import Braces, running_text
from harness.languages.toolchain import BuildContext, CompiledVariant
from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import Job, PlacedFile
from harness.specs.variants import Variant

COMPILED = "/opt/compiled"
TRANSPILE = (resources.files("harness.languages.typescript") / "in_container/transpile.cjs").read_text()
FORMS = Braces(
    grammar=Language(tree_sitter_typescript.language_typescript()),
    functions=frozenset(
        {
            "function_declaration", "function_expression", "generator_function", "generator_function_declaration",
            "arrow_function", "method_definition",
        }
    ),
    blocks=frozenset({"statement_block"}),
    labels=frozenset(),
    declaration="",
    footer="var {name} = 0;\n",
    idle="{name} = {number};\n",
)  # fmt: skip
_REQUEST = "/tmp/request.json"
_COMPILE = 'exec node -e "$1" "$2" "$TESTWRIGHT_REPORT_DIR/compiled.json"'


def is_code(path: str) -> bool:
    return path.endswith(".ts") and not path.endswith(".d.ts")


class TypeScriptToolchain:
    """See `Toolchain`. Test files are transpiled in the arm, by the run script."""

    separates = True
    suites = None

    async def compile(self, context: BuildContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """All variants in one container. The placebo is rewritten in another way each time: nothing can know how."""
        chance = Random(secrets.randbits(64))
        texts = {source.name: self._running(source, chance) for source in sources}
        compiled = await _transpiled(context, texts)
        return [_laid_out(source, compiled[source.name]) for source in sources]

    def _running(self, source: VariantSource, chance: Random) -> dict[str, str]:
        """Path -> the text that is transpiled."""
        plain = replace(
            source,
            code={path: with_blocks(text) if is_code(path) else text for path, text in source.code.items()},
            dead={path: with_blocks(text) for path, text in source.dead.items() if is_code(path)},
        )
        paths = [path for path in sorted(source.code) if is_code(path)]
        return {path: running_text(FORMS, plain, path, chance).decode("utf-8", "replace") for path in paths}


def with_blocks(text: bytes) -> bytes:
    """The same code, each arrow function's body a block on the same lines: there statements find a place."""
    edits: list[tuple[int, bytes]] = []
    for node in every_node(FORMS.grammar, text):
        body = node.child_by_field_name("body") if node.type == "arrow_function" else None
        if body is not None and body.type not in FORMS.blocks:
            edits += [(body.start_byte, b"{ return ("), (body.end_byte, b"); }")]
    for at, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        text = text[:at] + new + text[at:]
    return text


async def _transpiled(context: BuildContext, texts: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
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
