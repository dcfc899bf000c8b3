"""Code of Python in what isn't a module: examples that doctest runs, and scripts under other names. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from harness.judging.languages.conduct import Inner
from harness.judging.languages.nfkc import normal
from harness.judging.languages.python.plain_names import with_plain_names

_DEFINES = re.compile(rb"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+\w+[ \t]*[(:\[]", re.MULTILINE)
"""A line that begins a function or a class, as hardly any other text has one."""
_EXAMPLE = re.compile(rb"[ \t]*(>>>|\.\.\.)(?: (.*)|$)")
_RUNS = re.compile(rb"\bexecutable\b|\brunpy\b|\bpython[\d.]*\b")
_MOST_SCRIPT = 500_000
"""Bytes of a file of data that is read as code where nothing is seen to run it."""


def inner(texts: Mapping[str, bytes]) -> Mapping[str, Sequence[Inner]]:
    """Return the code that files of a patch have beside that of modules, by their paths.

    Examples count where a module of the patch speaks of doctest. A file under another name counts as code for copies
    if it has functions or classes, and in any case if a module that runs Python names it.
    """
    modules = {path: text for path, text in texts.items() if path.endswith(".py")}
    runs_examples = any(map(_speaks_of_doctest, modules.values()))
    running = [text for text in map(with_plain_names, modules.values()) if _RUNS.search(text)]
    found: dict[str, Sequence[Inner]] = {}
    for path, text in texts.items():
        examples = _examples(text) if runs_examples else b""
        script = _script(path, text, running) if path not in modules else None
        found[path] = [*([Inner(examples, acts=True)] if examples.strip() else ()), *([script] if script else ())]
    return found


def _speaks_of_doctest(text: bytes) -> bool:
    return "doctest" in normal(text.decode("utf-8", "replace")).lower()


def _script(path: str, text: bytes, running: Sequence[bytes]) -> Inner | None:
    defines = _DEFINES.search(text) is not None
    is_run = any(PurePosixPath(path).name.encode() in module for module in running)
    return Inner(text, acts=is_run) if defines and (is_run or len(text) <= _MOST_SCRIPT) else None


def _examples(text: bytes) -> bytes:
    """Return a text of which only the code of examples is left, each line where it was."""
    return b"\n".join(_lines(text)) if b">>>" in text else b""


def _lines(text: bytes) -> Iterator[bytes]:
    is_open = False
    for line in text.split(b"\n"):
        found = _EXAMPLE.match(line)
        is_open = found is not None and (is_open or found[1] == b">>>")
        yield (found[2] or b"") if found and is_open else b""
