"""Python, as it is registered.

Python: a module's code is an unchecked-hash .pyc, which Python loads without looking at times or sources.
"""

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path, PurePosixPath

from harness.judging.languages.nfkc import normal
from harness.judging.languages.protocol import (
    Collecting,
    FuzzSkeleton,
    IdForm,
    Language,
    Replacing,
    Unloadable,
    WorthlessTest,
)
from harness.judging.languages.python import discovery, mutants, stubs
from harness.judging.languages.python.conduct import CONDUCT
from harness.judging.languages.python.hidden import hides_tests
from harness.judging.languages.python.hooks import hooks_in_place
from harness.judging.languages.python.made import functions_at
from harness.judging.languages.python.module_names import clash
from harness.judging.languages.python.on_disk import write
from harness.judging.languages.python.subjects import says_nothing
from harness.judging.languages.toolchain import CompiledVariant, JobContext, last_line, refused, run_build
from harness.judging.languages.variant_source import Code, VariantSource
from harness.sandbox.protocol import Job, PlacedFile
from harness.specs.repo import Drawing, Frame
from harness.specs.variants import Variant

_IN_CONTAINER = resources.files("harness.judging.languages.python") / "in_container"
START = (_IN_CONTAINER / "start.py").read_text()
PROOF = (_IN_CONTAINER / "proof.py").read_text()
_MODULES = (
    "proof", "functions", "places", "scopes", "forms", "comparisons", "expressions", "blocks", "assignments",
    "composer", "inert", "compiling",
)  # fmt: skip
"""Each after those that it imports."""
_REQUEST = ".testwright-request.json"
_COMPILE = 'exec python -I -S -c "$1" "$2" "$TESTWRIGHT_REPORT_DIR"'
_PROVE = ("python", "-I", "-S", "-c", PROOF)


def is_code(path: str) -> bool:
    """Return whether a path is that of Python code, not of a test; `.py` has no name that could be imported."""
    return PurePosixPath(path).suffix == ".py"


class PythonToolchain:
    """See `Toolchain`. A suite needs no building: modules are compiled one by one."""

    separates = True
    replaced = ()
    suites = None

    async def compile(self, context: JobContext, sources: Sequence[VariantSource]) -> list[CompiledVariant]:
        """Compile all variants in one container."""
        result = await _compile(context, compile_request(sources, context.image.workdir))
        return _assemble(sources, json.loads(result))


def compile_request(sources: Sequence[VariantSource], workdir: str) -> str:
    """Return what `in_container/start.py` reads."""
    texts: dict[str, str] = {}

    def known(text: bytes) -> str:
        digest = hashlib.sha256(text).hexdigest()
        texts[digest] = base64.b64encode(text).decode()
        return digest

    units = [
        {
            "variant": source.name,
            "path": path,
            "disk": known(source.disk[path]),
            "code": known(source.code[path]),
            "family": [known(text) for text in source.family.get(path, ())],
            "inert": [known(text) for text in source.inert.get(path, ())],
            "seed": source.seed,
        }
        for source in sources
        for path in sorted(source.code)
        if is_code(path)
    ]
    modules = [(name, (_IN_CONTAINER / f"{name}.py").read_text()) for name in _MODULES]
    return json.dumps({"workdir": workdir, "modules": modules, "texts": texts, "units": units})


async def _compile(context: JobContext, request: str) -> bytes:
    job = Job(
        argv=("bash", "-c", _COMPILE, "compile", START, _REQUEST),
        files=(PlacedFile(f"{context.image.workdir}/{_REQUEST}", request.encode()),),
        seconds=300,
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
    """Return what `proof.py` prints for this file when the variant is what runs."""
    text = hashlib.sha256(source.disk[path]).hexdigest()
    return f"running {path} {text} {fingerprints.get(path, '-')}"


def test_of(listed: str) -> str:
    """Return `Class.test_method` of `Class::test_method[case]`."""
    return normal(listed.partition("[")[0].replace("::", "."))


_MOST_DESELECTED = 100_000
"""Bytes of what deselects files: an environment variable has at most 131,072 bytes."""


def _deselected(files: Sequence[str]) -> dict[str, str]:
    """Return the options of pytest by which it loads these files and runs none of their tests; none for too many."""
    options = " ".join(shlex.quote(f"--deselect={file}") for file in files)
    return {"PYTEST_ADDOPTS": options} if len(options.encode()) <= _MOST_DESELECTED else {}


LANGUAGE = Language(
    title="Python",
    suffixes=(".py",),
    report="junit",
    ids=IdForm(
        words="`test_function` or `Class.test_method`; a parametrised test is named once, without its cases",
        examples=("test_something", "TestSomething.test_something_else"),
        test_of=test_of,
    ),
    discovery=discovery,
    code=Code(is_code=is_code, comment="#", write=write),
    toolchain=PythonToolchain(),
    worthless=WorthlessTest("test_testwright_worthless.py", "test_nothing", "def test_nothing():\n    assert True\n"),
    fuzz=FuzzSkeleton("test_{task}_fuzz.py", (Path(__file__).parent / "skeletons" / "fuzz.txt").read_text()),
    drawing=Drawing(
        "testwright_drawing.py",
        (_IN_CONTAINER / "drawing.py").read_bytes(),
        used_as=b"from testwright_drawing import",
        at_root=True,
    ),
    replacing=Replacing(hooks_in_place, says_nothing),
    collecting=Collecting(functions_at, {"PYTEST_ADDOPTS": "--setup-plan"}),
    env_among_others=_deselected,
    comment="# {}",
    declaration=re.compile(r"\b(?:def|class)\s+(\w+)"),
    tests_show=True,
    hides_tests=hides_tests,
    clash=clash,
    unloadable=Unloadable(b'raise RuntimeError("this file is not to be loaded")\n', exit_status=2),
    relatives=discovery.PythonRelatives,
    conduct=CONDUCT,
    stubs=stubs,
    mutation=mutants,
    frame=Frame(
        Path(__file__).parent / "frame",
        {
            "config": None,
            "all": "all tests",
            "options": " ",
            "left_out": "",
            "why_left_out": "",
            "debian": "",
            "before_install": "",
            "broken": "",
            "service": "",
            "path": "",
            "prepared": "",
        },
    ),
)
