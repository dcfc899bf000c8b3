"""Takes tests out of a tree: `withheld.patch`."""

import re
from collections import defaultdict
from collections.abc import Sequence
from difflib import get_close_matches

from harness.judging.languages.registry import language_of
from harness.sandbox.git_tree import GitTree, NewFile
from harness.sandbox.host import scratch_directory
from harness.specs.errors import UserError
from harness.specs.repo import Repo
from harness.specs.test_results import TestId

_IMPORTS = re.compile(rb"^import \((.*?)^\)\n", re.MULTILINE | re.DOTALL)
_IMPORT = re.compile(rb'^\s*(?:([\w.]+)\s+)?"([^"]+)"')
_COMMENTS = {"python": b"#", "go": b"//", "typescript": b"//", "c": b"//"}


def chosen_tests(known: Sequence[TestId], wanted: Sequence[str]) -> tuple[TestId, ...]:
    """Return the tests that FILE::NAME stands for, or all of a FILE.

    Raises:
        UserError: There is none, with what is near.
    """
    found: dict[TestId, None] = {}
    names = {str(test): test for test in known}
    for text in wanted:
        matching = [names[text]] if text in names else [test for test in known if test.file == text]
        if not matching:
            near = get_close_matches(text, [*names, *{test.file for test in known}], n=2, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "testwright repo suite NAME runs those that are"
            raise UserError(f"no test {text!r} in the repository; {hint}")
        found.update(dict.fromkeys(matching))
    return tuple(found)


async def withheld(repo: Repo, tree: GitTree, tests: Sequence[TestId]) -> bytes:
    """Return the patch against upstream's tree. A file that is left without tests goes as a whole."""
    by_file: dict[str, set[str]] = defaultdict(set)
    for test in tests:
        by_file[test.file].add(test.name)
    entries, changed = await tree.entries(), {}
    for path, names in by_file.items():
        text = without(repo, path, await tree.read(path), names)
        changed[path] = None if text is None else text
    with scratch_directory() as scratch:
        new, removed = [], [path for path, text in changed.items() if text is None]
        for number, (path, text) in enumerate(changed.items()):
            if text is not None:
                (scratch / str(number)).write_bytes(text)
                new.append(NewFile(path, entries[path].mode, scratch / str(number)))
        return await tree.diff(await tree.import_changes(new, removed))


def without(repo: Repo, path: str, source: bytes, names: set[str]) -> bytes | None:
    """Return a test file without these tests; None where no other test is left in it."""
    tests = language_of(repo).discovery.discover(source, path).tests
    if {test.name for test in tests} <= names:
        return None
    lines = source.splitlines(keepends=True)
    gone: set[int] = set()
    for test in tests:
        if test.name in names:
            gone |= set(range(_first_comment(lines, test.first_line, _COMMENTS[repo.language]), test.last_line + 1))
    kept = _joined(lines, gone)
    return _without_unused_imports(kept) if repo.language == "go" else kept


def _first_comment(lines: list[bytes], first: int, mark: bytes) -> int:
    """Return the first of the lines of comment directly above a test."""
    while first > 1 and lines[first - 2].strip().startswith(mark):
        first -= 1
    return first


def _joined(lines: list[bytes], gone: set[int]) -> bytes:
    """Return the other lines, without the blank ones that stood behind what is gone."""
    kept: list[bytes] = []
    after = False
    for number, line in enumerate(lines, 1):
        if number in gone:
            after = True
        elif not (after and not line.strip()):
            kept.append(line)
            after = False
    while kept and not kept[-1].strip():
        kept.pop()
    return b"".join(kept)


def _without_unused_imports(text: bytes) -> bytes:
    """Go refuses a file that imports what it doesn't use."""
    block = _IMPORTS.search(text)
    if block is None:
        return text
    rest = text[: block.start()] + text[block.end() :]
    lines = [line for line in block[1].splitlines(keepends=True) if _is_used(line, rest)]
    return text[: block.start(1)] + b"".join(lines) + text[block.end(1) :]


def _is_used(line: bytes, rest: bytes) -> bool:
    found = _IMPORT.match(line)
    if found is None or found[1] in (b"_", b"."):
        return True
    last = [part for part in found[2].split(b"/") if not re.fullmatch(rb"v\d+", part)][-1]
    name = found[1] or last.rpartition(b"-")[2].removesuffix(b".go")
    return re.search(rb"\b" + re.escape(name) + rb"\.", rest) is not None
