"""The application's own tests: which files they are, and the stubs and mutants of its other files."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import NamedTuple

from harness.judging.languages.found import TooMuchToRead
from harness.judging.languages.protocol import IdForm, Language
from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.stubbing import CannotStub, StubKind
from harness.judging.submission.manifest import ManifestError, parse_manifest
from harness.plugins.build.steps import Files

IDS = IdForm(words="the names of the tests", examples=("test_one", "a test"), test_of=lambda name: name)
LANGUAGE_OF = {".py": "python", ".js": "typescript", ".mjs": "typescript", ".cjs": "typescript", ".ts": "typescript"}
"""JavaScript is read by the grammar of TypeScript."""
MOST_MODULES, MUTANTS = 10, 20


class Changed(NamedTuple):
    """An application with one file changed. `name` is its arm's."""

    name: str
    path: str
    files: Files
    words: str


def listed_files(manifest: bytes, files: Files) -> tuple[str, ...]:
    """Return the files of its own tests, as the manifest has them; none where it can't be read or names others."""
    try:
        found = parse_manifest(manifest, IDS).files
    except ManifestError:
        return ()
    return found if all(path in files.texts for path in found) else ()


def product(files: Files, tests: tuple[str, ...]) -> dict[str, bytes]:
    """Return the code of the application that isn't in a folder of its tests."""
    folders = {path.rpartition("/")[0] for path in tests}
    return {
        path: text
        for path, text in sorted(files.texts.items())
        if _language(path) and path not in tests and path.rpartition("/")[0] not in folders - {""}
    }


def _language(path: str) -> Language | None:
    name = next((name for ending, name in LANGUAGE_OF.items() if path.endswith(ending)), None)
    return LANGUAGES.get(name) if name else None


def stubbed_modules(files: Files, code: Mapping[str, bytes], chance: Random) -> list[Changed]:
    """Return the application with one module stubbed, for each module that has a function, or some of many."""
    found = [(path, text) for path, old in code.items() if (text := _stubbed(path, old)) is not None]
    chosen = sorted(chance.sample(found, min(len(found), MOST_MODULES)))
    return [
        Changed(f"own-stub-{number}", path, files.changed(path, text), f"{path} is stubbed")
        for number, (path, text) in enumerate(chosen, 1)
    ]


def _stubbed(path: str, text: bytes) -> bytes | None:
    language = _language(path)
    if language is None or language.stubs is None:
        return None
    try:
        names = [name for name, refusal in language.stubs.symbols(text, path).items() if not refusal]
        return language.stubs.stub(text, path, names, StubKind.REFUSES).text if names else None
    except (CannotStub, TooMuchToRead):
        return None


def drawn_mutants(files: Files, code: Mapping[str, bytes], chance: Random) -> list[Changed]:
    """Return drawn mutants of the application's code."""
    found = list(_mutants(code))
    chosen = [found[number] for number in sorted(chance.sample(range(len(found)), min(len(found), MUTANTS)))]
    return [
        Changed(f"own-mutant-{number}", path, files.changed(path, text), words)
        for number, (path, text, words) in enumerate(chosen, 1)
    ]


def _mutants(code: Mapping[str, bytes]) -> Iterator[tuple[str, bytes, str]]:
    for path, text in code.items():
        language = _language(path)
        if language is None or language.mutation is None:
            continue
        try:
            mutations = language.mutation.mutations(text, path)
        except TooMuchToRead:
            continue
        for mutation in mutations:
            line = text.count(b"\n", 0, mutation.start) + 1
            yield path, mutation.of(text), f"{path}:{line}: {mutation.description}"
