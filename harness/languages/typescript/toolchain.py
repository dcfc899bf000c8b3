"""TypeScript: JavaScript built beforehand from a variant's code, which the run script serves instead of the sources.

The contract with a repository's run script: what lies under $TESTWRIGHT_CODE_DIR at a source's path runs instead of
it, and `run_tests --running PATH...` prints the sha256 of each source's text and of what runs of it.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources

from harness.languages.building import last_line, refused, run_build
from harness.languages.toolchain import BuildContext, CompiledVariant
from harness.languages.typescript.rewriting.running_text import running_text
from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import Job, PlacedFile
from harness.specs.variants import Variant

COMPILED = "/opt/compiled"
TRANSPILE = (resources.files("harness.languages.typescript") / "in_container/transpile.cjs").read_text()
_REQUEST = "/tmp/request.json"
_COMPILE = 'exec node -e "$1" "$2" "$TESTWRIGHT_REPORT_DIR/compiled.json"'


def is_code(path: str) -> bool:
    return path.endswith(".ts") and not path.endswith(".d.ts")


class TypeScriptToolchain:
    """See `Toolchain`. Test files are transpiled in the arm, by the run script."""

    separates = True
    replaced = (COMPILED,)
    suites = None

    async def compile(self, context: BuildContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """All variants in one container, each rewritten as its seed says."""
        texts = await asyncio.to_thread(lambda: {source.name: _running(source) for source in sources})
        compiled = await _transpiled(context, texts)
        return [_laid_out(source, compiled[source.name]) for source in sources]


def _running(source: VariantSource) -> dict[str, str]:
    """Path -> the text that is transpiled."""
    texts = {path: running_text(source, path) for path in sorted(source.code) if is_code(path)}
    return {path: text.decode("utf-8", "replace") for path, text in texts.items()}


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
