"""Rewrites Go variants in a container: a small program of ours, on go/ast and go/types, does it there.

The program is text here (in_container/rewriter), and is built in the container, in half a second.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

from harness.languages.building import last_line, refused, run_build
from harness.languages.toolchain import BuildContext
from harness.languages.variant_source import VariantSource
from harness.sandbox.protocol import Job, Limits, PlacedFile, SandboxOptions

OPTIONS = SandboxOptions(Limits(memory_mb=3072, disk_mb=4096))
SECONDS = 300
_FOLDER = resources.files("harness.languages.go") / "in_container" / "rewriter"
_PLACE = "/tmp/rewriter"
_TEXTS = "/tmp/texts"
_PLAN = "/tmp/plan.json"
_RESULT = "rewritten.json"
_MAIN = """\
export GOGC=400 GOMEMLIMIT=1GiB  # half of the time would be spent on finding garbage
go build -o /tmp/rewrite "$1"/*.go && exec /tmp/rewrite "$2" "$3" "$TESTWRIGHT_REPORT_DIR/$4"
"""


class Rewritten(NamedTuple):
    """The texts that a variant's code is compiled from.

    `rules` says how often each rule was applied. `dropped` counts changes that were left out since the file would
    not have compiled with them, `lost_bodies` inert bodies.
    """

    texts: Mapping[str, bytes]
    rules: Mapping[str, int]
    dropped: int = 0
    lost_bodies: int = 0


@dataclass(frozen=True)
class Request:
    """One variant: its source, and the texts of its Go files before any seed changes them.

    `rules` are those of the catalogue that may be used, all if none is named.
    """

    source: VariantSource
    texts: Mapping[str, bytes]
    rules: tuple[str, ...] = ()

    @property
    def seed(self) -> int | None:
        """A number of 63 bits, of whatever size the source's is."""
        if self.source.seed is None:
            return None
        return int.from_bytes(hashlib.sha256(str(self.source.seed).encode()).digest()[:8]) >> 1


async def rewrite_variants(context: BuildContext, requests: Sequence[Request]) -> list[Rewritten]:
    """Every variant's texts, checked as the compiler would, in one container.

    Raises SandboxLost, and UserError for a variant that does not compile as it is written.
    """
    texts: dict[str, bytes] = {}

    def kept(text: bytes) -> str:
        name = hashlib.sha256(text).hexdigest()
        texts[name] = text
        return name

    variants = [_wanted(number, request, kept) for number, request in enumerate(requests)]
    program = [entry for entry in _FOLDER.iterdir() if entry.name.endswith(".go")]
    files = [PlacedFile(f"{_PLACE}/{entry.name}", entry.read_bytes()) for entry in program]
    files += [PlacedFile(f"{_TEXTS}/{name}", text) for name, text in sorted(texts.items())]
    files.append(PlacedFile(_PLAN, json.dumps({"variants": variants}).encode()))
    job = Job(("bash", "-c", _MAIN, "rewrite", _PLACE, _PLAN, _TEXTS, _RESULT), tuple(files), seconds=SECONDS)
    result = await run_build(context, job, OPTIONS)
    if _RESULT not in result.outputs:
        raise refused("every variant", last_line(result.log))
    answers = json.loads(result.outputs[_RESULT])
    return [_read(request.source, answers[f"{number:04d}"]) for number, request in enumerate(requests)]


def _wanted(number: int, request: Request, kept: Any) -> dict[str, Any]:
    source = request.source
    files = {
        path: {
            "code": kept(text),
            "family": [kept(other) for other in source.family.get(path, ())],
            "inert": [kept(other) for other in source.inert.get(path, ())],
        }
        for path, text in request.texts.items()
    }
    return {"name": f"{number:04d}", "seed": request.seed, "files": files, "rules": request.rules}


def _read(source: VariantSource, answer: Mapping[str, Any]) -> Rewritten:
    if answer["error"]:
        raise refused(f"variant {source.name}", answer["error"].splitlines()[0])
    texts = {path: text.encode() for path, text in answer["files"].items()}
    return Rewritten(texts, answer["rules"], answer["dropped"], answer["lost_bodies"])
