"""What runs in containers to compile variants, run here as text under this Python, as there."""

import base64
import importlib.util
import json
import marshal
import subprocess
import sys
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType

import pytest

from harness.judging.languages.python.language import PROOF, START, compile_request
from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.variant_source import VariantSource
from harness.specs.variants import VariantKind

PRISTINE = '''
LIMIT = 3


class Counter:
    """Counts."""

    def __init__(self, start=0):
        self.count = start

    def add(self, *items, twice=False):
        """Adds."""
        if not items:
            raise ValueError("nothing to add: %d" % 0)
        for item in items:
            self.count += len(item) * (2 if twice else 1)
        return f"{self.count}/{LIMIT}"

    def each(self):
        for number in range(self.count):
            yield number, {"key": b"ab"}


async def later(value):
    return await other(value) if value else None


async def other(value):
    return value.upper()
'''
REMOVED = PRISTINE.replace(
    "        for item in items:\n            self.count += len(item) * (2 if twice else 1)\n", ""
)
USE = """
import asyncio
counter = Counter(1)
seen = [counter.add("ab", "c"), counter.add("xyz", twice=True), list(counter.each()), asyncio.run(later("a"))]
try:
    counter.add()
except ValueError as error:
    seen.append(str(error))
"""


def compiled(
    tmp_path: Path,
    code: str,
    *,
    disk: str = PRISTINE,
    seed: int | None = None,
    family: tuple[str, ...] = (),
    inert: tuple[str, ...] = (),
) -> bytes:
    """The bytes of the .pyc that a variant comes to."""
    source = VariantSource(
        name="v",
        kind=VariantKind.REWRITTEN,
        disk={"module.py": disk.encode()},
        code={"module.py": code.encode()},
        family={"module.py": tuple(text.encode() for text in family)},
        inert={"module.py": tuple(text.encode() for text in inert)},
        seed=seed,
    )
    (tmp_path / "request.json").write_text(compile_request([source], str(tmp_path)))
    command = [sys.executable, "-I", "-S", "-c", START, tmp_path / "request.json", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    [made] = json.loads((tmp_path / "units.json").read_text())
    return base64.b64decode(made["pyc"])


def behaviour(pyc: bytes) -> list[object]:
    space: dict[str, object] = {}
    exec(marshal.loads(pyc[16:]), space)
    exec(USE, space)
    return space["seen"]  # type: ignore[return-value]


def functions_in(pyc: bytes) -> set[bytes]:
    """The instructions of each function, in classes too."""
    found, waiting = set(), [marshal.loads(pyc[16:])]
    while waiting:
        inner = [item for item in waiting.pop().co_consts if isinstance(item, CodeType)]
        waiting += inner
        found |= {code.co_code for code in inner if code.co_flags & CO_OPTIMIZED}
    return found


WHOLE = ("", PRISTINE, REMOVED)
"""A family in which no function is the same in all texts."""


@pytest.mark.parametrize("seed", range(8))
def test_a_rewriting_changes_the_code_of_every_function_and_nothing_that_it_does(tmp_path, seed):
    plain = compiled(tmp_path, PRISTINE)
    other = compiled(tmp_path, PRISTINE, family=WHOLE, inert=(PRISTINE, REMOVED), seed=seed)
    assert behaviour(other) == behaviour(plain)
    kept = functions_in(plain) & functions_in(other)
    assert not kept


def test_no_two_rewritings_are_alike(tmp_path):
    assert len({compiled(tmp_path, PRISTINE, family=WHOLE, seed=seed) for seed in range(6)}) == 6


def test_a_seed_gives_the_same_code_each_time_and_none_leaves_it_as_written(tmp_path):
    first, again = (compiled(tmp_path, PRISTINE, family=WHOLE, inert=WHOLE[1:], seed=5) for _ in range(2))
    assert first == again
    plain = compiled(tmp_path, PRISTINE, family=WHOLE, inert=WHOLE[1:])
    assert marshal.loads(plain[16:]) == compile(PRISTINE, "module.py", "exec", dont_inherit=True)


def test_inert_code_never_runs(tmp_path):
    padded = compiled(tmp_path, REMOVED, family=WHOLE, inert=(PRISTINE, PRISTINE), seed=1)
    assert behaviour(padded) == behaviour(compiled(tmp_path, REMOVED))
    assert behaviour(padded) != behaviour(compiled(tmp_path, PRISTINE))


def test_compiled_code_asks_neither_time_nor_source_and_records_the_hash_of_the_text_on_disk(tmp_path):
    pyc = compiled(tmp_path, REMOVED, disk=PRISTINE)
    assert int.from_bytes(pyc[4:8], "little") == 0b01  # hash-based, not checked (PEP 552)
    assert pyc[8:16] == importlib.util.source_hash(PRISTINE.encode())


def test_a_variant_of_the_same_size_and_time_never_runs_old_bytecode(tmp_path):
    """The trap: Python takes old bytecode for a source with the same size and time."""
    module = tmp_path / "module.py"
    cache = Path(importlib.util.cache_from_source(str(module)))
    cache.parent.mkdir()
    for text, told in (("VALUE = 1\n", "1"), ("VALUE = 2\n", "2")):
        module.write_text(text)
        cache.write_bytes(compiled(tmp_path, text, disk=text))
        import_it = [sys.executable, "-c", "import module; print(module.VALUE)"]
        assert (
            subprocess.run(import_it, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip() == told
        )


def test_the_proof_tells_the_text_and_the_code_that_an_import_would_run(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(PRISTINE)
    cache = Path(importlib.util.cache_from_source(str(module)))
    cache.parent.mkdir()
    told = set()
    for code in (PRISTINE, REMOVED):
        cache.write_bytes(compiled(tmp_path, code))
        prove = [sys.executable, "-I", "-S", "-c", PROOF, "module.py"]
        line = subprocess.run(prove, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        [units] = json.loads((tmp_path / "units.json").read_text())
        assert line.split()[:2] == ["running", "module.py"]
        assert line.split()[3] == units["fingerprint"]
        told.add(line)
    assert len(told) == 2


@pytest.mark.parametrize(
    ("path", "is_module"), [("a/py.py", True), ("a/.py", False), ("a/b.c.py", True), ("a.pyi", False)]
)
def test_only_what_can_be_imported_has_bytecode(path: str, is_module: bool) -> None:
    code = LANGUAGES.get("python").code
    assert code
    assert code.is_code(path) is is_module
