"""A digest of testwright itself: what is remembered holds for the very code that found it out."""

import hashlib
from functools import cache
from pathlib import Path

import harness


@cache
def code_digest() -> str:
    """Return a digest of every file of the package: a part's work is in modules, scripts and templates."""
    package, whole = Path(harness.__file__).parent, hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            whole.update(f"{path.relative_to(package)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()
