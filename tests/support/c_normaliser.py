"""An attacker's view of C: how alike two builds of a function are once all that a rewriting adds is left out.

Written against our own catalogue. It reads disassembly, drops what touches the stack only (temporaries) and what a
hidden variable is compared with, forgets registers, addresses and the order of blocks, and compares what is left:
which functions are called how often, which fields of structures are read and written, which conditions there are.
"""

import re
import subprocess
from collections import Counter
from pathlib import Path

_FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)>:$")
_INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\t(\S+)\s*(.*?)(?:\s+#.*)?$")
_RELOCATION = re.compile(r"^\s+[0-9a-f]+: R_\S+\t(\S+?)(?:[-+]0x[0-9a-f]+)?$")
_REGISTER = re.compile(r"%[a-z0-9]+")
_JUMPS = {"jne": "je", "jns": "js", "jle": "jg", "jge": "jl", "jbe": "ja", "jae": "jb"}


def features(built: Path) -> dict[str, Counter[str]]:
    """What is left of each function of an object file, by the function's name."""
    listing = subprocess.run(
        ["objdump", "-dr", "--no-show-raw-insn", str(built)], check=True, capture_output=True, text=True
    ).stdout
    found: dict[str, Counter[str]] = {}
    current: Counter[str] = Counter()
    for line in listing.splitlines():
        if start := _FUNCTION.match(line):
            current = found.setdefault(start[1], Counter())
        elif target := _RELOCATION.match(line):
            if not target[1].startswith("."):
                current[f"to {target[1]}"] += 4
        elif (made := _INSTRUCTION.match(line)) and (left := _normalised(made[1], made[2])):
            current[left] += 1
    return found


def likeness(one: Counter[str], other: Counter[str]) -> float:
    """From 0 (nothing in common) to 1 (the same)."""
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def _normalised(name: str, operands: str) -> str:
    if (
        "(%rsp" in operands
        or "(%rbp" in operands
        or "(%rip" in operands
        or name in ("mov", "nop", "nopw", "jmp", "ret")
    ):
        return "" if "0x" not in operands or "%rsp" in operands or "(%rip" in operands else f"mov {_plain(operands)}"
    if name.startswith("j"):
        return _JUMPS.get(name, name)
    return f"{name} {_plain(operands)}"


def _plain(operands: str) -> str:
    return re.sub(r"\b[0-9a-f]+ <.*?>", "", _REGISTER.sub("r", operands))
