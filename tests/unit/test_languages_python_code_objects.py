"""What runs in containers to compile variants, run here as text under this Python, as there."""

import base64
import importlib.util
import json
import marshal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.languages.python.toolchain import CODE_OBJECTS

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


def compiled(tmp_path: Path, code: str, *, disk: str = PRISTINE, dead: str = "", lines=(), seed: int = 1) -> bytes:
    """The bytes of the .pyc that a unit comes to."""
    unit = {
        "variant": "v",
        "path": "module.py",
        "disk": base64.b64encode(disk.encode()).decode(),
        "code": base64.b64encode(code.encode()).decode(),
        "dead": base64.b64encode(dead.encode()).decode(),
        "rewritten_lines": list(lines),
        "seed": seed,
    }
    (tmp_path / "request.json").write_text(json.dumps({"workdir": str(tmp_path), "units": [unit]}))
    command = [sys.executable, "-I", "-S", "-c", CODE_OBJECTS, "compile", tmp_path / "request.json", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    [made] = json.loads((tmp_path / "units.json").read_text())
    return base64.b64decode(made["pyc"])


def behaviour(pyc: bytes) -> list[object]:
    space: dict[str, object] = {}
    exec(marshal.loads(pyc[16:]), space)
    exec(USE, space)
    return space["seen"]  # type: ignore[return-value]


EVERY_LINE = range(1, PRISTINE.count("\n") + 1)


@pytest.mark.parametrize("seed", range(8))
def test_a_rewriting_changes_the_code_of_every_function_and_nothing_that_it_does(tmp_path, seed):
    plain = compiled(tmp_path, PRISTINE)
    other = compiled(tmp_path, PRISTINE, dead=REMOVED, lines=EVERY_LINE, seed=seed)
    assert behaviour(other) == behaviour(plain)
    assert other[16:] != plain[16:]


def test_no_two_rewritings_are_alike(tmp_path):
    assert len({compiled(tmp_path, PRISTINE, lines=EVERY_LINE, seed=seed) for seed in range(6)}) == 6


def test_inert_code_is_found_in_the_code_and_never_runs(tmp_path):
    padded = compiled(tmp_path, REMOVED, dead=PRISTINE)
    assert behaviour(padded) == behaviour(compiled(tmp_path, REMOVED))
    assert behaviour(padded) != behaviour(compiled(tmp_path, PRISTINE))
    code = marshal.loads(padded[16:])
    [counter] = [item for item in code.co_consts if getattr(item, "co_name", "") == "Counter"]
    [add] = [item for item in counter.co_consts if getattr(item, "co_name", "") == "add"]
    assert {"len", "count"} <= set(add.co_names)


def test_inert_code_that_would_make_a_generator_or_hide_a_global_is_left_out(tmp_path):
    live = "def names():\n    return LIMIT\n\nLIMIT = 1\n"
    for dead in ("def names():\n    yield LIMIT\n", "def names():\n    LIMIT = 2\n    return LIMIT\n"):
        space: dict[str, object] = {}
        exec(marshal.loads(compiled(tmp_path, live, dead=dead)[16:]), space)
        assert space["names"]() == 1  # type: ignore[operator]


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
        prove = [sys.executable, "-I", "-S", "-c", CODE_OBJECTS, "prove", "module.py"]
        line = subprocess.run(prove, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        [units] = json.loads((tmp_path / "units.json").read_text())
        assert line.split()[:2] == ["running", "module.py"]
        assert line.split()[3] == units["fingerprint"]
        told.add(line)
    assert len(told) == 2
