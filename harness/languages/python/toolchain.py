"""Python: a module's code is an unchecked-hash .pyc, which Python loads without looking at times or sources."""

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from importlib import resources

from harness.languages.building import last_line, refused, run_build
from harness.languages.toolchain import BuildContext, CompiledVariant
from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import Job, PlacedFile
from harness.specs.variants import Variant

CODE_OBJECTS = (resources.files("harness.languages.python") / "in_container/code_objects.py").read_text()
_REQUEST = ".testwright-request.json"
_COMPILE = 'exec python -I -S -c "$1" compile "$2" "$TESTWRIGHT_REPORT_DIR"'
_PROVE = ("python", "-I", "-S", "-c", CODE_OBJECTS, "prove")


def is_code(path: str) -> bool:
    return path.endswith(".py")


class PythonToolchain:
    """See `Toolchain`. A suite needs no building: modules are compiled one by one."""

    separates = True
    suites = None

    async def compile(self, context: BuildContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """All variants in one container. The placebo is rewritten in another way each time: nothing can know how."""
        units = _units(sources, secrets.randbits(64))
        request = json.dumps({"workdir": context.image.workdir, "units": units})
        return _assemble(sources, json.loads(await _compile(context, request)))


def _units(sources: Sequence[VariantSource], seed: int) -> list[dict[str, object]]:
    return [
        {
            "variant": source.name,
            "path": path,
            "disk": base64.b64encode(source.disk[path]).decode(),
            "code": base64.b64encode(source.code[path]).decode(),
            "dead": base64.b64encode(source.dead.get(path, b"")).decode(),
            "rewritten_lines": list(source.rewritten_lines.get(path, ())),
            "seed": seed,
        }
        for source in sources
        for path in sorted(source.code)
        if is_code(path)
    ]


async def _compile(context: BuildContext, request: str) -> bytes:
    job = Job(
        argv=("bash", "-c", _COMPILE, "compile", CODE_OBJECTS, _REQUEST),
        files=(PlacedFile(f"{context.image.workdir}/{_REQUEST}", request.encode()),),
        seconds=60,
    )
    result = await run_build(context, job)
    if result.exit_status != 0 or "units.json" not in result.outputs:
        raise refused("a variant", last_line(result.log))
    return result.outputs["units.json"]


def _assemble(sources: Sequence[VariantSource], units: list[dict[str, str]]) -> list[CompiledVariant]:
    compiled = []
    for source in sources:
        mine = [unit for unit in units if unit["variant"] == source.name]
        variant = Variant(
            name=source.name,
            kind=source.kind,
            source=source.disk,
            code={unit["pyc_path"]: base64.b64decode(unit["pyc"]) for unit in mine},
            criterion=source.criterion,
        )
        fingerprints = {unit["path"]: unit["fingerprint"] for unit in mine}
        proved = sorted(source.disk)
        proof = tuple(_proof(source, path, fingerprints) for path in proved)
        compiled.append(CompiledVariant(variant, (*_PROVE, *proved), proof))
    return compiled


def _proof(source: VariantSource, path: str, fingerprints: Mapping[str, str]) -> str:
    """What `code_objects.py prove` prints for this file when the variant is what runs."""
    text = hashlib.sha256(source.disk[path]).hexdigest()
    return f"running {path} {text} {fingerprints.get(path, '-')}"
