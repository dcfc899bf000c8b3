"""From the text of variants to what runs: compiled once per task image, in a container without agent code."""

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from harness.sandbox.protocol import Engine, Image, Job, Limits, PlacedFile
from harness.specs.errors import UserError
from harness.specs.variants import Variant
from harness.verify.variants import VariantSource, is_compiled

CODE_OBJECTS = (resources.files("harness.verify.in_container") / "code_objects.py").read_text()
_REQUEST = ".testwright-request.json"
_COMPILE = 'exec python -I -S -c "$1" compile "$2" "$TESTWRIGHT_REPORT_DIR"'


@dataclass(frozen=True)
class CompiledVariant:
    """A variant ready to be laid over the tree, and the lines that an arm must print to prove that it runs."""

    variant: Variant
    proof: tuple[str, ...]


async def compile_variants(
    engine: Engine, image: Image, sources: Sequence[VariantSource], labels: Mapping[str, str]
) -> list[CompiledVariant]:
    """Compile all variants in one container. Raises UserError, SandboxLost.

    The placebo's disguise is another one each time, so that nothing can know it beforehand.
    """
    request = json.dumps({"workdir": image.workdir, "units": _units(sources, secrets.randbits(64))})
    return _assemble(sources, json.loads(await _compile(engine, image, request, labels)))


def _units(sources: Sequence[VariantSource], seed: int) -> list[dict[str, object]]:
    return [
        {
            "variant": source.name,
            "path": path,
            "disk": base64.b64encode(source.disk[path]).decode(),
            "code": base64.b64encode(source.code[path]).decode(),
            "dead": base64.b64encode(source.dead.get(path, b"")).decode(),
            "disguised_lines": list(source.disguised_lines.get(path, ())),
            "seed": seed,
        }
        for source in sources
        for path in sorted(source.code)
        if is_compiled(path)
    ]


async def _compile(engine: Engine, image: Image, request: str, labels: Mapping[str, str]) -> bytes:
    job = Job(
        argv=("bash", "-c", _COMPILE, "compile", CODE_OBJECTS, _REQUEST),
        files=(PlacedFile(f"{image.workdir}/{_REQUEST}", request.encode()),),
        seconds=60,
    )
    result = await engine.run_job(image, job, Limits(), labels)
    if result.exit_status != 0 or "units.json" not in result.outputs:
        last = result.log.decode(errors="replace").strip().splitlines()[-1:]
        raise UserError(f"a variant of this task does not compile: {''.join(last)}")
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
        compiled.append(
            CompiledVariant(variant, tuple(_proof(source, path, fingerprints) for path in sorted(source.disk)))
        )
    return compiled


def _proof(source: VariantSource, path: str, fingerprints: Mapping[str, str]) -> str:
    """What `code_objects.py prove` prints for this file when the variant is what runs."""
    text = hashlib.sha256(source.disk[path]).hexdigest()
    return f"running {path} {text} {fingerprints.get(path, '-')}"
