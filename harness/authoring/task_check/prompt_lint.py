"""A check that the prompt doesn't give away what the agent must find out itself."""

import re
from collections.abc import Iterator

from unidiff.patch import PatchedFile, PatchSet

from harness.authoring.function_spans import spans_of, touched_functions, touched_places
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
    prompt, found = subject.task.prompt, await length_problems(subject)
    for name in sorted(await _removed_functions(subject)):
        if _names(prompt, name):
            words = f"names {name}, which the removal takes out; the agent is to find that itself"
            found.append(Problem(where=_line_of(subject, name), message=words))
    return found


async def length_problems(subject: Subject) -> list[Problem]:
    """Return a problem where a prompt is too short for a request, or too long."""
    length = len(subject.task.prompt)
    if SHORTEST <= length <= LONGEST:
        return []
    words = f"{length} characters; a request as a colleague makes it has {SHORTEST} to {LONGEST}"
    return [Problem(where=subject.at("prompt.md"), message=words)]


async def _removed_functions(subject: Subject) -> set[str]:
    """Return the functions that the removal changes, by grammar, and those that the patch's lines define."""
    patch = PatchSet(subject.task.patch("removal.patch").decode(errors="replace"))
    texts: dict[str, bytes] = {}
    if subject.tree:
        entries = await subject.tree.entries()
        texts = await subject.tree.read_all({file.path: entries[file.path] for file in patch if file.path in entries})
    touched = touched_functions(subject.task.repo.language, patch, texts)
    names = {re.split(r"\W+", name)[-1] for _, name in touched}
    for file in patch:
        if not spans_of(subject.task.repo.language, texts.get(file.path, b"")):
            names.update(_enclosing(texts.get(file.path, b"").decode(errors="replace").splitlines(), file))
        names.update(name for hunk in file for line in hunk if not line.is_added for name in _defined(line.value))
    return names


def _line_of(subject: Subject, name: str) -> str:
    """Return the first line of the prompt that names a function."""
    path = subject.task.directory / "prompt.md"
    lines = path.read_text(errors="replace").splitlines()
    number = next((number for number, line in enumerate(lines, 1) if _names(line, name)), 0)
    return f"{subject.at('prompt.md')}:{number}" if number else subject.at("prompt.md")


def _names(prompt: str, name: str) -> bool:
    """Return whether a prompt names a function. An ordinary word does as code: `pop`, pop(), Cache.pop."""
    word = rf"(?<!\w){re.escape(name)}(?!\w)"
    if _ORDINARY.fullmatch(name):
        word = rf"{word}\(|\w\.{word}|`{word}`"
    return re.search(word, prompt) is not None


def _enclosing(text: list[str], file: PatchedFile) -> Iterator[str]:
    """Yield the nearest definition above each changed line, in a language without a grammar here."""
    for place in touched_places(file):
        above = (name for line in reversed(text[: int(place)]) for name in _defined(line))
        if name := next(above, ""):
            yield name


def _defined(line: str) -> Iterator[str]:
    if found := _DEFINED.match(line):
        yield found[1] or found[2]
