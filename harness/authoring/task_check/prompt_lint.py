"""A check that the prompt doesn't give away what the agent must find out itself."""

import re
from collections.abc import Iterator

from unidiff.patch import PatchSet

from harness.authoring.task_check.subject import Subject
from harness.specs.problem import Problem

SHORTEST, LONGEST = 200, 4000
"""Characters: less is no request, more is a specification."""

# Python and Ruby say def, Go func, TypeScript function or const; a C function begins a line with its type.
_DEFINED = re.compile(
    r"^\s*(?:(?:async\s+)?def|func(?:\s*\([^)]*\))?|(?:export\s+)?(?:async\s+)?function\*?|(?:export\s+)?const)\s+(\w+)"
    r"|^[A-Za-z_][\w\s*]*?[\s*](\w+)\s*\([^;]*$"
)
_ORDINARY = re.compile(r"[a-z]+|[A-Z][a-z]*")


async def prompt_problems(subject: Subject) -> list[Problem]:
    """Return its length, and every function that the removal touches and the prompt names."""
    where, prompt = subject.at("prompt.md"), subject.task.prompt
    found = []
    if not SHORTEST <= len(prompt) <= LONGEST:
        words = f"{len(prompt)} characters; a request as a colleague makes it has {SHORTEST} to {LONGEST}"
        found.append(Problem(where=where, message=words))
    for name in sorted(await _removed_functions(subject)):
        if _names(prompt, name):
            words = f"names {name}, which the removal takes out; the agent is to find that itself"
            found.append(Problem(where=subject.at("prompt.md", name), message=words))
    return found


async def _removed_functions(subject: Subject) -> set[str]:
    """Functions that the removal changes."""
    texts: dict[str, list[str]] = {}
    if subject.tree:
        entries = await subject.tree.entries()
        contents = await subject.tree.read_all(entries)
        texts = {path: data.decode(errors="replace").splitlines() for path, data in contents.items()}
    names: set[str] = set()
    for file in PatchSet(subject.task.patch("removal.patch").decode(errors="replace")):
        for hunk in file:
            changed = [line.source_line_no or 0 for line in hunk if line.is_removed]
            names.update(_enclosing(texts.get(file.path, []), changed))
            names.update(name for line in hunk if not line.is_added for name in _defined(line.value))
    return names


def _names(prompt: str, name: str) -> bool:
    """Return whether a prompt names a function. An ordinary word does as code: `pop`, pop(), Cache.pop."""
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    if _ORDINARY.fullmatch(name):
        word = rf"{word}\(|\w\.{word}|`{word}`"
    return re.search(word, prompt) is not None


def _enclosing(text: list[str], lines: list[int]) -> Iterator[str]:
    """Yield the nearest definition above each of these lines."""
    for number in lines:
        above = (name for line in reversed(text[:number]) for name in _defined(line))
        if name := next(above, ""):
            yield name


def _defined(line: str) -> Iterator[str]:
    if found := _DEFINED.match(line):
        yield found[1] or found[2]
